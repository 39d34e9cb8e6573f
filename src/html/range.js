// The work of the threads in a range of time, counted from the events.

// A thread's work from FROM to TO, in the form that a whole thread has: rows,
// edges and nodes; rawNs is the time without compensation. The hooks' COST is
// subtracted as swizzle-dump does.
function rangeOf(thread, from, to, cost) {
	const {trace} = thread;
	const sums = new RangeSums(thread, from, to);

	if (!sums.absent)
		sums.addPart(trace, 0, firstWhere(0, trace.count, at =>
			trace.start[at] >= from));
	return rangePart(thread, sums, cost);
}

// The same of a large trace; null where that is no longer WANTED(). SAY is
// called with how much of the time is done.
async function rangeOfLarge(thread, from, to, cost, wanted, say) {
	const sums = new RangeSums(thread, from, to);
	let first = true;

	if (!sums.absent && !await thread.trace.eachPart(from, to, (part, known) => {
		const begin = firstWhere(0, part.count, at =>
			part.start[at] >= from);

		sums.addPart(part, first ? 0 : known, begin);
		first = false;
		say((part.start[part.count - 1] - from) / (to - from));
	}, wanted))
		return null;
	return rangePart(thread, sums, cost);
}

function rangePart(thread, sums, cost) {
	const {nodes} = thread;
	const self = new Float64Array(nodes.count);
	const {raw, inside, outside} = sums;
	const own = ownWork(thread, sums);
	let total = 0, rawNs = 0;

	for (let i = 0; i < nodes.count; i++) {
		self[i] = Math.max(0, raw[i] - cost.inside * inside[i] -
			cost.outside * outside[i] - own[i] - (nodes.fn[i] === UNTRACED ?
			untracedCost(thread, raw[i], cost) : 0));
		total += self[i];
		rawNs += raw[i];
	}
	const incl = inclusiveTimes(nodes, sums, self);
	const part = {
		...nodes,
		calls: sums.calls,
		failed: sums.failed,
		self,
	};

	return {
		rows: rangeRows(thread, sums, self, incl, total, cost),
		edges: rangeEdges(nodes, sums, incl),
		nodes: part,
		totalNs: total,
		rawNs,
		absent: sums.absent,
	};
}

// The time that swizzle's own work took of the contexts in the range.
function ownWork({own, nodes}, {from, to}) {
	const taken = new Float64Array(nodes.count);

	for (let i = 0; i < own.count; i++)
		taken[own.node[i]] += Math.max(0, Math.min(own.end[i], to) -
			Math.max(own.start[i], from));
	return taken;
}

// True if it is below “[unknown caller]”: that itself, or a caller, or the
// call.
function isFolded({fn, parent}, i) {
	const up = parent[i];

	return fn[i] === UNKNOWN || fn[up] === UNKNOWN ||
		fn[parent[up]] === UNKNOWN;
}

// The sums of a range, part after part of its activations.
class RangeSums {
	constructor(thread, from, to) {
		const {nodes, trace} = thread;
		const array = () => new Float64Array(nodes.count);

		Object.assign(this, {
			nodes, from, to,
			calls: array(),   // of a node
			outer: array(),   // time of its outermost activations
			time: array(),    // of all
			uncounted: array(), // activations that count no call
			unwound: array(),
			failed: array(),  // these, and what returned an error
			min: array(),
			max: array(),
			raw: array(),     // self time of a context
			inside: array(),  // calls of which it is the context
			outside: array(), // calls made from it
			active: new Uint32Array(thread.functionCount),
			stack: new Uint32Array(trace.deepest + 1), // nodes
			open: 0,
		});
		const left = Math.max(from, thread.start);
		const right = Math.min(to, thread.end);

		this.absent = right <= left; // the thread was not there
		if (!this.absent)
			this.raw[0] = right - left;
	}

	// The activations of a part from KNOWN on. Those before BEGIN have begun
	// before the range; the ones that are open still come first.
	addPart(part, known, begin) {
		const {count, start, end, node, depth, flags} = part;
		const {from, to, nodes, active, stack, raw, outer, calls, inside,
			outside, uncounted, min, max, unwound, failed} = this;
		const {context: contextOf, fn, parent: parentOf} = nodes;
		const times = this.time;
		let {open} = this;
		// (names of the loop's own: it is what all of the time goes to)
		const add = i => {
			const at = node[i], context = contextOf[at];
			// of what is folded only the events know the caller's context
			const parent = !isFolded(nodes, at) ?
				contextOf[parentOf[at]] :
				open ? contextOf[stack[open - 1]] : 0;
			const ended = end[i] <= to;
			const begun = start[i] >= from;
			const time = Math.max(0, (ended ? end[i] : to) -
				(begun ? start[i] : from));

			raw[context] += time;
			raw[parent] -= time;
			times[at] += time;
			if (active[fn[at]]++ === 0)
				outer[at] += time;
			if (begun && !(flags[i] & NO_CALL)) {
				calls[at]++;
				inside[context]++;
				outside[parent]++;
			} else {
				uncounted[at]++;
			}
			if (begun && ended && time && !(flags[i] & CUT)) {
				if (time > max[at])
					max[at] = time;
				if (!min[at] || time < min[at])
					min[at] = time;
			}
			if (ended && flags[i] & UNWOUND)
				unwound[at]++;
			if (ended && flags[i] & (UNWOUND | ERROR))
				failed[at]++;
			stack[open++] = at;
		};

		for (let i = known; i < begin; i++)
			if (end[i] > from && start[i] < to)
				add(i);
		for (let i = Math.max(known, begin); i < count && start[i] < to;
			i++) {
			while (open > depth[i])
				active[fn[stack[--open]]]--;
			add(i);
		}
		this.open = open;
	}
}

