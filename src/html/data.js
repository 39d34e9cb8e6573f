// Reads the blocks of the page of -f html (src/profile/formats/page/html.c).

function readStrings(bytes) {
	const all = text(bytes).split('\0');

	all.unshift(''); // number 0: none
	return all;
}

function readCatalog(bytes, strings) {
	const reader = new Reader(bytes);
	const [paths, modules] = reader.table(reader.number(), Uint32Array,
		Uint32Array);
	const functions = reader.number();
	const [module, name, file, line] = reader.table(functions, Int32Array,
		Uint32Array, Uint32Array, Uint32Array);
	const [placeFile, placeLine, inlined, outerLine] = reader.table(
		reader.number(), Uint32Array, Uint32Array, Uint32Array,
		Uint32Array);

	return {
		strings,
		modules: Array.from(paths, (path, index) => ({
			path: strings[path],
			name: strings[modules[index]],
		})),
		count: functions,
		module: module.map(index => index - 1),
		name: Array.from(name, index => strings[index]),
		file: Array.from(file, index => strings[index]),
		line,
		place: {file: placeFile, line: placeLine, inlined, outerLine},
	};
}

// {path: {state, changed, lines, parts: [{first, lines}]}}
function readSources(bytes) {
	const decoder = new TextDecoder();
	const reader = new Reader(bytes);
	const line = () => {
		const end = bytes.indexOf(0, reader.at);
		const text = decoder.decode(bytes.subarray(reader.at, end));

		reader.at = end + 1;
		return text;
	};
	const sources = new Map();

	for (let count = reader.number(); count; count--) {
		const path = line();
		const file = {state: reader.number(), changed: reader.number(),
			lines: reader.number(), parts: []};

		for (let parts = reader.number(); parts; parts--)
			file.parts.push({first: reader.number(), lines:
				Array.from({length: reader.number()}, line)});
		sources.set(path, file);
	}
	return sources;
}

// {function: {prefix, colour}}, as the configuration has it.
function readSettings(bytes) {
	const reader = new Reader(bytes);
	const settings = new Map();

	for (let fn = 0; reader.at < bytes.length;) {
		fn += reader.number();
		settings.set(fn, {prefix: reader.string(),
			colour: reader.string()});
	}
	return settings;
}

function readThread(bytes) {
	const reader = new Reader(bytes);
	const rowCount = reader.number();
	const [fn, calls, self, incl, min, max, unwound, variance] =
		reader.table(rowCount, Uint32Array, Float64Array, Float64Array,
			Float64Array, Float64Array, Float64Array, Float64Array,
			Float64Array);

	for (let i = 1; i < rowCount; i++)
		fn[i] += fn[i - 1];
	const rows = {count: rowCount, fn, calls, self, incl, min, max, unwound,
		variance};
	const edgeCount = reader.number();
	const [caller, callee, place, edgeCalls, edgeIncl] = reader.table(
		edgeCount, Uint32Array, Uint32Array, Uint32Array, Float64Array,
		Float64Array);

	for (let i = 1; i < edgeCount; i++)
		caller[i] += caller[i - 1];
	const edges = {count: edgeCount, caller, callee, place,
		calls: edgeCalls, incl: edgeIncl};

	return {rows, edges, nodes: readNodes(reader)};
}

// Each node is the calls of a function from one place in one context. A
// folded call is one without a self time: what happens in it is in the
// function's context further up.
function readNodes(reader) {
	const count = reader.number();
	const nodes = {
		count,
		parent: new Uint32Array(count),
		fn: new Uint32Array(count),
		place: new Uint32Array(count),
		calls: new Float64Array(count),
		self: new Float64Array(count),
		folded: new Uint8Array(count),
		context: new Uint32Array(count), // where a call's calls hang
	};

	for (let i = 0; i < count; i++) {
		nodes.parent[i] = i - reader.number();
		nodes.fn[i] = reader.number();
		nodes.place[i] = reader.number();
		nodes.calls[i] = reader.number();
		const self = reader.number();

		nodes.self[i] = self ? self - 1 : 0;
		nodes.folded[i] = self || !i ? 0 : 1;
		let context = i;

		while (nodes.folded[context]) {
			do
				context = nodes.parent[context];
			while (context && nodes.fn[context] !== nodes.fn[i]);
		}
		nodes.context[i] = context;
	}
	return nodes;
}

