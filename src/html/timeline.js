// The timeline: what is under the mouse, what a click or a drag does.

class Timeline extends DescribedLanes {
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

	// A drag: from A to B; when it is DONE, what happened then is counted.
	choose(a, b, done) {
		const low = clamp(Math.min(a, b), 0, this.extent());
		const high = clamp(Math.max(a, b), 0, this.extent());

		this.pending = [this.time(Math.round(low)),
			this.time(Math.round(high))];
		this.app.range.show(this.pending);
		if (done) {
			const range = this.pending;

			this.pending = null;
			this.app.range.set(range);
		} else {
			this.draw();
		}
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
		if (best)
			this.show(best);
	}

	// Calls of a function, as far as the events hold them.
	*callsOf(fn) {
		for (const thread of this.lanes()) {
			const {nodes} = thread;
			const [of] = thread.trace.levels || [thread.trace];

			for (let at = 0; at < of.count; at++)
				if (nodes.fn[of.node[at]] === fn &&
					this.isCall({thread, of, at}))
					yield {thread, of, at};
		}
	}

	// The slowest calls of a function, the slowest first: by the time that the
	// timeline and -f calls show, with what the hooks took.
	slowestOf(fn, most) {
		const found = [];

		for (const {thread, of, at} of this.callsOf(fn)) {
			const time = of.end[at] - of.start[at];

			if (found.length === most && time <= found[most - 1].time)
				continue;
			found.push({thread, of, at, time});
			found.sort((a, b) => b.time - a.time);
			found.length = Math.min(found.length, most);
		}
		return found;
	}

	// The next call of a function that took so long, after that which was shown
	// last; then the first one again. (What the hooks took is known of each
	// call here, and of their mean where times are counted: so it may be the
	// call whose time is the nearest.)
	revealNext(fn, from, to) {
		const after = this.revealed && this.revealed.fn === fn ?
			this.revealed.start : -Infinity;
		let first = null, next = null, least = Infinity;

		for (const {thread, of, at} of this.callsOf(fn)) {
			const time = this.timeOf(thread, of, at);
			const off = Math.max(0, from - time, time - to);
			const item = {thread, of, at, start: of.start[at]};

			if (off < least) {
				first = next = null;
				least = off;
			}
			if (off > least)
				continue;
			if (!first || item.start < first.start)
				first = item;
			if (item.start > after && (!next || item.start < next.start))
				next = item;
		}
		const found = next || first;

		if (!found)
			return;
		this.revealed = {fn, start: found.start};
		this.show(found);
	}

	// Some of the time around it is shown, too.
	show({thread, of, at}) {
		const {start, end} = of;
		const longest = Math.max(end[at] - start[at], 1);
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

	changed() {
		this.draw();
	}
}
