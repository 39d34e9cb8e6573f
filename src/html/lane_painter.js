// Draws lanes: a box for each activation, those narrower than a pixel as one;
// marks, waiting, and what woke what.

const HATCH = 6; // of a row with a name: what waiting is hatched in

class PaintedLanes extends Lanes {
	paint(context, width, height) {
		let top = this.lanesTop - this.scroll;

		this.left = this.time(this.from);
		this.scale = width / this.span();
		this.coarse = false;
		for (const thread of this.lanes()) {
			const bottom = top + this.laneHeight(thread);

			if (bottom > this.lanesTop && top < height)
				this.paintLane(context, thread, top, width, height);
			top = bottom;
		}
		this.paintFlows(context, width);
		this.bands.paint(context, width);
		this.paintRuler(context, width, (at, step) => tick(at, step),
			this.model.description.compensated ? 'time with hooks' : '');
		this.paintRange(context, width, height);
		if (this.coarse)
			this.paintCoarse(context, width, height);
	}

	// Where a moment of a thread is drawn: the innermost call then, or the head
	// of the lane; null: the lane is not shown.
	placeOf(end) {
		const {thread} = end;
		const time = this.model.flows.momentOf(end);
		let y = this.lanesTop - this.scroll;

		for (const lane of this.lanes()) {
			if (lane !== thread) {
				y += this.laneHeight(lane);
				continue;
			}
			const {first, last, high} = this.rowsOf(thread);
			const trace = this.viewOf(thread);
			let row = Math.min(last, trace.deepest);

			while (--row >= first) {
				const at = firstEndingAfter(trace, row, time);

				if (at < trace.rows[row + 1] &&
					trace.start[trace.byDepth[at]] <= time)
					break;
			}
			return {x: this.x(time), y: row < first ? y + ROW / 2 :
				y + ROW + (row - first + 0.5) * high};
		}
		return null;
	}

	paintFlows(context, width) {
		this.lines = [];
		if (!this.call)
			return;
		for (const end of this.flowsOf(this.call)) {
			const [from, to] = end.wakes ? [end, end.other] :
				[end.other, end];
			const a = this.placeOf(from);
			const b = this.placeOf(to);

			if (a && b && Math.max(a.x, b.x) > 0 &&
				Math.min(a.x, b.x) < width)
				this.lines.push([a, b]);
		}
		for (const [a, b] of this.lines)
			this.paintFlow(context, a, b, Math.max(30,
				Math.min(Math.abs(b.x - a.x) / 2, 120)));
	}