// The waiting of functions, calls and contexts, beside their running.
function readWaiting(bytes, thread) {
	const {rows, edges, nodes} = thread;
	const reader = new Reader(bytes);
	const [self, incl] = reader.table(rows.count, Float64Array,
		Float64Array);

	thread.waitingNs = self.reduce((sum, ns) => sum + ns, 0);
	rows.waitingSelf = self;
	rows.waiting = incl;
	rows.ran = [rows.self, rows.incl];
	[edges.waiting] = reader.table(edges.count, Float64Array);
	edges.ran = edges.incl;
	[nodes.waiting] = reader.table(nodes.count, Float64Array);
	nodes.ran = nodes.self;
}

// {function: [[ns, calls]...]}, the shortest time first.
function readTimes(bytes) {
	const reader = new Reader(bytes);
	const times = new Map();

	for (let fn = 0; reader.at < bytes.length;) {
		let ns = 0;

		fn += reader.number();
		times.set(fn, Array.from({length: reader.number()},
			() => [ns += reader.number(), reader.number()]));
	}
	return times;
}

// How many calls of each node were ended by an exception or returned an error.
function readFailed(bytes, {nodes}) {
	const reader = new Reader(bytes);

	nodes.failed = new Float64Array(nodes.count);
	for (let i = 0; reader.at < bytes.length;) {
		i += reader.number();
		nodes.failed[i] = reader.number() + reader.number();
	}
}

// A thread's time: what it RAN, WAITED, or both.
function useTime({rows, edges, nodes}, kind) {
	const use = (ran, waiting) => kind === 'running' ? ran :
		kind === 'waiting' ? waiting :
			ran.map((ns, i) => ns + waiting[i]);

	if (!rows.waiting)
		return;
	rows.self = use(rows.ran[0], rows.waitingSelf);
	rows.incl = use(rows.ran[1], rows.waiting);
	edges.incl = use(edges.ran, edges.waiting);
	nodes.self = use(nodes.ran, nodes.waiting);
}

// The times of the ranks of a sum of profiles in a thread: of each function
// those of COUNT ranks.
function readRanks(bytes, count) {
	const reader = new Reader(bytes);
	const fn = Uint32Array.from({length: reader.number()},
		() => reader.number());
	const times = new Map();
	let last = 0;

	for (const step of fn)
		times.set(last += step, Float64Array.from({length: count},
			() => reader.number()));
	return times;
}

// The times in which a thread did not run: they do not overlap.
function readOff(bytes, {offset, nsPerTick}) {
	const reader = new Reader(bytes);
	const count = reader.number();
	const off = {
		count,
		start: new Float64Array(count),
		end: new Float64Array(count),
		preempted: new Uint8Array(count),
		before: new Float64Array(count + 1), // ns, of those before it
	};
	let ticks = 0;

	for (let i = 0; i < count; i++) {
		const gap = reader.number();

		off.preempted[i] = gap % 2;
		ticks += Math.floor(gap / 2);
		off.start[i] = offset + ticks * nsPerTick;
		ticks += reader.number();
		off.end[i] = offset + ticks * nsPerTick;
		off.before[i + 1] = off.before[i] + off.end[i] - off.start[i];
	}
	return off;
}

// The times of swizzle's own work, which is nobody's, and the contexts in which it
// was done: they do not overlap. BYTES are null where there was none.
function readOwnWork(bytes, {offset, nsPerTick}) {
	const reader = bytes && new Reader(bytes);
	const count = bytes ? reader.number() : 0;
	const own = {
		count,
		start: new Float64Array(count),
		end: new Float64Array(count),
		node: new Uint32Array(count),
		before: new Float64Array(count + 1), // ns, of those before it
	};
	let ticks = 0;

	for (let i = 0; i < count; i++) {
		own.start[i] = offset + (ticks += reader.number()) * nsPerTick;
		own.end[i] = offset + (ticks += reader.number()) * nsPerTick;
		own.node[i] = reader.number();
		own.before[i + 1] = own.before[i] + own.end[i] - own.start[i];
	}
	return own;
}

// How much of the times of readOff or readOwnWork lies from FROM to TO.
function timeWithin(times, from, to) {
	const until = time => {
		const at = firstWhere(0, times.count, i => times.end[i] > time);

		return times.before[at] + (at < times.count ?
			Math.max(0, time - times.start[at]) : 0);
	};

	return Math.max(0, until(to) - until(from));
}

