// Calls that have a band of their own above the lanes: those that print lines,
// and those that the configuration gives one.

const MOST_BAND_ROWS = 6; // of threads
const BAND_GAP = 5;
const BAND_SHARE = 0.5; // of the chart's height, at most

// The bands of a thread: {band, thread, node, row, start, end, text}, in the
// order of time.
function readBands(bytes, thread) {
	const {offset, nsPerTick} = thread;
	const reader = new Reader(bytes);
	const calls = [];
	let ticks = 0;

	for (let left = reader.number(); left; left--) {
		const band = reader.number();

		ticks += reader.number();
		const start = offset + ticks * nsPerTick;
		const end = offset + (ticks + reader.number()) * nsPerTick;

		calls.push({thread, band, start, end, node: reader.number(),
			row: reader.number(), text: band ? '' : reader.string()});
	}
	return calls;
}

class Band {
	constructor(name, index, calls) {
		this.name = name;
		this.prints = !index;
		this.calls = calls;
		this.threads = [...new Set(calls.map(({thread}) => thread))];
	}

	// How many rows of boxes it has: one for each thread, as far as there is
	// room.
	get rows() {
		return this.prints ? 1 : Math.min(this.threads.length,
			MOST_BAND_ROWS);
	}

	get height() {
		return ROW * (1 + this.rows) + BAND_GAP;
	}

	rowOf({thread}) {
		return this.prints ? 0 : this.threads.indexOf(thread) % this.rows;
	}

	get title() {
		return this.prints ? `printed lines · ${grouped(this.calls.length)}` :
			`${this.name} · ${plural(this.calls.length, 'call')}`;
	}
}

// The bands of the threads that are shown.
function bandsOf(model) {
	const names = model.description.bands || [];
	const byBand = names.map(() => []);

	for (const {bands} of model.shownThreads())
		for (const call of bands || [])
			byBand[call.band].push(call);
	return byBand.map((calls, index) => new Band(names[index], index,
		calls.sort((a, b) => a.start - b.start)))
		.filter(({calls}) => calls.length);
}

// A printed line, where there is one row for it.
function inOneRow(text) {
	return text.replace(/\s*\n\s*/g, ' ⏎ ');
}

// Paints the bands of a timeline, and finds what lies at a point.
class BandPainter {
	constructor(timeline) {
		this.timeline = timeline;
		this.key = null;
	}

	// As many as there is room for.
	get bands() {
		const {model} = this.timeline;
		const {height} = this.timeline.view();
		const key = model.threads.map(({shown}) => Number(shown)).join('') +
			` ${height}`;

		if (this.key === key)
			return this.shown;
		const all = bandsOf(model);
		let room = height * BAND_SHARE;

		this.key = key;
		this.shown = all.filter(band => (room -= band.height) > 0);
		this.left = all.length - this.shown.length;
		return this.shown;
	}

	get height() {
		return this.bands.reduce((sum, band) => sum + band.height, 0);
	}

	paint(context, width) {
		const {colours} = this.timeline.app;
		let top = RULER;

		context.fillStyle = colours.back;
		context.fillRect(0, top, width, this.height);
		for (const band of this.bands) {
			context.fillStyle = colours.raised;
			context.fillRect(0, top, width, ROW - 1);
			context.fillStyle = colours.text;
			context.fillText(band.title + (band === this.bands.at(-1) &&
				this.left ? ` (no room for ${plural(this.left,
					'band')} more)` : ''), 6, top + ROW / 2 - 1);
			if (band.prints)
				this.paintLines(context, band, top + ROW, width);
			else
				this.paintCalls(context, band, top + ROW);
			top += band.height;
		}
		if (this.bands.length) {
			context.fillStyle = colours.line;
			context.fillRect(0, top - 2, width, 1);
		}
	}

	// A flag for each, with its text as far as the next one.
	paintLines(context, {calls}, top, width) {
		const {timeline} = this;
		const {colours} = timeline.app;
		const past = timeline.left + timeline.span();
		let right = width;

		for (let i = firstWhere(0, calls.length, at =>
			calls[at].start > past) - 1; i >= 0; i--) {
			const {thread, node, start, text} = calls[i];
			const x = Math.floor(timeline.x(start));
			const room = right - x - 6;

			if (x >= right)
				continue;
			context.fillStyle = timeline.model.threads.length > 1 ?
				colours.ofThread(thread.index) : colours.accent;
			context.fillRect(x, top + 1, 2, ROW - 3);
			context.fillStyle = colours.text;
			if (room > 12)
				this.paintText(context, inOneRow(text), Math.max(x, 0) + 5,
					top + ROW / 2, right - Math.max(x, 0) - 9);
			timeline.boxes.push({item: {thread, at: -2, call: calls[i]},
				fn: thread.nodes.fn[node], x: Math.max(x, 0), y: top,
				width: Math.max(right - Math.max(x, 0) - 2, 2),
				height: ROW});
			if (x < 0)
				break;
			right = x;
		}
	}

	paintText(context, text, x, y, room) {
		if (room < 12)
			return;
		context.save();
		context.beginPath();
		context.rect(x, y - ROW / 2, room, ROW);
		context.clip();
		context.fillText(text.slice(0, 4 + room / 3), x, y);
		context.restore();
	}

	paintCalls(context, band, top) {
		const {timeline} = this;
		const past = timeline.left + timeline.span();
		const last = new Array(band.rows).fill(-1); // pixel, of each row

		for (const call of band.calls) {
			if (call.start > past)
				break;
			const row = band.rowOf(call);
			const from = timeline.x(call.start);
			const to = timeline.x(call.end);

			// (what is narrower than a pixel is drawn once for it)
			if (to < 0 || (to - from < 1 && Math.floor(to) <= last[row]))
				continue;
			last[row] = Math.floor(to);
			const fn = call.thread.nodes.fn[call.node];

			timeline.box(context, from, top + row * ROW,
				Math.max(to - from, 1), fn, timeline.app.label(fn),
				timeline.colour(call.thread, fn),
				{thread: call.thread, at: -2, call});
		}
	}

	// An item of the timeline, or null.
	at(x, y) {
		const {timeline} = this;
		const time = timeline.time(timeline.toValue(x));
		const slack = 2 * timeline.span() / timeline.view().width;
		let top = RULER;

		for (const band of this.bands) {
			const row = Math.floor((y - top) / ROW) - 1;

			if (y >= top + band.height) {
				top += band.height;
				continue;
			}
			const {calls} = band;
			let i = row < 0 || row >= band.rows ? 0 : firstWhere(0,
				calls.length, at => calls[at].start > time + slack);

			while (i-- > 0) {
				const call = calls[i];

				if (band.prints || (band.rowOf(call) === row &&
					call.end >= time - slack))
					return {thread: call.thread, at: -2, call};
			}
			return null;
		}
		return null;
	}
}