	// An arrow that leaves to the right and comes from the left.
	paintFlow(context, a, b, bend) {
		const {colours} = this.app;

		for (const [colour, thick] of [[colours.back, 4],
			[colours.text, 1.5]]) {
			context.strokeStyle = context.fillStyle = colour;
			context.lineWidth = thick;
			context.beginPath();
			context.moveTo(a.x, a.y);
			context.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y,
				b.x - 6, b.y);
			context.stroke();
			context.beginPath();
			context.moveTo(b.x, b.y);
			context.lineTo(b.x - 7, b.y - 4);
			context.lineTo(b.x - 7, b.y + 4);
			context.fill();
		}
	}

	// Closer than this the page has nothing to show.
	paintCoarse(context, width, height) {
		const {colours} = this.app;
		const seconds = value => (value / 1e9).toFixed(9);
		const note = 'No finer detail in this page: swizzle-dump -f html ' +
			`--from ${seconds(this.from)} --to ${seconds(this.to)}`;
		const room = context.measureText(note).width + 16;

		context.fillStyle = colours.raised;
		context.fillRect(width - room, height - ROW - 4, room, ROW + 4);
		context.fillStyle = colours.text;
		context.fillText(note, width - room + 8, height - ROW / 2 - 2);
	}

	paintLane(context, thread, top, width, height) {
		const {colours} = this.app;
		const folded = this.folded.has(thread.index);
		const {first, last, high} = this.rowsOf(thread);
		const trace = this.viewOf(thread);
		const x0 = this.x(thread.start), x1 = this.x(thread.end);

		context.fillStyle = colours.raised;
		context.fillRect(0, top, width, ROW - 1);
		context.fillStyle = thread.off ? colours.accent : colours.faint;
		context.fillRect(x0, top + ROW - 4, Math.max(x1 - x0, 1), 2);
		if (thread.off)
			this.paintRunning(context, thread.off, top + ROW - 4, width);
		context.fillStyle = colours.text;
		this.boxes.push({item: {thread, at: -1}, fn: -1, x: 0, y: top, width,
			height: ROW});
		const name = `${folded ? '▸' : '▾'} ` + this.app.threadName(thread) +
			(first ? ` · in ${plural(first, 'call')}` : '');

		context.fillText(name, 6, top + ROW / 2 - 1);
		this.paintMarks(context, thread, top, 10 +
			context.measureText(name).width, width);
		this.coarse ||= trace.level && trace.pixel > 1.5 / this.scale &&
			thread.trace.missing;
		for (let row = first; row < Math.min(last, trace.deepest); row++) {
			const y = top + ROW + (row - first) * high;

			if (y > height)
				break;
			if (y > this.lanesTop - high)
				this.paintRow(context, thread, trace, row, y, high);
		}
		if (thread.off)
			this.paintWaiting(context, thread.off, Math.max(top + ROW,
				RULER), Math.min(top + this.laneHeight(thread) -
				LANE_GAP, height), width, top + ROW, high);
	}

	// The marks of a thread and of its process: flags in the head of its lane,
	// with their texts as far as the next one, if these are not over its name.
	paintMarks(context, thread, top, named, width) {
		const {colours} = this.app;
		const {marks} = this.model.profiles[thread.profile];

		for (let i = marks.length - 1, right = width; i >= 0; i--) {
			const [ns, tid, text] = marks[i];
			const x = this.x(thread.offset + ns);

			if ((tid && tid !== thread.tid) || x < 0 || x > right)
				continue;
			context.fillStyle = colours.accent;
			context.fillRect(Math.floor(x), top, 2, ROW - 1);
			if (right - x > 40 && x > named) {
				context.save();
				context.beginPath();
				context.rect(x, top, right - x - 4, ROW);
				context.clip();
				context.fillText(text, x + 5, top + ROW / 2 - 1);
				context.restore();
			}
			right = Math.floor(x);
		}
	}

	// The line under a thread's name is pale as far as the thread did not run.
	paintRunning(context, off, y, width) {
		const pixel = 1 / this.scale;
		const first = firstWhere(0, off.count, i => off.end[i] > this.left);

		if (first === off.count)
			return;
		for (let x = Math.max(0, Math.floor(this.x(off.start[first])));
			x < width; x++) {
			const time = this.left + x * pixel;
			const part = timeWithin(off, time, time + pixel) / pixel;

			if (part <= 0)
				continue;
			context.globalAlpha = Math.min(part, 1);
			context.fillStyle = this.app.colours.raised;
			context.fillRect(x, y, 1, 2);
			context.fillStyle = this.app.colours.faint;
			context.fillRect(x, y, 1, 2);
		}
		context.globalAlpha = 1;
	}

	// Over the boxes of the calls: hatched; of rows with names the lower part,
	// so that these can be read.
	paintWaiting(context, off, top, bottom, width, rows, high) {
		const right = this.left + this.span();
		const strip = Math.min(HATCH, Math.ceil(high / 3));
		let at = firstWhere(0, off.count, i => off.end[i] > this.left);

		if (bottom <= top)
			return;
		context.save();
		context.beginPath();
		for (; at < off.count && off.start[at] < right; at++) {
			const from = Math.max(this.x(off.start[at]), 0);
			const to = Math.min(this.x(off.end[at]), width);

			if (to - from >= 3) {
				if (high < LOWEST_LABEL) {
					context.rect(from, top, to - from, bottom - top);
					continue;
				}
				for (let y = rows + high - strip; y < bottom; y += high)
					if (y >= top)
						context.rect(from, y, to - from, strip - 1);
				continue;
			}
			// narrow ones are in the line above only
			const next = to + 3;

			at = firstWhere(at + 1, off.count, i =>
				this.x(off.end[i]) > next) - 1;
		}
		context.clip();
		context.strokeStyle = this.app.colours.back;
		context.globalAlpha = 0.55;
		context.lineWidth = 2;
		context.beginPath();
		for (let x = top - bottom; x < width; x += 6) {
			context.moveTo(x, bottom);
			context.lineTo(x + bottom - top, top);
		}
		context.stroke();
		context.restore();
	}

	paintRow(context, thread, trace, row, y, high) {
		const {nodes} = thread;
		const {byDepth, start, end, node} = trace;
		const last = trace.rows[row + 1];
		const right = this.left + this.span();
		const pixel = 1 / this.scale;
		let at = firstEndingAfter(trace, row, this.left);
		let run = null; // narrow ones of one colour, next to each other

		const flush = () => {
			if (!run)
				return;
			context.globalAlpha = run.faint ? 0.22 : 1;
			context.fillStyle = run.colour;
			context.fillRect(run.from, y, run.to - run.from,
				high > 5 ? high - 1 : high);
			context.globalAlpha = 1;
			run = null;
		};

		while (at < last && start[byDepth[at]] < right) {
			const i = byDepth[at];
			const from = (start[i] - this.left) * this.scale;
			const to = (end[i] - this.left) * this.scale;

			if (to - from >= 1.5) {
				const fn = nodes.fn[node[i]];

				flush();
				this.box(context, from, y, to - from, fn,
					this.labelOf(trace, i, fn),
					this.isBad(trace, i) ?
						this.app.colours.ofError :
						this.colour(thread, fn),
					{thread, of: trace, at: i}, high);
				this.paintValues(context, thread, trace, i, fn, row,
					from, to, y, high);
				at++;
				continue;
			}
			const cell = Math.floor(from);
			let next = this.gallop(trace, at, last,
				this.left + (cell + 1) * pixel);

			// only the last of them can be wider than that
			if (next > at + 1 && end[byDepth[next - 1]] -
				start[byDepth[next - 1]] >= 1.5 * pixel)
				next--;
			const end1 = Math.max(cell + 1, Math.ceil(
				(end[byDepth[next - 1]] - this.left) * this.scale));

			run = this.extend(run, flush, thread, trace, at, next, cell,
				end1);
			at = next;
		}
		flush();
	}

	isBad({flags}, at) {
		return Boolean(flags[at] & (UNWOUND | ERROR));
	}

	// Behind the name what the call was given and what it returned, where there
	// is room; of what is packed yet at the next drawing.
	paintValues(context, thread, trace, at, fn, row, from, to, y, high) {
		const {values} = thread;
		const left = Math.max(from, -2) + 4;
		const name = this.textWidth(context, this.app.label(fn));
		const room = Math.min(to, this.view().width) - left - name - 10;

		if (!values || room < 30 || high < 14 || this.model.matches ||
			trace.flags[at] & (RUN | CUT) || !values.fits(this.left,
			this.left + this.span()))
			return;
		const ready = () => this.draw();
		const entry = values.now(trace.start[at], row, false, ready);
		const back = values.now(trace.end[at], row, true, ready);
		const result = back && back.find(([name]) => name === 'result');
		const text = (entry ? `(${argumentsText(entry)})` : '') +
			(result ? ` = ${result[1]}` : '');

		if (!text)
			return;
		context.save();
		context.beginPath();
		context.rect(left + name, y, room, high);
		context.clip();
		context.globalAlpha = 0.72;
		context.fillStyle = this.app.colours.label;
		context.fillText(text, left + name, y + high / 2);
		context.restore();
	}

	// A box of several calls has no label: it would be that of one.
	labelOf({level, flags, calls}, at, fn) {
		return level && flags[at] & RUN ? plural(calls[at], 'call') :
			this.app.label(fn);
	}

	// One pixel more, with the activations AT to NEXT.
	extend(run, flush, thread, trace, at, next, from, to) {
		const {matches} = this.model;
		const {nodes} = thread;
		let fn = nodes.fn[trace.node[trace.byDepth[at]]];
		let isFound = false;

		for (let i = at; matches && !isFound && i < Math.min(next, at + 64);
			i++)
			isFound = matches[nodes.fn[trace.node[trace.byDepth[i]]]];
		let isBad = false;

		for (let i = at; !isBad && i < Math.min(next, at + 64); i++)
			isBad = this.isBad(trace, trace.byDepth[i]);
		const colour = isFound ? this.app.colours.found :
			isBad ? this.app.colours.ofError :
				this.colour(thread, fn);
		const faint = Boolean(matches && !isFound);

		if (run && run.colour === colour && run.faint === faint &&
			run.to >= from) {
			run.to = to;
			return run;
		}
		flush();
		return {from, to, colour, faint};
	}

	colour(thread, fn) {
		const {colours} = this.app;

		return colours.mode === 'thread' ? colours.ofThread(thread.index) :
			colours.ofFunction(fn);
	}

	paintRange(context, width, height) {
		const {colours} = this.app;
		const range = this.pending || this.model.range;

		if (!range)
			return;
		const x0 = this.x(range[0]), x1 = this.x(range[1]);

		context.globalAlpha = 0.55;
		context.fillStyle = colours.back;
		context.fillRect(0, RULER, Math.max(x0, 0), height);
		context.fillRect(x1, RULER, Math.max(width - x1, 0), height);
		context.globalAlpha = 0.25;
		context.fillStyle = colours.accent;
		context.fillRect(x0, 0, x1 - x0, RULER);
		context.globalAlpha = 1;
		context.fillRect(x0, 0, 1, height);
		context.fillRect(x1 - 1, 0, 1, height);
	}

	// How deep the calls are in each pixel, all threads one over the other.
	paintMap(context, width, height) {
		const lanes = this.lanes();
		const each = (height - 4) / Math.max(lanes.length, 1);
		const scale = width / (this.extent() || 1);

		context.fillStyle = this.app.colours.accent;
		lanes.forEach((thread, index) => {
			const trace = thread.trace.large ?
				thread.trace.levelFor(1 / scale) : thread.trace;
			const rows = Math.min(trace.deepest, 64);
			const top = 2 + index * each;

			context.globalAlpha = 0.3;
			for (let row = 0; row < rows; row++) {
				const bottom = top + each - 1;
				const part = (each - 1) * (row + 1) / rows;

				this.paintMapRow(context, trace, row, scale,
					bottom - part, part);
			}
		});
		context.globalAlpha = 1;
	}

	paintMapRow(context, trace, row, scale, y, height) {
		const {byDepth, start, end} = trace;
		const {first} = this.model;
		const last = trace.rows[row + 1];
		const x = times => at => (times[byDepth[at]] - first) * scale;
		const begins = x(start), ends = x(end);
		let at = trace.rows[row];

		while (at < last) {
			const from = Math.floor(begins(at));
			let to = Math.max(from + 1, Math.ceil(ends(at)));

			// those that begin no more than a pixel further on
			for (at++; at < last && begins(at) <= to + 1;) {
				at = this.gallop(trace, at, last,
					first + (to + 1) / scale);
				to = Math.max(to + 1, Math.ceil(ends(at - 1)));
			}
			context.fillRect(from, y, to - from, height);
		}
	}
}

// A time on the ruler, as exact as the steps are.
function tick(ns, step) {
	const [unit, name] = UNITS.find(([size]) => ns >= size) ||
		UNITS[UNITS.length - 1];
	const digits = Math.max(0, Math.min(9, Math.ceil(
		Math.log10(unit / step) - 1e-9)));

	return ns ? (ns / unit).toFixed(digits) + '\u202f' + name : '0';
}
