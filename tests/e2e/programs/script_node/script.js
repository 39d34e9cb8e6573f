Error.stackTraceLimit = Infinity;
const own = {}, stacks = {};

function now() {
	const used = process.cpuUsage();
	return (used.user + used.system) / 1000;
}

function note() {
	const frames = new Error().stack.split('\n').slice(2);
	const names = [];
	for (const frame of frames) {
		const at = /^ *at (?:async )?(?:new )?(.*?) ?\(?([^ ()]*):(\d+):\d+\)?$/.exec(frame);
		if (!at || !at[2].endsWith('script.js'))
			continue;
		const name = at[1].split('.').pop().replace(/ \[as .*/, '');
		names.unshift(name && name != '<anonymous>' ? name : '(anonymous)');
	}
	stacks[names.join(';')] = true;
}

function spin(first) {
	if (first)
		note();
	let s = 0;
	for (let i = 0; i < 30000; i++)
		s += i & 3;
	return s;
}

function busy(ms) {
	const end = now() + ms;
	spin(true);
	while (now() < end)
		for (let i = 0; i < 100; i++)
			spin(false);
}

function sixty(n, ms) {
	if (n)
		sixty(n - 1, ms);
	else
		busy(ms);
}

class Thing {
	thirty(ms) {
		[1].forEach(() => busy(ms));
	}
	static made(ms) {
		busy(ms);
	}
	*generated(ms) {
		for (let i = 0; i < 3; i++) {
			busy(ms / 3);
			yield i;
		}
	}
}

function ten(ms) {
	try {
		throw new Error('x');
	} catch (e) {
		busy(ms);
	}
}

async function awaited(ms) {
	await null;
	busy(ms);
}

function timed(name, call) {
	const start = now();
	call();
	own[name] = now() - start;
}

timed('sixty', () => sixty(5, 600));
timed('thirty', () => new Thing().thirty(300));
timed('ten', () => ten(100));
timed('made', () => Thing.made(50));
timed('generated', () => { for (const x of new Thing().generated(60)); });
const start = now();
awaited(80).then(() => {
	own.awaited = now() - start;
	for (const name in own)
		console.log(name, own[name]);
	for (const stack in stacks)
		console.log('stack', stack);
	console.log('process', now());
});
