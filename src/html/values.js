// Arguments and results of a thread's calls. They are in blocks, of which only
// those are unpacked that are asked for.

const MOST_VALUE_BLOCKS = 48; // that are kept unpacked
const MOST_IN_WINDOW = 24; // of them, for values in boxes

class Values {
	constructor(thread, blocks, bytes) {
		const reader = new Reader(bytes);
		const {offset, nsPerTick} = thread;
		let ticks = 0;

		this.thread = thread;
		this.source = blocks;
		this.unpacked = new Map();
		this.wanted = new Set(); // that are being unpacked
		// (times are made of ticks as those of events are: they are equal)
		this.begins = Array.from({length: reader.number()}, () =>
			ticks += reader.number());
		this.cut = reader.number();
		this.cutTime = this.cut ?
			offset + (ticks + reader.number()) * nsPerTick : Infinity;
	}

	beginOf(index) {
		const {offset, nsPerTick} = this.thread;

		return offset + this.begins[index] * nsPerTick;
	}

	// Moments of calls, in the order of time: {time, row, ends, at}
	async block(index) {
		let block = this.unpacked.get(index);

		if (block)
			return block;
		block = this.readBlock(await this.source.peek(
			`values ${this.thread.index} ${index}`), this.begins[index]);
		this.unpacked.set(index, block);
		for (const old of this.unpacked.keys()) {
			if (this.unpacked.size <= MOST_VALUE_BLOCKS)
				break;
			this.unpacked.delete(old);
		}
		return block;
	}

	readBlock(bytes, first) {
		const {offset, nsPerTick} = this.thread;
		const reader = new Reader(bytes);
		const moments = [];
		let ticks = first;

		while (reader.at < bytes.length) {
			const number = reader.number();

			ticks += Math.floor(number / 2);
			moments.push({
				time: offset + ticks * nsPerTick,
				ends: number % 2,
				row: reader.number(),
				values: Array.from({length: reader.number()}, () =>
					[reader.string(), reader.string()]),
			});
		}
		return moments;
	}

	// [name, text] of each value where a call with ROW others around it begins or
	// ends at TIME; null: there are none.
	async at(time, row, ends) {
		for (let index = this.blockAt(time); index >= 0; index--) {
			const found = this.find(await this.block(index), time, row,
				ends);

			if (found)
				return found;
			// (the first of a block may be as late as the last before)
			if (this.beginOf(index) < time)
				break;
		}
		return null;
	}

	// The same of what is unpacked already; if it is not, READY is called when it
	// is.
	now(time, row, ends, ready) {
		for (let index = this.blockAt(time); index >= 0; index--) {
			const moments = this.unpacked.get(index);

			if (!moments) {
				this.want(index, ready);
				return null;
			}
			const found = this.find(moments, time, row, ends);

			if (found)
				return found;
			if (this.beginOf(index) < time)
				break;
		}
		return null;
	}

	// True if there are not too many values in that time to be unpacked at once.
	fits(from, to) {
		return this.blockAt(to) - this.blockAt(from) < MOST_IN_WINDOW;
	}

	blockAt(time) {
		return firstWhere(0, this.begins.length, i =>
			this.beginOf(i) > time) - 1;
	}

	async want(index, ready) {
		if (this.wanted.has(index))
			return;
		this.wanted.add(index);
		await this.block(index);
		this.wanted.delete(index);
		ready();
	}

	find(moments, time, row, ends) {
		let i = firstWhere(0, moments.length, at =>
			moments[at].time >= time);

		for (; i < moments.length && moments[i].time === time; i++)
			if (moments[i].row === row && moments[i].ends === Number(ends))
				return moments[i].values;
		return null;
	}

	// True if what begins or ends then had no room in the page.
	isCut(time) {
		return time >= this.cutTime;
	}
}

// A call's arguments in one line: "a = 1, b = 2"
function argumentsText(entry) {
	return entry ? entry.map(([name, value]) =>
		`${name} = ${value}`).join(', ') : '';
}
