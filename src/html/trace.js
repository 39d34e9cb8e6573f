// The events of a trace: how they are read, and what they say of a range of
// time.

const END = 1, UNWIND = 2, BEGIN_NO_CALL = 3, BEGIN_CUT = 4, END_CUT = 5,
	END_ERROR = 6;
// flags of an activation; CUT: it is longer than what is known of it
const NO_CALL = 1, UNWOUND = 2, CUT = 4, ERROR = 16;

// The children of each context in the order of their numbers.
function childrenOf(nodes) {
	if (nodes.first)
		return nodes;
	const {count, parent} = nodes;
	const first = new Uint32Array(count + 1);
	const children = new Uint32Array(count);

	for (let i = 1; i < count; i++)
		first[parent[i] + 1]++;
	for (let i = 0; i < count; i++)
		first[i + 1] += first[i];
	const next = first.slice();

	for (let i = 1; i < count; i++)
		children[next[parent[i]]++] = i;
	return Object.assign(nodes, {first, children});
}

// Reads the activations of a thread in the order of their beginning. Times are
// ns since the page's origin; OFFSET and SCALE make them of ticks. There are no
// more than COUNT.
class TraceReader {
	constructor(thread, offset, scale, count) {
		const {deepest, nodes} = thread;

		this.offset = offset;
		this.scale = scale;
		this.nodes = nodes;
		this.trace = {
			count: 0,
			deepest,
			start: new Float64Array(count),
			end: new Float64Array(count),
			node: new Uint32Array(count),
			depth: deepest > 65535 ? new Uint32Array(count) :
				new Uint16Array(count),
			flags: new Uint8Array(count),
		};
		this.stack = new Uint32Array(deepest + 1);
		this.open = 0;
		this.ticks = 0;
		this.context = 0;
		const {first, children} = childrenOf(nodes);

		Object.assign(this, {first, children});
	}

	// Some are open already, the outermost first.
	begin(ticks, opened) {
		const {trace} = this;

		this.ticks = ticks;
		for (const {start, end, node, flags} of opened) {
			const i = trace.count++;

			trace.start[i] = start;
			trace.end[i] = end;
			trace.node[i] = node;
			trace.depth[i] = this.open;
			trace.flags[i] = flags;
			this.stack[this.open++] = i;
			this.context = this.nodes.context[node];
		}
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
			const what = value % 8;

			ticks += (value - what) / 8;
			if (what === END || what === UNWIND || what === END_CUT ||
				what === END_ERROR) {
				const ended = stack[--open];

				end[ended] = offset + ticks * scale;
				if (what === UNWIND)
					flags[ended] |= UNWOUND;
				else if (what === END_CUT)
					flags[ended] |= CUT;
				else if (what === END_ERROR)
					flags[ended] |= ERROR;
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
			else if (what === BEGIN_CUT)
				flags[count] = NO_CALL | CUT;
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
		const noCall = [];

		for (let i = 0; i < count; i++)
			byDepth[next[depth[i]]++] = i;
		for (let i = 0; i < count; i++)
			if (trace.flags[i] & NO_CALL)
				noCall.push(i);
		return Object.assign(trace, {rows, byDepth, noCall});
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

// The time that hooks, and work of swizzle's, took of so much time without
// events.
function untracedCost({untracedNs, untracedCalls, untracedOwnNs}, ns, cost) {
	return untracedNs && cost.compensated ? ns / untracedNs *
		(untracedCalls * (cost.inside + cost.outside) +
		untracedOwnNs) : 0;
}

// How many calls were made in an activation, directly or not.
function callsWithin(trace, at) {
	if (trace.calls)
		return trace.calls[at];
	if (trace.within && trace.within.has(at))
		return trace.within.get(at);
	const {count, start, end, depth, noCall} = trace;
	let last = firstWhere(at + 1, count, i => start[i] >= end[at]);

	// at the very end some may be in it and some come after it
	while (last < count && depth[last] > depth[at] &&
		start[last] === end[at])
		last++;
	while (last > at + 1 && depth[last - 1] <= depth[at])
		last--;
	const before = i => firstWhere(0, noCall.length, j => noCall[j] >= i);

	return last - at - 1 - (before(last) - before(at + 1));
}