// The inclusive times of nodes (docs/file-format.md): what is below those that have
// no other of their function above them. Where folding leads out of one of these,
// its function's are as its outermost activations have measured it, less the hooks'
// cost in the proportion that it has in the subtree.
function inclusiveTimes(nodes, sums, self) {
	const {count, parent, context, folded, fn} = nodes;
	const rawBelow = sums.raw.slice(), below = self.slice();
	const top = new Uint32Array(count);
	const incl = new Float64Array(count);
	const functions = new Map(); // what is below, what was measured, split
	let anyUnknown = false;

	for (let i = 0; i < count; i++)
		top[i] = i;
	for (let i = 1; i < count; i++)
		if (folded[i])
			top[parent[i]] = Math.min(top[parent[i]], context[i]);
	for (let i = count - 1; i > 0; i--) {
		rawBelow[parent[i]] += rawBelow[i];
		below[parent[i]] += below[i];
		if (!folded[i])
			top[parent[i]] = Math.min(top[parent[i]], top[i]);
	}
	for (let i = 1; i < count; i++)
		top[i] = top[top[i]];
	for (let i = 1; i < count; i++) {
		let of = functions.get(fn[i]);

		if (!of)
			functions.set(fn[i], of = {below: 0, measured: 0, split: false});
		anyUnknown = anyUnknown || fn[i] === UNKNOWN && below[i] > 0;
		const over = top[context[i]];

		if (rawBelow[over] > 0)
			of.measured += sums.outer[i] * below[over] / rawBelow[over];
		if (!folded[i] && isTopmost(nodes, i)) {
			incl[i] = below[i];
			of.below += below[i];
			of.split = of.split || top[i] !== i;
		}
	}
	for (let i = 1; i < count; i++) {
		const of = functions.get(fn[i]);

		if ((of.split || anyUnknown) && of.measured > of.below &&
			of.below > 0)
			incl[i] *= of.measured / of.below;
	}
	return incl;
}

function isTopmost({fn, parent}, i) {
	let at = parent[i];

	while (at && fn[at] !== fn[i])
		at = parent[at];
	return !at;
}

function rangeRows(thread, sums, self, incl, total, cost) {
	const {nodes} = thread;
	const index = new Map();
	const rows = {count: 0, fn: [], calls: [], self: [], incl: [], min: [],
		max: [], unwound: [], variance: []};
	const about = []; // of a function, for its shortest and longest call

	for (let i = 0; i < nodes.count; i++) {
		if (!self[i] && !sums.calls[i] && !incl[i] && (i || !total))
			continue;
		const fn = nodes.fn[i];
		let at = index.get(fn);

		if (at === undefined) {
			at = rows.count++;
			index.set(fn, at);
			rows.fn[at] = fn;
			about[at] = {raw: 0, uncounted: false, recursive: false};
			for (const key of ['calls', 'self', 'incl', 'min', 'max',
				'unwound', 'variance'])
				rows[key][at] = 0;
		}
		rows.calls[at] += sums.calls[i];
		rows.self[at] += self[i];
		rows.incl[at] += incl[i];
		rows.unwound[at] += sums.unwound[i];
		about[at].raw += sums.outer[i];
		about[at].uncounted ||= sums.uncounted[i] > 0;
		about[at].recursive ||= nodes.folded[i] > 0 ||
			sums.outer[i] !== sums.time[i];
		if (sums.min[i] && (!rows.min[at] || sums.min[i] < rows.min[at]))
			rows.min[at] = sums.min[i];
		rows.max[at] = Math.max(rows.max[at], sums.max[i]);
	}
	for (let at = 0; at < rows.count; at++) {
		const single = singleCall(rows, at, about[at], cost);

		rows.min[at] = single(rows.min[at]);
		rows.max[at] = single(rows.max[at]);
		rows.incl[at] = Math.min(total, rows.fn[at] === OUTSIDE ? total :
			Math.max(rows.incl[at], rows.self[at]));
		boundExtremes(rows, at, about[at]);
	}
	return rows;
}

// Both as swizzle-dump does it (costs/report.c): the time of a single call
// without what hooks took of it, and bounds by what is known of all calls.
function singleCall({calls, incl}, at, {raw, recursive}, {inside}) {
	const own = recursive ? 0 : inside;
	const all = raw - calls[at] * own;
	const part = incl[at] < all ? incl[at] / all : 1;

	return time => Math.max(0, (time - own) * part);
}

function boundExtremes({calls, incl, min, max}, at, {uncounted, recursive}) {
	if (calls[at] && !uncounted) {
		const mean = incl[at] / calls[at];

		max[at] = Math.max(max[at], mean);
		if (calls[at] === 1 || (min[at] > mean && !recursive))
			min[at] = mean;
	}
	max[at] = Math.min(max[at], incl[at]);
	min[at] = Math.min(min[at], max[at]);
}

function rangeEdges(nodes, sums, incl) {
	const edges = {count: 0, caller: [], callee: [], place: [], calls: [],
		incl: []};

	for (let i = 1; i < nodes.count; i++) {
		if (!sums.calls[i] && !incl[i])
			continue;
		edges.caller.push(nodes.fn[nodes.parent[i]]);
		edges.callee.push(nodes.fn[i]);
		edges.place.push(nodes.place[i]);
		edges.calls.push(sums.calls[i]);
		edges.incl.push(incl[i]);
		edges.count++;
	}
	return edges;
}
