// The calls of a page of -f calls-html, as swizzle-dump wrote them
// (src/profile/formats/page/html_blocks.h). A call is a number: in the order in which
// they began, so those in a call follow it. Each thread is one, too, around all
// of its calls. Texts stay as they came, and are made when they are looked at.

const EXCEPTIONAL = 1, FIRST = 2, ORIGIN = 4, INSIDE = 8, CUT = 16,
	UNLIKE = 32;
// Marks in texts (src/profile/formats/calls/calls.h): what has changed, an object, its
// fields.
const CHANGED = /\x01([^\x02]*)\x02/g;
const OBJECT = /\x03\{([^\x04]*)\}\x04/;
const FIELD = ', \x05';
const MARKS = /[\x01-\x05]/g;
const THREAD = -1; // in place of a function

class Calls {
	constructor(about, functions) {
		const count = about.calls + about.threads.length;

		this.about = about;
		this.functions = functions;
		this.capacity = count;
		this.count = 0;
		this.start = new Float64Array(count);
		this.time = new Float64Array(count);
		this.fn = new Int32Array(count);
		this.parent = new Int32Array(count);
		this.after = new Uint32Array(count); // behind the last call in it
		this.depth = new Uint32Array(count);
		this.flags = new Uint8Array(count);
		this.texts = [new Uint32Array(count), new Uint32Array(count),
			new Uint32Array(count), new Uint32Array(count),
			new Uint32Array(count)];
		this.inside = new Float64Array(count); // that were left out
		this.woken = new Map();
		this.threads = []; // {call, bytes}
		this.decoder = new TextDecoder();
	}

	// A call's thread: which.
	threadOf(call) {
		return firstWhere(0, this.threads.length, index =>
			this.threads[index].call > call) - 1;
	}

	begin(start, fn, parent) {
		const call = this.count++;

		this.start[call] = start;
		this.fn[call] = fn;
		this.parent[call] = parent;
		this.depth[call] = parent < 0 ? 0 : this.depth[parent] + 1;
		return call;
	}

	end(call, time) {
		this.time[call] = time - this.start[call];
		this.after[call] = this.count;
	}

	read(bytes) {
		const reader = new Reader(bytes);
		const thread = this.begin(0, THREAD, -1);
		const skip = () => {
			const at = reader.at;

			reader.at = bytes.indexOf(0, at) + 1;
			return at;
		};
		let open = thread, time = 0, first = -1;

		this.threads.push({call: thread, bytes});
		while (reader.at < bytes.length) {
			const head = reader.number();
			const kind = head % 4;

			time += Math.floor(head / 4);
			if (first < 0)
				this.start[thread] = first = time;
			if (kind === 0) {
				const number = reader.number();

				open = this.begin(time, Math.floor(number / 2), open);
				this.flags[open] = number % 2 ? CUT : 0;
				this.texts[0][open] = skip();
			} else if (kind === 1) {
				const flags = reader.number();

				this.flags[open] |= flags;
				this.texts[1][open] = skip();
				this.texts[2][open] = skip();
				if (flags & (ORIGIN | FIRST))
					this.texts[3][open] = skip();
				if (flags & UNLIKE)
					this.texts[4][open] = skip();
				if (flags & INSIDE)
					this.inside[open] = reader.number();
				this.end(open, time);
				open = this.parent[open];
			} else {
				const texts = this.woken.get(open) || [];

				texts.push(reader.string());
				this.woken.set(open, texts);
			}
		}
		for (; open !== -1; open = this.parent[open])
			this.end(open, time);
	}

	// WHICH: 0 the arguments, 1 the result, 2 what arguments point at then, 3
	// who returned the error first, 4 how the object differs. With marks.
	marked(call, which) {
		const {bytes} = this.threads[this.threadOf(call)];
		const at = this.texts[which][call];

		return this.fn[call] === THREAD || which && !at ? '' :
			this.decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
	}

	text(call, which) {
		return this.marked(call, which).replace(MARKS, '');
	}

	// The fields of the object that a call begins with, or, of a constructor, ends
	// with: with marks.
	fields(call) {
		const found = OBJECT.exec(this.marked(call, 0)) ||
			OBJECT.exec(this.marked(call, 2));

		return found ? found[1].split(FIELD) : [];
	}

	name(call) {
		if (this.fn[call] === THREAD) {
			const {program, pid, tid, name} =
				this.about.threads[this.threadOf(call)];

			return `${program}, process ${pid}, thread ${tid} (${name})`;
		}
		const of = this.functions[this.fn[call]];

		return (of.prefix || '') + of.name;
	}

	// All of it, as a line.
	line(call) {
		return [this.name(call) + this.text(call, 0), this.text(call, 1),
			this.text(call, 2)].filter(part => part).join('  ');
	}

	leaf(call) {
		return this.after[call] === call + 1;
	}

	*children(call) {
		for (let at = call + 1; at < this.after[call]; at = this.after[at])
			yield at;
	}

	// The calls of the same function, in a direction.
	sameFunction(call, step) {
		for (let at = call + step; at >= 0 && at < this.count; at += step)
			if (this.fn[at] === this.fn[call])
				return at;
		return -1;
	}
}

async function readCalls(blocks, progress) {
	const about = JSON.parse(text(await blocks.take('about')));
	const functions = JSON.parse(text(await blocks.take('functions')));
	const calls = new Calls(about, functions);

	for (const index of about.threads.keys()) {
		calls.read(await blocks.take(`calls ${index}`));
		progress(blocks.done / blocks.count);
		await pause();
	}
	return calls;
}
