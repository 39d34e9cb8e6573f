// A trace of so many events that a page does not hold them all unpacked. From
// afar it is drawn by levels, in which swizzle-dump has merged what is narrower
// than a pixel; close by the blocks of events in the window are read, and
// forgotten again when others are looked at.

const EAGER = 3e6; // activations of all threads that are read at once
const MOST_UNPACKED = 2.5e6; // of the parts that are kept
const MOST_IN_VIEW = 4e5; // of those that a window needs, all lanes ...
const LEAST_IN_VIEW = 1.2e5; // ... and one, which is more than two blocks
const RUN = 8; // flag in a level: several activations, `calls` of them

// The parts that are unpacked, the latest used last.
class PartCache {
	constructor() {
		this.parts = new Map();
		this.size = 0;
	}

	get(key) {
		const part = this.parts.get(key);

		if (part) {
			this.parts.delete(key);
			this.parts.set(key, part);
		}
		return part;
	}

	put(key, part) {
		this.parts.set(key, part);
		this.size += part.count;
		for (const [old, {count}] of this.parts) {
			if (this.size <= MOST_UNPACKED || old === key)
				break;
			this.parts.delete(old);
			this.size -= count;
		}
	}
}

const unpacked = new PartCache();

class LargeTrace {
	constructor(thread, blocks, index, levels) {
		this.large = true;
		this.thread = thread;
		this.source = blocks;
		this.count = thread.activations;
		this.deepest = thread.deepest;
		this.offset = thread.offset;
		this.scale = thread.nsPerTick;
		this.readIndex(new Reader(index));
		this.readLevels(new Reader(levels));
		this.reading = null;
		this.changed = () => {}; // to be called when more can be drawn
	}

	name(block) {
		return `events ${this.thread.index} ${block}`;
	}

	// Activations that are open where a block begins (`open`: each with the one
	// around it), and the blocks, each with the innermost of them.
	readIndex(reader) {
		const count = reader.number();
		const [start, length, node, flags, calls] = reader.table(count,
			Float64Array, Float64Array, Uint32Array, Uint8Array,
			Float64Array);
		const outer = new Int32Array(count);
		const stack = [];
		let ticks = 0, begun = 0, opened = 0;

		this.open = {start, end: length, node, flags, calls, outer};
		for (let i = 0; i < count; i++) {
			ticks += start[i];
			start[i] = this.offset + ticks * this.scale;
			length[i] = this.offset + (ticks + length[i]) * this.scale;
		}
		ticks = 0;
		this.blocks = [];
		for (let left = reader.number(); left; left--) {
			ticks += reader.number();
			const activations = reader.number();

			stack.length = reader.number();
			for (let more = reader.number(); more; more--) {
				outer[opened] = stack.length ?
					stack[stack.length - 1] : -1;
				stack.push(opened++);
			}
			this.blocks.push({ticks, begun, activations,
				time: this.offset + ticks * this.scale,
				depth: stack.length,
				inner: stack.length ? stack[stack.length - 1] : -1,
				there: this.source.has(this.name(this.blocks.length))});
			begun += activations;
		}
		this.missing = this.blocks.filter(block => !block.there).length;
	}

	// Each level has what a trace has, without depths.
	readLevels(reader) {
		const origin = reader.number();
		let most = 0;

		this.levels = [];
		for (let left = reader.number(); left; left--) {
			const pixel = reader.number() * this.scale;
			const rows = new Uint32Array(reader.number() + 1);

			for (let row = 1; row < rows.length; row++)
				rows[row] = rows[row - 1] + reader.number();
			const count = rows[rows.length - 1];
			const level = {level: true, pixel, rows, count,
				deepest: rows.length - 1,
				start: new Float64Array(count),
				end: new Float64Array(count),
				node: new Uint32Array(count),
				calls: new Float64Array(count),
				flags: new Uint8Array(count)};

			this.readBoxes(reader, level, origin);
			this.levels.push(level);
			most = Math.max(most, count);
		}
		const same = Uint32Array.from({length: most}, (_, i) => i);

		for (const level of this.levels)
			level.byDepth = same.subarray(0, level.count);
	}

