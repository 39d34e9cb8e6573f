// The views show costs of functions, calls between them and the merged context
// tree, summed over the threads that are shown.

const OUTSIDE = 0; // function: time outside of all hooked ones
const UNKNOWN = 1; // function: a caller that is not known
const UNTRACED = 2; // function: time of which the trace holds no events

// Time that is no function's.
const isNoCall = fn => fn === OUTSIDE || fn === UNTRACED;

class Model {
	constructor(data) {
		Object.assign(this, data);
		this.profiles = this.description.profiles;
		this.estimated = Boolean(this.description.boundNs) ||
			this.profiles.some(profile =>
				profile.sampled || profile.holdsSamples);
		this.sampled = this.profiles.some(profile => profile.sampled);
		// what is counted: calls, or samples (-m sample), which are not mixed
		this.holdsSamples = this.profiles.some(profile =>
			profile.holdsSamples);
		// (nothing was hooked)
		if (this.holdsSamples)
			this.description.compensated = false;
		this.one = this.holdsSamples ? 'sample' : 'call';
		this.many = this.holdsSamples ? 'Samples' : 'Calls';
		setLeastTime(this.description.boundNs || 0);
		// functions whose calls were not recorded
		this.uncounted = new Set(this.description.uncounted);
		this.byThread = this.threads.length > 1;
		this.comparison = this.description.comparison ?
			new Comparison(this) : null;
		this.matches = null; // by function: found by the search
		this.byCause = false; // the tree has work below what posted it
		this.selected = -1;  // function
		this.range = null;   // [from, to]: what is counted
		this.traced = this.threads.some(thread => thread.trace);
		// the beginning and the end of everything
		this.first = Math.min(...this.threads.map(thread => thread.start));
		this.last = Math.max(...this.threads.map(thread => thread.end));
		this.update();
		this.mostCalls = this.sums.calls.reduce((a, b) => Math.max(a, b), 0);
	}

	// The number of calls, as it is shown.
	callsText(fn, calls) {
		// where edges were counted, a context that has time has no count
		return this.uncounted.has(fn) ||
			!calls && this.description.callsByEdge ? '–' : grouped(calls);
	}

	// The cost of the hooks of a profile's calls, ns; 0 if it is not
	// subtracted.
	costOf(profile) {
		const {compensated} = this.description;

		const ns = cost => compensated ? cost / 1024 *
			profile.clockNs / profile.clockTicks : 0;

		return {
			compensated,
			inside: ns(profile.costInside),
			outside: ns(profile.costOutside),
		};
	}

	// Time in which threads ran or waited, it is not known which: of whole
	// threads only.
	unknown() {
		return this.countedThreads().reduce((sum, {part}) =>
			sum + (part.unknownNs || 0), 0);
	}

	// The threads that count and were there in the range.
	countedThreads() {
		return this.shownThreads().filter(thread => !thread.part.absent);
	}

	shownThreads() {
		return this.threads.filter(thread => thread.shown);
	}

	moduleName(fn) {
		const module = this.catalog.module[fn];

		return module < 0 ? '' : this.catalog.modules[module].name;
	}

	modulePath(fn) {
		const module = this.catalog.module[fn];

		return module < 0 ? '' : this.catalog.modules[module].path;
	}

	// "file.c:12", or "" where that is not known
	source(fn, whole) {
		const {file, line} = this.catalog;

		if (!file[fn])
			return '';
		return (whole ? file[fn] : baseName(file[fn])) +
			(line[fn] ? ':' + line[fn] : '');
	}

	placeText(place, whole) {
		const {place: places, strings} = this.catalog;
		const file = strings[places.file[place]];

		if (!file)
			return '';
		const inlined = strings[places.inlined[place]];

		return (whole ? file : baseName(file)) +
			(places.line[place] ? ':' + places.line[place] : '') +
			(inlined ? ' in ' + inlined : '');
	}

	// Chooses the time that counts: 'running', 'waiting' or 'both'.
	useTime(kind) {
		this.timeKind = kind;
		for (const thread of this.threads) {
			useTime(thread, kind);
			if (thread.part !== thread)
				useTime(thread.part, kind);
		}
		this.update();
	}

	// To be called when other threads are shown, or another time range.
	update() {
		for (const thread of this.threads)
			this.findPart(thread);
		this.sumFunctions();
		this.tree = mergeTrees(this);
		this.ups = null;
		if (this.comparison)
			this.comparison.update();
	}

	// Large traces are counted before update(): this takes time, of which SAY
	// is told the part that is done. False: another range was chosen meanwhile.
	async countLarge(say) {
		const {range} = this;
		const large = range ? this.largeThreads() : [];
		const wanted = () => this.range === range;

		for (const [i, thread] of large.entries()) {
			const part = await rangeOfLarge(thread, ...range,
				this.costOf(this.profiles[thread.profile]), wanted,
				done => say((i + clamp(done, 0, 1)) / large.length));

			if (!part || !wanted())
				return false;
			thread.part = part;
			thread.partKey = range.join();
		}
		return true;
	}

	// Those of which a range takes long to count: by events, not samples.
	largeThreads() {
		return this.threads.filter(({trace, samples}) => trace &&
			trace.large && !samples);
	}

