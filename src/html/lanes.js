// The lanes of the timeline: one for each thread, in it a row for each depth of calls.

const LANE_GAP = 6;

class Lanes extends Chart {
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

	// The view that a lane is drawn by: a trace, or what stands for a part
	// of it.
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

	whyEmpty() {
		return this.lanes().length ? '' : super.whyEmpty() ||
			'No thread is chosen.';
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

	// The rows of a lane, {first, last} (without that), and their height.
	// In a folded lane these are the ones in which something happens in the
	// window, and at least the call around that: zoomed in there is room
	// for names.
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

	x(time) {
		return (time - this.left) * this.scale;
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
}

// How many calls are around an activation.
function rowOf(trace, at) {
	return trace.depth ? trace.depth[at] :
		firstWhere(0, trace.deepest, row => trace.rows[row + 1] > at);
}
