// The samples of a thread one by one, and what they say of a range of time: as
// swizzle-dump --from --to has it.

class Samples {
	constructor(bytes, {offset, nsPerTick}) {
		const reader = new Reader(bytes);

		this.shareCount = reader.number();
		// what the samples of a place stand for, and how many there are
		const [node, running, waiting, whileRunning, whileWaiting] =
			reader.table(this.shareCount, Uint32Array, Float64Array,
				Float64Array, Float64Array, Float64Array);

		Object.assign(this, {node, running, waiting, whileRunning,
			whileWaiting});
		const times = [], shares = [], waits = [];

		for (let ticks = 0; reader.at < bytes.length;) {
			const step = reader.number();

			ticks += Math.floor(step / 2);
			times.push(offset + ticks * nsPerTick);
			waits.push(step % 2);
			shares.push(reader.number());
		}
		this.time = Float64Array.from(times);
		this.share = Uint32Array.from(shares);
		this.waits = Uint8Array.from(waits);
		this.count = times.length;
	}

	firstFrom(time) {
		return firstWhere(0, this.count, at => this.time[at] >= time);
	}

	// How many there are from FROM to TO, and how many of these waited.
	within(from, to) {
		const first = this.firstFrom(from), end = this.firstFrom(to);
		let waited = 0;

		for (let at = first; at < end; at++)
			waited += this.waits[at];
		return {count: end - first, waited};
	}

	// The time of each node from FROM to TO, and the samples that it ran in.
	costs(from, to, {nodes}) {
		const {node, running, waiting, whileRunning, whileWaiting} = this;
		const kept = [new Float64Array(this.shareCount),
			new Float64Array(this.shareCount)];
		const ran = new Float64Array(nodes.count);
		const waited = new Float64Array(nodes.count);
		const calls = new Float64Array(nodes.count);
		const end = this.firstFrom(to);
		const part = (ns, some, all) => all ?
			Math.floor(ns * some / all) : 0;

		for (let at = this.firstFrom(from); at < end; at++)
			kept[this.waits[at]][this.share[at]]++;
		for (let i = 0; i < this.shareCount; i++) {
			const context = nodes.context[node[i]];

			ran[context] += part(running[i], kept[0][i],
				whileRunning[i]);
			// (a running thread waits for a processor)
			waited[context] += whileWaiting[i] ?
				part(waiting[i], kept[1][i], whileWaiting[i]) :
				part(waiting[i], kept[0][i], whileRunning[i]);
			calls[node[i]] += kept[0][i];
		}
		return {ran, waited, calls};
	}
}

// A thread's samples from FROM to TO in the form that a whole thread has: rows,
// edges and nodes.
function rangeOfSamples(thread, from, to) {
	const {nodes, samples} = thread;
	const {ran, waited, calls} = samples.costs(from, to, thread);
	const below = ran.slice(), waitedBelow = waited.slice();
	const incl = new Float64Array(nodes.count);
	const inclWaited = new Float64Array(nodes.count);
	const sum = times => times.reduce((all, ns) => all + ns, 0);

	for (let i = nodes.count - 1; i > 0; i--) {
		below[nodes.parent[i]] += below[i];
		waitedBelow[nodes.parent[i]] += waitedBelow[i];
	}
	for (let i = 0; i < nodes.count; i++)
		if (!nodes.folded[i] && isTopmost(nodes, i)) {
			incl[i] = below[i];
			inclWaited[i] = waitedBelow[i];
		}
	const costs = {ran, waited, calls, incl, inclWaited};
	const part = {
		rows: sampledRows(nodes, costs),
		edges: sampledEdges(nodes, costs),
		nodes: {...nodes, calls, self: ran, waiting: waited, ran},
		totalNs: sum(ran),
		rawNs: sum(ran),
		waitingNs: sum(waited),
		absent: Math.max(from, thread.start) >= Math.min(to, thread.end),
	};

	if (!thread.rows.waiting)
		for (const list of [part.rows, part.edges, part.nodes])
			delete list.waiting;
	return part;
}

function sampledRows(nodes, {ran, waited, calls, incl, inclWaited}) {
	const lists = {};
	const at = new Map(); // by function

	for (const key of ['fn', 'calls', 'self', 'incl', 'min', 'max', 'unwound',
		'variance', 'waiting', 'waitingSelf'])
		lists[key] = [];
	for (let i = 0; i < nodes.count; i++) {
		if (!calls[i] && !incl[i] && !inclWaited[i])
			continue;
		const fn = nodes.fn[i];

		if (!at.has(fn)) {
			at.set(fn, at.size);
			for (const list of Object.values(lists))
				list.push(0);
		}
		const row = at.get(fn);

		lists.fn[row] = fn;
		lists.calls[row] += calls[i];
		lists.self[row] += ran[i];
		lists.incl[row] += incl[i];
		lists.waitingSelf[row] += waited[i];
		lists.waiting[row] += inclWaited[i];
	}
	// the standard error of so many samples
	lists.variance = lists.self.map((ns, row) => lists.calls[row] ?
		ns ** 2 / lists.calls[row] : 0);
	return {...lists, count: at.size, ran: [lists.self, lists.incl]};
}

function sampledEdges(nodes, {calls, incl, inclWaited}) {
	const edges = {count: 0, caller: [], callee: [], place: [], calls: [],
		incl: [], waiting: []};

	for (let i = 1; i < nodes.count; i++) {
		if (!calls[i] && !incl[i] && !inclWaited[i])
			continue;
		edges.caller.push(nodes.fn[nodes.parent[i]]);
		edges.callee.push(nodes.fn[i]);
		edges.place.push(nodes.place[i]);
		edges.calls.push(calls[i]);
		edges.incl.push(incl[i]);
		edges.waiting.push(inclWaited[i]);
		edges.count++;
	}
	edges.ran = edges.incl;
	return edges;
}