	// True if the events of a range are there.
	canCount(range) {
		return this.largeThreads().every(({trace}) => trace.has(
			trace.blockAt(range[0]), trace.blockAt(range[1])));
	}

	// thread.part: what counts of a thread.
	findPart(thread) {
		const key = this.range && thread.trace ? this.range.join() : '';

		// (what is not counted yet comes later)
		if (thread.part && (thread.partKey === key || key &&
			thread.trace.large && !thread.samples))
			return;
		thread.partKey = key;
		// (a thread's totalNs and rawNs are those of all its time)
		thread.part = !key ? thread :
			thread.samples ? rangeOfSamples(thread, ...this.range) :
			rangeOf(thread, ...this.range,
				this.costOf(this.profiles[thread.profile]));
		if (thread.part !== thread && this.timeKind)
			useTime(thread.part, this.timeKind);
	}

	sumFunctions() {
		const count = this.catalog.count;
		const sums = {
			present: new Uint8Array(count),
			calls: new Float64Array(count),
			self: new Float64Array(count),
			incl: new Float64Array(count),
			min: new Float64Array(count),
			max: new Float64Array(count),
			unwound: new Float64Array(count),
			variance: new Float64Array(count),
			waiting: new Float64Array(count),
		};

		// (of a range of a trace it is not known)
		this.knowsWaiting = this.shownThreads().some(({part}) =>
			part.rows.waiting);
		this.total = 0;
		this.waiting = 0;
		this.ran = 0;
		this.calls = 0;
		this.raw = this.countedThreads().reduce((sum, {part}) =>
			sum + part.rawNs, 0);
		for (const {part: {rows}} of this.shownThreads())
			for (let i = 0; i < rows.count; i++) {
				const fn = rows.fn[i];

				sums.present[fn] = 1;
				sums.calls[fn] += rows.calls[i];
				sums.self[fn] += rows.self[i];
				sums.incl[fn] += rows.incl[i];
				sums.unwound[fn] += rows.unwound[i];
				sums.variance[fn] += rows.variance[i];
				if (rows.waiting)
					sums.waiting[fn] += rows.waiting[i];
				if (rows.waiting)
					this.waiting += rows.waitingSelf[i];
				this.ran += rows.waiting ? rows.ran[0][i] :
					rows.self[i];
				if (rows.min[i] && (!sums.min[fn] ||
					rows.min[i] < sums.min[fn]))
					sums.min[fn] = rows.min[i];
				if (rows.max[i] > sums.max[fn])
					sums.max[fn] = rows.max[i];
				this.total += rows.self[i];
				this.calls += rows.calls[i];
			}
		this.sums = sums;
		this.functions = [];
		for (let fn = 0; fn < count; fn++)
			if (sums.present[fn] && fn !== UNKNOWN &&
				!((this.holdsSamples || leastTime) && fn === OUTSIDE))
				this.functions.push(fn);
	}

	// How many calls of a function took how long: [[ns, calls]...] of the
	// threads that are shown, the shortest first.
	timesOf(fn) {
		const sums = new Map();

		for (const {part} of this.shownThreads())
			for (const [ns, calls] of part.times?.get(fn) || [])
				sums.set(ns, (sums.get(ns) || 0) + calls);
		return [...sums].sort((a, b) => a[0] - b[0]);
	}

	// The calls of a function, by callee and place.
	*calledFrom(fn) {
		for (const {part: {edges}} of this.shownThreads())
			for (let i = 0; i < edges.count; i++)
				if (edges.caller[i] === fn)
					yield {callee: edges.callee[i],
						place: edges.place[i],
						calls: edges.calls[i],
						incl: edges.incl[i]};
	}

	// The callers (or callees) of a function, most time first.
	neighbours(fn, ofCallees) {
		const found = new Map();

		for (const {part: {edges}} of this.shownThreads())
			for (let i = 0; i < edges.count; i++) {
				if ((ofCallees ? edges.caller[i] :
					edges.callee[i]) !== fn)
					continue;
				const other = ofCallees ? edges.callee[i] :
					edges.caller[i];
				let entry = found.get(other);

				if (!entry) {
					entry = {fn: other, calls: 0, incl: 0,
						oldIncl: 0,
						places: new Map()};
					found.set(other, entry);
				}
				entry.calls += edges.calls[i];
				entry.incl += edges.incl[i];
				if (edges.oldIncl)
					entry.oldIncl += edges.oldIncl[i];
				entry.places.set(edges.place[i],
					(entry.places.get(edges.place[i]) || 0) +
					edges.calls[i]);
			}
		return [...found.values()].filter(entry =>
			entry.fn !== UNKNOWN || !ofCallees)
			.sort((a, b) => b.incl - a.incl || b.calls - a.calls);
	}

	search(query) {
		const wanted = query.trim().toLowerCase();

		if (!wanted) {
			this.matches = null;
			return;
		}
		this.matches = new Uint8Array(this.catalog.count);
		for (let fn = 0; fn < this.catalog.count; fn++) {
			const name = this.catalog.name[fn].toLowerCase();

			// C++ names have colons of their own
			this.matches[fn] = name.includes(wanted) ||
				(this.moduleName(fn).toLowerCase() + ':' + name)
					.includes(wanted) ? 1 : 0;
		}
	}
}
