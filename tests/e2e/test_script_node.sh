# shellcheck shell=bash
# -m sample: the functions of a JavaScript program in node without any option,
# interpreted and compiled: their shares, the stacks that the program itself sees,
# the lines that they begin on; generators, closures, callbacks of built-in functions,
# methods, exceptions, coroutines.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need node
unset SWIZZLE_MODE
case $(node --version) in
v18.* | v20.* | v22.*) ;;
*) skip 'needs node 18, 20 or 22' ;;
esac
"$RUN" -q -m sample -o try true 2>err || skip "cannot sample here: $(cat err)"

SCRIPT=script.js
# (a function that is inlined is not seen)
OPTIONS=--no-turbo-inlining
cat >script.js <<'END'
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
END

it 'shares of functions'
"$RUN" -q -m sample -o profile node $OPTIONS script.js >printed 2>err || fail "exit status $?"
assert_shares sixty thirty ten made generated awaited

it 'the stacks that the program sees, below those of node itself'
assert_stacks spin "s/^.*;Module[^;]*;\(anonymous\):1( \(script.js\))?;/(anonymous);/; s/(\(anonymous\)):[0-9]+/\1/g"

it 'file and line'
assert_eq "$PWD/script.js" "$(row spin 9)" 'file'
assert_eq "$(grep -n '^function spin' script.js | cut -d : -f 1)" "$(row spin 10)" 'line'
assert_eq "$(grep -n 'generated(ms) {' script.js | cut -d : -f 1)" "$(row generated 10)" 'line of a method'

it 'nearly nothing is without a name'
"$DUMP" -q -f csv -o - profile >rows
awk -F , 'NR > 1 { all += $2 } $7 ~ /made at run time/ { ns += $2 } END { exit !(all && ns < all / 20) }' rows ||
	fail "$(grep 'made at run time' rows)"