	readBoxes(reader, {rows, start, end, node, calls, flags}, origin) {
		let row = 0, ticks = origin;

		for (let i = 0; i < start.length; i++) {
			while (i === rows[row]) {
				row++;
				ticks = origin;
			}
			ticks += reader.number();
			start[i] = this.offset + ticks * this.scale;
			ticks += reader.number();
			end[i] = this.offset + ticks * this.scale;
			node[i] = reader.number();
			const what = reader.number();

			flags[i] = what % 32;
			calls[i] = (what - flags[i]) / 32;
		}
	}

	// The last block that begins before a time.
	blockAt(time) {
		return Math.max(0, firstWhere(0, this.blocks.length, block =>
			this.blocks[block].time > time) - 1);
	}

	// A window is drawn by the events, if they are unpacked or, at the next
	// frame, will be; else by the level that is as fine as a PIXEL.
	view(left, right, pixel, room) {
		const from = this.blockAt(left), to = this.blockAt(right);
		const size = (i, j) => this.blocks[j].begun +
			this.blocks[j].activations - this.blocks[i].begun +
			this.blocks[i].depth;

		if (this.part && this.part.from <= from && this.part.to >= to &&
			unpacked.get(this.part.key))
			return this.part;
		let i = Math.max(0, from - 1);
		let j = Math.min(this.blocks.length - 1, to + 1);

		if (size(i, j) > room || !this.has(i, j))
			[i, j] = [from, to];
		if (size(i, j) <= room && this.has(i, j))
			this.ask(i, j);
		return this.levelFor(pixel);
	}

	has(from, to) {
		if (!this.missing)
			return true;
		for (let block = from; block <= to; block++)
			if (!this.blocks[block].there)
				return false;
		return true;
	}

	levelFor(pixel) {
		return this.levels.findLast(level => level.pixel <= pixel) ||
			this.levels[0];
	}

	// One at a time: what was asked for last.
	async ask(from, to) {
		this.wanted = [from, to];
		if (this.reading)
			return;
		this.reading = true;
		while (this.wanted) {
			const [i, j] = this.wanted;

			this.wanted = null;
			this.part = (await this.read(i, j)).finish();
			this.part.key = `${this.thread.index} ${i} ${j}`;
			this.part.from = i;
			this.part.to = j;
			unpacked.put(this.part.key, this.part);
		}
		this.reading = false;
		this.changed();
	}

	// The activations that are open where a block begins, the outermost first.
	openAt(block) {
		const chain = [];

		for (let at = this.blocks[block].inner; at >= 0;
			at = this.open.outer[at])
			chain.push(at);
		return chain.reverse();
	}

	// A reader that has read the blocks FROM to TO. Of what is open at either
	// end it knows the whole length, and how many calls are in it.
	async read(from, to) {
		const {blocks, open} = this;
		const opened = this.openAt(from);
		const last = blocks[to];
		const reader = new TraceReader(this.thread, this.offset, this.scale,
			opened.length + last.begun + last.activations -
			blocks[from].begun);

		reader.trace.within = new Map();
		reader.begin(blocks[from].ticks, opened.map(at => ({
			start: open.start[at], end: open.end[at],
			node: open.node[at], flags: open.flags[at]})));
		opened.forEach((at, i) =>
			reader.trace.within.set(i, open.calls[at]));
		for (let block = from; block <= to; block++)
			reader.read(await this.source.peek(this.name(block)));
		if (to + 1 < blocks.length)
			this.openAt(to + 1).forEach((at, depth) => {
				const i = reader.stack[depth];

				reader.trace.end[i] = open.end[at];
				reader.trace.flags[i] = open.flags[at];
				reader.trace.within.set(i, open.calls[at]);
			});
		return reader;
	}

	// Calls USE with part after part of the trace from FROM to TO, each with how
	// many of its activations were in the one before; wanted() says whether to go
	// on.
	async eachPart(from, to, use, wanted) {
		const last = this.blockAt(to);

		for (let i = this.blockAt(from); i <= last; i += 16) {
			const j = Math.min(i + 15, last);
			const reader = await this.read(i, j);

			if (!wanted())
				return false;
			use(reader.trace, this.blocks[i].depth);
			await pause();
		}
		return true;
	}
}