// As in src/base/printable.c; bytes that are not UTF-8 are U+FFFD in JSON.
const NOT_SHOWN = new RegExp('[\\0-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f' +
	'\\u2028-\\u202e\\u2066-\\u2069\\ufffd-\\uffff]', 'g');

// Everything the page holds. PROGRESS is called with what was done, 0 to 1.
async function readData(progress) {
	const blocks = new Blocks();
	const description = JSON.parse(text(await blocks.take('description')),
		(key, value) => typeof value === 'string' ?
			value.replace(NOT_SHOWN, '?') : value);
	const strings = readStrings(await blocks.take('strings'));
	const catalog = readCatalog(await blocks.take('catalog'), strings);
	const sources = readSources(await blocks.take('sources'));
	const settings = blocks.has('settings') ?
		readSettings(await blocks.take('settings')) : new Map();
	const threads = [];
	const all = description.threads.reduce((sum, {activations}) =>
		sum + activations, 0);
	// (a test reads less at once)
	const eager = all <= (window.swizzleEager ?? EAGER);

	for (const [index, about] of description.threads.entries()) {
		const thread = readThread(await blocks.take(`thread ${index}`));

		if (blocks.has(`old ${index}`))
			readOld(await blocks.take(`old ${index}`), thread);
		if (blocks.has(`times ${index}`))
			thread.times = readTimes(await blocks.take(`times ${index}`));
		if (blocks.has(`ranks ${index}`))
			thread.ranks = readRanks(await blocks.take(`ranks ${index}`),
				description.profiles[about.profile].ranks.length);
		if (blocks.has(`waiting ${index}`))
			readWaiting(await blocks.take(`waiting ${index}`), thread);
		if (blocks.has(`failed ${index}`))
			readFailed(await blocks.take(`failed ${index}`), thread);
		threads.push(Object.assign(thread, about, {index, shown: true,
			functionCount: catalog.count}));
		placeInTime(thread, description);
		if (blocks.has(`off ${index}`))
			thread.off = readOff(await blocks.take(`off ${index}`),
				thread);
		thread.own = readOwnWork(blocks.has(`own ${index}`) ?
			await blocks.take(`own ${index}`) : null, thread);
		if (blocks.has(`last ${index}`))
			thread.last = readLast(await blocks.take(`last ${index}`));
		if (blocks.has(`moments ${index}`))
			thread.values = new Values(thread, blocks,
				await blocks.take(`moments ${index}`));
		if (blocks.has(`bands ${index}`))
			thread.bands = readBands(await blocks.take(
				`bands ${index}`), thread);
		progress(blocks.done / blocks.count);
		if (blocks.has(`samples ${index}`))
			thread.samples = new Samples(await blocks.take(
				`samples ${index}`), thread);
		if (about.events && !eager && blocks.has(`levels ${index}`))
			thread.trace = new LargeTrace(thread, blocks,
				await blocks.take(`index ${index}`),
				await blocks.take(`levels ${index}`));
		else if (about.events)
			await readTrace(blocks, thread, progress);
		else if (index % 16 === 15)
			await pause();
	}
	const flows = blocks.has('flows') ?
		new Flows(await blocks.take('flows'), threads) : null;

	const slow = blocks.has('slow') ?
		JSON.parse(text(await blocks.take('slow'))) : [];

	return {description, catalog, sources, threads, flows, settings, slow};
}

// Times of all processes count from the beginning of the first.
function placeInTime(thread, {profiles}) {
	const first = profiles.reduce((least, {originTicks}) =>
		BigInt(originTicks) < least ? BigInt(originTicks) : least,
	BigInt(profiles[0].originTicks));
	const profile = profiles[thread.profile];

	thread.nsPerTick = profile.clockNs / profile.clockTicks;
	thread.offset = Number(BigInt(profile.originTicks) - first) *
		thread.nsPerTick;
	thread.start = thread.offset + thread.startNs;
	thread.end = thread.offset + thread.endNs;
}

async function readTrace(blocks, thread, progress) {
	const reader = new TraceReader(thread, thread.offset, thread.nsPerTick,
		thread.activations);

	for (let part = 0; blocks.has(`events ${thread.index} ${part}`); part++) {
		reader.read(await blocks.take(`events ${thread.index} ${part}`));
		progress(blocks.done / blocks.count);
	}
	thread.trace = reader.finish();
}
