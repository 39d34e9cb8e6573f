// The events of a trace: how they are read, and what they say of a range of
// time.

const BEGIN = 0, UNWIND = 2, BEGIN_NO_CALL = 3;
const NO_CALL = 1, UNWOUND = 2; // flags of an activation

// Reads the activations of a thread in the order of their beginning. Times are
// ns since the page's origin; OFFSET and SCALE make them of ticks.
class TraceReader {
	constructor(thread, offset, scale) {
		const {activations, deepest, nodes} = thread;

		this.offset = offset;
		this.scale = scale;
		this.nodes = nodes;
		this.trace = {
			count: 0,
			deepest,
			start: new Float64Array(activations),
			end: new Float64Array(activations),
			node: new Uint32Array(activations),
			depth: deepest > 65535 ? new Uint32Array(activations) :
				new Uint16Array(activations),
			flags: new Uint8Array(activations),
		};
		this.stack = new Uint32Array(deepest + 1);
		this.open = 0;
		this.ticks = 0;
		this.context = 0;
		this.findChildren();
	}

	// The children of each context in the order of their numbers.
	findChildren() {
		const {count, parent} = this.nodes;

		this.first = new Uint32Array(count + 1);
		for (let i = 1; i < count; i++)
			this.first[parent[i] + 1]++;
		for (let i = 0; i < count; i++)
			this.first[i + 1] += this.first[i];
		const next = this.first.slice();

		this.children = new Uint32Array(count);
		for (let i = 1; i < count; i++)
			this.children[next[parent[i]]++] = i;
	}

	read(bytes) {
		const {first, children, stack, offset, scale, trace} = this;
		const {start, end, node, depth, flags} = trace;
		const {context: contextOf} = this.nodes;
		const size = bytes.length;
		let {open, ticks, context} = this;
		let {count} = trace;

		for (let at = 0; at < size;) {
			let byte = bytes[at++], value = byte & 127;

			if (byte > 127) {
				let unit = 128;

				do {
					byte = bytes[at++];
					value += (byte & 127) * unit;
					unit *= 128;
				} while (byte > 127);
			}
			const what = value % 4;

			ticks += (value - what) / 4;
			if (what !== BEGIN && what !== BEGIN_NO_CALL) {
				const ended = stack[--open];

				end[ended] = offset + ticks * scale;
				if (what === UNWIND)
					flags[ended] |= UNWOUND;
				context = open ? contextOf[node[stack[open - 1]]] : 0;
				continue;
			}
			let child = bytes[at++];

			if (child > 127) {
				let shift = 7;

				child &= 127;
				do {
					byte = bytes[at++];
					child += (byte & 127) * 2 ** shift;
					shift += 7;
				} while (byte > 127);
			}
			let index;

			if (child) {
				index = children[first[context] + child - 1];
			} else {
				let unit = 1;

				index = 0;
				do {
					byte = bytes[at++];
					index += (byte & 127) * unit;
					unit *= 128;
				} while (byte > 127);
			}
			start[count] = offset + ticks * scale;
			node[count] = index;
			depth[count] = open;
			if (what === BEGIN_NO_CALL)
				flags[count] = NO_CALL;
			stack[open++] = count++;
			context = contextOf[index];
		}
		Object.assign(this, {open, ticks, context});
		trace.count = count;
	}

	// Sorts by depth: activations of one depth follow each other in time.
	finish() {
		const {trace} = this;
		const {count, depth} = trace;
		const rows = new Uint32Array(trace.deepest + 1);

		for (let i = 0; i < count; i++)
			rows[depth[i] + 1]++;
		for (let row = 0; row < trace.deepest; row++)
			rows[row + 1] += rows[row];
		const next = rows.slice();
		const byDepth = new Uint32Array(count);

		for (let i = 0; i < count; i++)
			byDepth[next[depth[i]]++] = i;
		return Object.assign(trace, {rows, byDepth});
	}
}

// The first activation of a row that ends after a time; an index of byDepth.
function firstEndingAfter(trace, row, time) {
	return firstWhere(trace.rows[row], trace.rows[row + 1],
		at => trace.end[trace.byDepth[at]] > time);
}

function firstStartingAt(trace, low, high, time) {
	return firstWhere(low, high,
		at => trace.start[trace.byDepth[at]] >= time);
}

// ---- a range of time ----

// What a thread did from FROM to TO, in the form that a whole thread has: rows,
// edges and nodes. The hooks' COST is subtracted as swizzle-dump does.
function rangeOf(thread, from, to, cost) {
	const sums = sumRange(thread, from, to);
	const {nodes} = thread;
	const self = new Float64Array(nodes.count);
	const {raw, inside, outside} = sums;
	let total = 0;

	for (let i = 0; i < nodes.count; i++) {
		self[i] = Math.max(0, raw[i] - cost.inside * inside[i] -
			cost.outside * outside[i]);
		total += self[i];
	}
	const incl = inclusiveTimes(nodes, sums, self);
	const part = {
		...nodes,
		calls: sums.calls,
		self,
	};

	return {
		rows: rangeRows(thread, sums, self, incl, total, cost),
		edges: rangeEdges(nodes, sums, incl),
		nodes: part,
	};
}

