// The timeline: a lane for each thread, in it a row for each depth of calls, a
// box for each activation. Those narrower than a pixel are drawn as one.

const HATCH = 6; // of a row with a name: what waiting is hatched in
const LANE_GAP = 6;

class Timeline extends Chart {
	constructor(app) {
		super(app);
		this.chooses = true; // a range of time, by a drag
		this.folded = new Set(); // threads, of which the rows are low
		this.pending = null;
		this.rowCache = new Map(); // of folded lanes
		this.bands = new BandPainter(this);
		this.lines = []; // of flows, as they were drawn last
		for (const {trace} of app.model.threads)
			if (trace && trace.large)
				trace.changed = () => this.redraw();
	}

	redraw() {
		this.rowCache.clear();
		this.draw();
	}

	// What a lane is drawn by: a trace, or what stands for a part of it.
	viewOf({trace}) {
		return trace.large ? trace.view(this.time(this.from),
			this.time(this.to), this.span() / this.view().width,
			Math.max(MOST_IN_VIEW / this.lanesInView,
				LEAST_IN_VIEW)) : trace;
	}

	// How many lanes can be seen.
	get lanesInView() {
		let top = this.lanesTop - this.scroll, count = 0;

		for (const thread of this.lanes()) {
			const bottom = top + this.laneHeight(thread);

			count += bottom > this.lanesTop &&
				top < this.view().height;
			top = bottom;
		}
		return Math.max(count, 1);
	}

	// Where the lanes begin, not scrolled.
	get lanesTop() {
		return RULER + this.bands.height;
	}

	// At first, where there is no room for all: an overview.
	begin() {
		if (this.lanes().length > 1 && this.height() > this.view().height)
			this.foldAll(true);
	}

	foldAll(folded) {
		this.folded.clear();
		for (const thread of folded ? this.lanes() : [])
			this.folded.add(thread.index);
		this.draw();
	}

	extent() {
		return this.model.last - this.model.first;
	}

	lanes() {
		return this.model.shownThreads().filter(thread => thread.trace);
	}

	// Folded lanes share the room there is.
	roomOf(thread) {
		const {deepest} = thread.trace;

		if (!this.folded.has(thread.index))
			return ROW * deepest;
		return clamp((this.view().height - this.lanesTop) / this.lanes().length -
			ROW - LANE_GAP, 2 * ROW, ROW * Math.max(deepest, 1));
	}

	// Which rows a lane has, {first, last} (without that), and how high they
	// are. In a folded lane these are the ones in which something happens in
	// the window, and at least the call around that: zoomed in there is room for names.
	rowsOf(thread) {
		const {deepest} = thread.trace;

		if (!this.folded.has(thread.index))
			return {first: 0, last: deepest, high: ROW};
		const key = `${this.from} ${this.to} ${this.view().height}`;
		let rows = this.rowCache.get(thread);

		if (!rows || rows.key !== key) {
			rows = this.rowsInView(thread);
			rows.key = key;
			rows.high = clamp(this.roomOf(thread) /
				Math.max(rows.last - rows.first, 1), 0.4, ROW);
			this.rowCache.set(thread, rows);
		}
		return rows;
	}

	rowsInView(thread) {
		const trace = this.viewOf(thread);
		const {byDepth, start, end} = trace;
		const left = this.time(this.from), right = this.time(this.to);
		let around = 0, last = 0;

		for (; last < trace.deepest; last++) {
			const at = firstEndingAfter(trace, last, left);
			const i = byDepth[at];

			if (at >= trace.rows[last + 1] || start[i] >= right)
				break;
			if (around === last && start[i] <= left && end[i] >= right)
				around++;
		}
		// (as many of those around as there is room for)
		return {first: clamp(last - Math.floor(this.roomOf(thread) / ROW),
			0, Math.max(0, around - 1)), last};
	}

	laneHeight(thread) {
		return ROW + this.roomOf(thread) + LANE_GAP;
	}

	height() {
		return this.lanes().reduce((sum, thread) => sum +
			this.laneHeight(thread), this.lanesTop);
	}

