// The text about an activation, and what it took.

function samplesText({count, waited}) {
	return grouped(count) + (waited ? `, ${grouped(waited)} waiting` : '');
}

class DescribedLanes extends PaintedLanes {
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
					thread.samples ? ['samples', samplesText(
						thread.samples.within(-Infinity,
							Infinity))] :
						['activations', grouped(
							thread.trace.count)],
					...(thread.off ? [['did not run', duration(
						timeWithin(thread.off, thread.start,
							thread.end))]] : []),
				],
			};
		const trace = of;
		const fn = this.fnOf({thread, of, at});
		const length = trace.end[at] - trace.start[at];

		if (trace.level && trace.flags[at] & RUN)
			return {fn, title: this.app.label(fn), rows: [
				[thread.samples ? 'several in this pixel' :
					plural(trace.calls[at], 'call') +
					' in this pixel', ''],
				['thread', this.app.threadName(thread)],
				['at' + raw, duration(trace.start[at] -
					this.model.first)],
				['to' + raw, duration(trace.end[at] -
					this.model.first)],
				['the first is', 'the one named here'],
			]};
		if (thread.samples)
			return {fn, title: this.model.catalog.name[fn],
				rows: this.sampledRows(thread, trace, at)};
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
			const off = timeWithin(thread.off, trace.start[at],
				trace.end[at]);

			rows.push(['did not run', `${duration(off)}, ` +
				percent(off, length)]);
		}
		rows.push(...flowRows(this.flowsOf({thread, of, at}), this.app));
		if (trace.flags[at] & UNWOUND)
			rows.push(['ended by', 'an exception']);
		if (trace.flags[at] & ERROR)
			rows.push(['returned', 'an error']);
		if (trace.flags[at] & CUT && fn !== UNTRACED)
			rows.push(['not all of it', 'is in the trace']);
		return {fn, title: this.model.catalog.name[fn], rows};
	}

	// A function was there from one sample to another, in one call or in several.
	sampledRows(thread, trace, at) {
		const start = trace.start[at], end = trace.end[at];

		return [
			['by samples', ''],
			['thread', this.app.threadName(thread)],
			['at', duration(start - this.model.first)],
			['time', '≈ ' + duration(end - start)],
			['samples', samplesText(thread.samples.within(start,
				end))],
		];
	}

	cost(thread) {
		return this.model.costOf(this.model.profiles[thread.profile]);
	}

	// How long it was, without swizzle's own work in it.
	lengthOf(thread, trace, at) {
		const start = trace.start[at], end = trace.end[at];

		return end - start - timeWithin(thread.own, start, end);
	}

	// Without what the hooks, and swizzle's own work, took of it.
	timeOf(thread, trace, at) {
		const cost = this.cost(thread);
		const length = trace.end[at] - trace.start[at];
		const own = trace.flags[at] & NO_CALL ? 0 : cost.inside;
		const hooks = this.fnOf({thread, of: trace, at}) === UNTRACED ?
			untracedCost(thread, length, cost) :
			own + callsWithin(trace, at) *
				(cost.inside + cost.outside);

		return Math.max(0, this.lengthOf(thread, trace, at) - hooks);
	}

	// Less what it called; null where that would take long to add up.
	selfOf(thread, trace, at) {
		const {inside, outside} = this.cost(thread);
		const row = trace.depth[at] + 1;
		let self = this.lengthOf(thread, trace, at);

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

			self -= this.lengthOf(thread, trace, called) +
				(trace.flags[called] & NO_CALL ? 0 : outside);
		}
		return Math.max(0, self);
	}
}