function sumRange(thread, from, to) {
	const {trace, nodes} = thread;
	const {count, start, end, node, depth, flags} = trace;
	const {context: contextOf, fn} = nodes;
	const array = () => new Float64Array(nodes.count);
	const sums = {
		calls: array(),   // of a node
		outer: array(),   // time of its outermost activations
		unwound: array(),
		min: array(),
		max: array(),
		raw: array(),     // self time of a context
		inside: array(),  // calls of which it is the context
		outside: array(), // calls made from it
	};
	const {calls, outer, unwound, min, max, raw, inside, outside} = sums;
	const active = new Uint32Array(thread.functionCount);
	const stack = new Uint32Array(trace.deepest + 1);
	const left = Math.max(from, thread.start);
	const right = Math.min(to, thread.end);
	let open = 0;

	if (right <= left)
		return sums;
	raw[0] = right - left;
	const add = i => {
		const at = node[i], context = contextOf[at];
		const parent = open ? contextOf[node[stack[open - 1]]] : 0;
		const ended = end[i] <= to;
		const begun = start[i] >= from;
		const time = Math.max(0, (ended ? end[i] : to) -
			(begun ? start[i] : from));

		raw[context] += time;
		raw[parent] -= time;
		if (active[fn[at]]++ === 0)
			outer[at] += time;
		if (begun && !(flags[i] & NO_CALL)) {
			calls[at]++;
			inside[context]++;
			outside[parent]++;
		}
		if (begun && ended && time) {
			if (time > max[at])
				max[at] = time;
			if (!min[at] || time < min[at])
				min[at] = time;
		}
		if (ended && flags[i] & UNWOUND)
			unwound[at]++;
		stack[open++] = i;
	};

	// what is open at the beginning, from the outside in
	for (let row = 0; row < trace.deepest; row++) {
		const at = firstStartingAt(trace, trace.rows[row],
			trace.rows[row + 1], from) - 1;

		if (at < trace.rows[row] || end[trace.byDepth[at]] <= from)
			break;
		add(trace.byDepth[at]);
	}
	for (let i = firstWhere(0, count, at => start[at] >= from);
		i < count && start[i] < to; i++) {
		while (open > depth[i])
			active[fn[node[stack[--open]]]]--;
		add(i);
	}
	return sums;
}

// The inclusive times of nodes: that of the outermost activations, of which the
// hooks' cost is taken in the proportion that it has in the subtree. Where
// recursion leads out of the subtree it is that of where it leads to
// (docs/file-format.md).
function inclusiveTimes(nodes, sums, self) {
	const {count, parent, context, recursive} = nodes;
	const rawBelow = sums.raw.slice(), below = self.slice();
	const top = new Uint32Array(count);
	const incl = new Float64Array(count);

	for (let i = 0; i < count; i++)
		top[i] = i;
	for (let i = 1; i < count; i++)
		if (recursive[i])
			top[parent[i]] = Math.min(top[parent[i]], context[i]);
	for (let i = count - 1; i > 0; i--) {
		rawBelow[parent[i]] += rawBelow[i];
		below[parent[i]] += below[i];
		if (!recursive[i])
			top[parent[i]] = Math.min(top[parent[i]], top[i]);
	}
	for (let i = 1; i < count; i++)
		top[i] = top[top[i]];
	for (let i = 1; i < count; i++) {
		const over = top[context[i]];

		if (rawBelow[over] > 0)
			incl[i] = sums.outer[i] * below[over] / rawBelow[over];
	}
	return incl;
}

function rangeRows(thread, sums, self, incl, total, cost) {
	const {nodes} = thread;
	const index = new Map();
	const rows = {count: 0, fn: [], calls: [], self: [], incl: [], min: [],
		max: [], unwound: [], variance: []};

	for (let i = 0; i < nodes.count; i++) {
		if (!self[i] && !sums.calls[i] && !incl[i] && (i || !total))
			continue;
		const fn = nodes.fn[i];
		let at = index.get(fn);

		if (at === undefined) {
			at = rows.count++;
			index.set(fn, at);
			rows.fn[at] = fn;
			for (const key of ['calls', 'self', 'incl', 'min', 'max',
				'unwound', 'variance'])
				rows[key][at] = 0;
		}
		rows.calls[at] += sums.calls[i];
		rows.self[at] += self[i];
		rows.incl[at] += incl[i];
		rows.unwound[at] += sums.unwound[i];
		const min = Math.max(sums.min[i] - cost.inside, 0);

		if (sums.min[i] && (!rows.min[at] || min < rows.min[at]))
			rows.min[at] = min;
		rows.max[at] = Math.max(rows.max[at], sums.max[i] - cost.inside);
	}
	for (let at = 0; at < rows.count; at++)
		rows.incl[at] = Math.min(total, rows.fn[at] === OUTSIDE ? total :
			Math.max(rows.incl[at], rows.self[at]));
	return rows;
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