	// Values count from the beginning of everything.
	time(value) {
		return value + this.model.first;
	}

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
		this.paintRuler(context, width, (at, step) => tick(at, step));
		if (this.model.description.compensated)
			this.paintRulerNote(context, width, 'time with hooks');
		this.paintRange(context, width, height);
		if (this.coarse)
			this.paintCoarse(context, width, height);
	}

	// ---- what woke what ----

	hovered(item) {
		const call = item && item.at >= 0 ? item : null;
		const before = this.call;

		if (!this.model.flows || before === call ||
			(before && call && this.sameItem(before, call)))
			return;
		this.call = call;
		this.draw();
	}

	flowsOf({thread, of, at}) {
		return this.model.flows ? this.model.flows.within(thread,
			of.start[at], of.end[at]) : [];
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
			const part = offWithin(off, time, time + pixel) / pixel;

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

	x(time) {
		return (time - this.left) * this.scale;
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
					this.colour(thread, fn),
					{thread, of: trace, at: i}, high);
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

	// Of several calls in one box the names would be those of one.
	labelOf({level, flags, calls}, at, fn) {
		return level && flags[at] & RUN ? plural(calls[at], 'call') :
			this.app.label(fn);
	}

	// The first activation from AT on that begins at TIME or later.
	gallop(trace, at, last, time) {
		const {byDepth, start} = trace;
		let step = 1;

		while (at + step < last && start[byDepth[at + step]] < time)
			step *= 2;
		return firstStartingAt(trace, at + (step >> 1) + (step > 1 ? 0 : 1),
			Math.min(at + step, last), time);
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
		const colour = isFound ? this.app.colours.found :
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

	// ---- the range ----

	// A drag: from A to B; when it is DONE, what happened then is counted.
	choose(a, b, done) {
		const low = clamp(Math.min(a, b), 0, this.extent());
		const high = clamp(Math.max(a, b), 0, this.extent());

		this.pending = [this.time(Math.round(low)),
			this.time(Math.round(high))];
		this.app.showRange(this.pending);
		if (done) {
			const range = this.pending;

			this.pending = null;
			this.app.setRange(range);
		} else {
			this.draw();
		}
	}

	// ---- what is where ----

	laneAt(y) {
		let top = this.lanesTop - this.scroll;

		for (const thread of this.lanes()) {
			const bottom = top + this.laneHeight(thread);

			if (y < bottom) {
				const {first, last, high} = this.rowsOf(thread);
				const row = Math.floor((y - top - ROW) / high);

				return {thread, row: row < 0 ? -1 :
					row + first < last ? row + first :
						thread.trace.deepest};
			}
			top = bottom;
		}
		return null;
	}

	// {thread, of, at}: an activation of a trace or what stands for it, or at -1
	// for the head of a lane; or null.
	at(x, y) {
		if (y >= RULER && y < this.lanesTop)
			return this.bands.at(x, y);
		const lane = y < RULER ? null : this.laneAt(y);

		if (!lane || lane.row >= lane.thread.trace.deepest)
			return null;
		const {thread, row} = lane;

		if (row < 0)
			return {thread, at: -1};
		const trace = this.viewOf(thread);
		const time = this.time(this.toValue(x));
		const slack = 1.5 * this.span() / this.view().width;
		if (row >= trace.deepest)
			return null;
		const at = firstEndingAfter(trace, row, time - slack);

		// the first of those within a pixel or two, or what is there
		for (let i = at; i < Math.min(at + 3, trace.rows[row + 1]); i++) {
			const found = trace.byDepth[i];

			if (trace.start[found] <= time && trace.end[found] >= time)
				return {thread, of: trace, at: found};
		}
		if (at < trace.rows[row + 1] &&
			trace.start[trace.byDepth[at]] <= time + slack)
			return {thread, of: trace, at: trace.byDepth[at]};
		return null;
	}

	sameItem(a, b) {
		return a.thread === b.thread && a.of === b.of && a.at === b.at &&
			a.call === b.call;
	}

	fnOf({thread, of, at, call}) {
		return call ? thread.nodes.fn[call.node] : at < 0 ? -1 : thread.nodes.fn[of.node[at]];
	}

	// A click on the head of a lane folds it; one in a band leads to the call.
	clicked(item, point) {
		if (!item || item.at >= 0)
			return false;
		if (item.call)
			return this.clickedBand(item.call, point);
		const {index} = item.thread;

		if (!this.folded.delete(index))
			this.folded.add(index);
		this.draw();
		return true;
	}

	// One call, not the head of a lane nor several in a pixel.
	isCall(item) {
		return item.at >= 0 && this.fnOf(item) !== UNTRACED &&
			!(item.of.level && item.of.flags[item.at] & RUN);
	}

	clickedBand(call, point) {
		const found = this.findCall(call);

		this.app.select(call.thread.nodes.fn[call.node]);
		if (found)
			this.app.bubble.open(found, point);
		else
			this.zoomTo({thread: call.thread, call});
		return true;
	}

	// The item of a call in a band; null: what is drawn now has no box of it.
	findCall({thread, row, start}) {
		const of = this.viewOf(thread);

		if (row >= of.deepest)
			return null;
		const found = firstStartingAt(of, of.rows[row], of.rows[row + 1],
			start);
		const item = found < of.rows[row + 1] &&
			{thread, of, at: of.byDepth[found]};

		return item && of.start[item.at] === start && this.isCall(item) ?
			item : null;
	}

	zoomTo({thread, of, at, call}) {
		if (call) {
			const margin = Math.max(2 * (call.end - call.start), 1000);

			this.glide(call.start - margin - this.model.first,
				call.end + margin - this.model.first);
		} else if (at < 0)
			this.glide(thread.start - this.model.first,
				thread.end - this.model.first);
		else
			this.glide(of.start[at] - this.model.first,
				of.end[at] - this.model.first);
	}

	// The longest activation of a function.
	reveal(fn) {
		let best = null, longest = -1;

		for (const thread of this.lanes()) {
			const {nodes} = thread;
			const [finest] = thread.trace.levels || [thread.trace];
			const {node, start, end} = finest;

			for (let i = 0; i < finest.count; i++)
				if (nodes.fn[node[i]] === fn &&
					end[i] - start[i] > longest) {
					best = {thread, of: finest, at: i};
					longest = end[i] - start[i];
				}
		}
		if (!best)
			return;
		const {thread, of, at} = best;
		const {start, end} = of;
		let y = this.lanesTop + (1 + rowOf(of, at)) * ROW;

		this.folded.delete(thread.index);
		for (const lane of this.lanes()) {
			if (lane === thread)
				break;
			y += this.laneHeight(lane);
		}
		const {height} = this.view();

		if (y < this.scroll + this.lanesTop || y > this.scroll + height - 2 * ROW)
			this.scrollTo(y - height / 2);
		this.glide(start[at] - this.model.first - 2 * longest,
			end[at] - this.model.first + 2 * longest);
	}

	describeBanded({thread, start, end, node, text, band}) {
		const {catalog, description} = this.model;
		const raw = description.compensated ? ' (with hooks)' : '';
		const fn = thread.nodes.fn[node];

		return {fn, title: band ? catalog.name[fn] : text, rows: [
			[band ? this.model.description.bands[band] :
				`printed by ${catalog.name[fn]}`, ''],
			['thread', this.app.threadName(thread)],
			['at' + raw, duration(start - this.model.first)],
			['time' + raw, duration(end - start)],
		]};
	}

	describe({thread, of, at, call}) {
		if (call)
			return this.describeBanded(call);
		const {compensated} = this.model.description;
		const raw = compensated ? ' (with hooks)' : '';

		if (at < 0)
			return {
				title: this.app.threadName(thread),
				rows: [
					['from' + raw, duration(thread.start -
						this.model.first)],
					['to' + raw, duration(thread.end -
						this.model.first)],
					['activations', grouped(
						thread.trace.count)],
					...(thread.off ? [['did not run', duration(
						offWithin(thread.off, thread.start,
							thread.end))]] : []),
				],
			};
		const trace = of;
		const fn = this.fnOf({thread, of, at});
		const length = trace.end[at] - trace.start[at];

		if (trace.level && trace.flags[at] & RUN)
			return {fn, title: this.app.label(fn), rows: [
				[plural(trace.calls[at], 'call') + ' in this pixel', ''],
				['thread', this.app.threadName(thread)],
				['at' + raw, duration(trace.start[at] -
					this.model.first)],
				['to' + raw, duration(trace.end[at] -
					this.model.first)],
				['the first is', 'the one named here'],
			]};
		const time = this.timeOf(thread, trace, at);
		const rows = [
			[fn === UNTRACED ? 'no events' : 'this call', ''],
			['thread', this.app.threadName(thread)],
			['at' + raw, duration(trace.start[at] -
				this.model.first)],
			['time', duration(time)],
		];
		const self = fn === UNTRACED || trace.level || trace.within &&
			trace.within.has(at) ? null :
			this.selfOf(thread, trace, at);

		if (compensated)
			rows.push(['time with hooks', duration(length)]);
		if (self !== null)
			rows.push(['self', `${duration(self)}, ` +
				percent(self, time)]);
		if (thread.off && fn !== UNTRACED) {
			const off = offWithin(thread.off, trace.start[at],
				trace.end[at]);

			rows.push(['did not run', `${duration(off)}, ` +
				percent(off, length)]);
		}
		rows.push(...flowRows(this.flowsOf({thread, of, at}), this.app));
		if (trace.flags[at] & UNWOUND)
			rows.push(['ended by', 'an exception']);
		if (trace.flags[at] & CUT && fn !== UNTRACED)
			rows.push(['not all of it', 'is in the trace']);
		return {fn, title: this.model.catalog.name[fn], rows};
	}

	cost(thread) {
		return this.model.costOf(this.model.profiles[thread.profile]);
	}

	// Without what the hooks took of it.
	timeOf(thread, trace, at) {
		const cost = this.cost(thread);
		const length = trace.end[at] - trace.start[at];
		const own = trace.flags[at] & NO_CALL ? 0 : cost.inside;
		const hooks = this.fnOf({thread, of: trace, at}) === UNTRACED ?
			untracedCost(thread, length, cost) :
			own + callsWithin(trace, at) *
				(cost.inside + cost.outside);

		return Math.max(0, length - hooks);
	}

	// Less what it called; null where that would take long to add up.
	selfOf(thread, trace, at) {
		const {inside, outside} = this.cost(thread);
		const row = trace.depth[at] + 1;
		let self = trace.end[at] - trace.start[at];

		if (!(trace.flags[at] & NO_CALL))
			self -= inside;
		if (row >= trace.deepest)
			return Math.max(0, self);
		const low = firstEndingAfter(trace, row, trace.start[at]);
		const high = firstStartingAt(trace, low, trace.rows[row + 1],
			trace.end[at]);

		if (high - low > 200000)
			return null;
		for (let i = low; i < high; i++) {
			const called = trace.byDepth[i];

			self -= trace.end[called] - trace.start[called] +
				(trace.flags[called] & NO_CALL ? 0 : outside);
		}
		return Math.max(0, self);
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

	changed() {
		this.draw();
	}
}

// How many calls are around an activation.
function rowOf(trace, at) {
	return trace.depth ? trace.depth[at] :
		firstWhere(0, trace.deepest, row => trace.rows[row + 1] > at);
}

// A time on the ruler, as exact as the steps are.
function tick(ns, step) {
	const [unit, name] = UNITS.find(([size]) => ns >= size) ||
		UNITS[UNITS.length - 1];
	const digits = Math.max(0, Math.min(9, Math.ceil(
		Math.log10(unit / step) - 1e-9)));

	return ns ? (ns / unit).toFixed(digits) + '\u202f' + name : '0';
}
