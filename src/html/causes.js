// The tree of calls with work for another thread below the call that posted it,
// as swizzle-dump --causes has it (src/profile/costs/causes.c): events of all
// threads are read in the order of time, and each thread has a cause, or none.

const NO_WORK = new Set(['pthread_mutex_unlock', 'thread', 'process']);
const STARTED = new Set(['thread', 'process', 'exec']);

const startsWork = end => STARTED.has((end.wakes ? end.other : end).name);

// The events of all threads are there, and what woke what.
function knowsCauses(model) {
	return Boolean(model.flows) && !model.comparison &&
		model.threads.every(({trace}) => trace && !trace.large);
}

class CausedTree {
	constructor(model) {
		this.model = model;
		this.tree = {count: 0};
		for (const key of ['parent', 'fn', 'thread', 'folded', 'caused',
			'calls', 'self', 'failed', 'waiting'])
			this.tree[key] = [];
		this.index = new Map();
		this.causes = []; // {at, walker, outer, starts}
		this.causeIndex = new Map();
		this.posted = new Map(); // by the end that posts
		this.root = this.add(0, -1, -1);
		this.walkers = model.shownThreads().map(thread =>
			this.walkerOf(thread));
	}

	add(parent, fn, thread, folded = 0, caused = 0) {
		const {tree} = this;
		const values = {parent, fn, thread, folded, caused, calls: 0,
			self: 0, failed: 0, waiting: 0};

		for (const [key, value] of Object.entries(values))
			tree[key].push(value);
		return tree.count++;
	}

	child(parent, fn, folded, caused) {
		const key = parent * 2 ** 26 + fn * 4 + folded * 2 + caused;

		if (!this.index.has(key))
			this.index.set(key, this.add(parent, fn, 0, folded, caused));
		return this.index.get(key);
	}

	walkerOf(thread) {
		const {model} = this;
		const [from, to] = model.range || [-Infinity, Infinity];
		const home = model.byThread ? this.add(this.root, -1,
			thread.index) : this.root;

		const walker = {thread, trace: thread.trace, home, cause: -1,
			received: -1, before: -1, stack: [], next: 0, now: thread.start,
			from, to, parts: new Map(), at: 0,
			flows: model.flows.byThread[thread.index].filter(end =>
				!NO_WORK.has((end.wakes ? end : end.other).name))};

		walker.base = {cause: -1, placed: home,
			time: this.part(walker, 0, home)};
		return walker;
	}

	// What of a node of the thread lies at a place of the tree.
	part(walker, own, at) {
		const key = own * 2 ** 26 + at;

		if (!walker.parts.has(key))
			walker.parts.set(key, {own, at, calls: 0, failed: 0, raw: 0});
		return walker.parts.get(key);
	}

	// ---- frames ----

	frame(walker, depth) {
		return depth ? walker.stack[depth - 1] : walker.base;
	}

	// Where a folded call goes on, unless that lies beyond its cause.
	foldedInto(at, fn) {
		while (at !== this.root && this.tree.fn[at] !== fn)
			at = this.tree.parent[at];
		return at;
	}

	place(walker, frame, depth, cause) {
		const {nodes} = walker.thread;
		const above = this.frame(walker, depth);
		const fn = nodes.fn[frame.own];
		const context = nodes.context[frame.own];
		let up = this.root, at;

		frame.pending = false;
		frame.cause = cause;
		if (cause >= 0 && above.cause !== cause) {
			at = this.child(this.causes[cause].at, fn, 0, 1);
		} else {
			if (nodes.folded[frame.own])
				up = this.foldedInto(above.placed, fn);
			at = this.child(above.placed, fn, up === this.root ? 0 : 1, 0);
		}
		frame.placed = up === this.root ? at : up;
		frame.calls = this.part(walker, frame.own, at);
		frame.time = this.part(walker, context, frame.placed);
	}

	within(walker, from, to) {
		return Math.max(0, Math.min(to, walker.to) -
			Math.max(from, walker.from));
	}

	spend(walker, time) {
		const top = this.frame(walker, walker.stack.length);

		if (time <= walker.now)
			return;
		if (!top.pending)
			top.time.raw += this.within(walker, walker.now, time);
		walker.now = time;
	}

	settle(walker, depth, cause) {
		const top = walker.stack[walker.stack.length - 1];
		const {start, flags} = walker.trace;

		this.place(walker, top, depth, cause);
		top.time.raw += this.within(walker, start[top.i], walker.now);
		if (!(flags[top.i] & NO_CALL) && start[top.i] >= walker.from &&
			start[top.i] < walker.to)
			top.calls.calls++;
	}

	begin(walker) {
		const {trace, stack, next: i} = walker;

		this.spend(walker, trace.start[i]);
		stack.push({i, own: trace.node[i], pending: true,
			cause: walker.cause});
		walker.next++;
		if (walker.next < trace.count && trace.depth[walker.next] >
			trace.depth[i])
			this.settle(walker, stack.length - 1, walker.cause);
	}

	// A call that has received the next cause is not for the one before.
	end(walker) {
		const {trace, stack} = walker;
		const top = stack[stack.length - 1];
		const time = trace.end[top.i];
		let depth = stack.length - 1;

		this.spend(walker, time);
		if (top.pending) {
			let {cause} = top;

			if (walker.received === time && cause >= 0 &&
				!this.causes[cause].starts) {
				while (depth && stack[depth - 1].cause === cause &&
					trace.start[stack[depth - 1].i] >= walker.before)
					depth--;
				({cause} = this.frame(walker, depth));
			}
			this.settle(walker, depth, cause);
		}
		if (trace.flags[top.i] & (UNWOUND | ERROR) &&
			time >= walker.from && time < walker.to)
			top.calls.failed++;
		stack.pop();
	}

	// ---- causes ----

	post(walker, end) {
		const {stack} = walker;
		const top = stack[stack.length - 1];

		if (!top)
			return;
		this.spend(walker, end.time);
		if (top.pending)
			this.settle(walker, stack.length - 1, top.cause);
		const cause = {at: top.placed, walker, outer: top.cause,
			starts: startsWork(end)};
		const key = `${cause.at} ${cause.outer} ${cause.starts} ` +
			walker.thread.index;

		if (!this.causeIndex.has(key))
			this.causeIndex.set(key, this.causes.push(cause) - 1);
		this.posted.set(end, this.causeIndex.get(key));
	}

	receive(walker, end) {
		const cause = this.posted.get(end.other);
		let at = cause;

		if (cause === undefined || this.causes[cause].walker === walker)
			return;
		for (; at >= 0 && !this.causes[at].starts; at = this.causes[at].outer)
			if (this.causes[at].walker === walker) {
				walker.cause = this.causes[at].outer;
				return;
			}
		walker.cause = cause;
		walker.before = walker.received;
		walker.received = end.time;
	}

	// ---- all threads, in the order of time ----

	flowTime(walker) {
		const end = walker.flows[walker.at];

		return !end ? Infinity :
			!end.wakes && startsWork(end) ? walker.thread.start : end.time;
	}

	eventTime({trace, stack, next}) {
		const top = stack[stack.length - 1];

		return top && (next >= trace.count || trace.depth[next] <=
			trace.depth[top.i]) ? trace.end[top.i] :
			next < trace.count ? trace.start[next] : Infinity;
	}

	// [when, 1 if it only receives]: what is posted comes first
	nextOf(walker) {
		const flow = this.flowTime(walker), event = this.eventTime(walker);

		return flow <= event ? [flow, walker.flows[walker.at] &&
			!walker.flows[walker.at].wakes ? 1 : 0] : [event, 0];
	}

	step(walker) {
		const {stack, trace, next} = walker;
		const top = stack[stack.length - 1];

		if (this.flowTime(walker) <= this.eventTime(walker)) {
			const end = walker.flows[walker.at++];

			if (end.wakes)
				this.post(walker, end);
			else
				this.receive(walker, end);
		} else if (top && (next >= trace.count || trace.depth[next] <=
			trace.depth[top.i])) {
			this.end(walker);
		} else {
			this.begin(walker);
		}
	}

	walk() {
		const heap = this.walkers.map(walker => ({walker,
			next: this.nextOf(walker)}));
		const before = (a, b) => a.next[0] - b.next[0] ||
			a.next[1] - b.next[1];

		// (there are few threads, and mostly one of them goes on)
		while (heap.length) {
			heap.sort(before);
			const [first, second] = heap;

			do {
				if (first.next[0] === Infinity) {
					heap.shift();
					break;
				}
				this.step(first.walker);
				first.next = this.nextOf(first.walker);
			} while (!second || before(first, second) <= 0);
		}
	}

	// ---- sums ----

	// A node's costs go to its parts by their raw times; what no event tells
	// stays below its callers.
	distribute(walker) {
		const {nodes} = walker.thread.part;
		const {tree} = this;
		const waits = this.model.timeKind && this.model.timeKind !== 'running' ?
			nodes.waiting : null;
		const raw = new Float64Array(nodes.count);
		const done = new Float64Array(nodes.count);
		const left = {};

		for (const key of ['calls', 'self', 'failed'])
			left[key] = Float64Array.from(nodes[key] || raw);
		left.waiting = Float64Array.from(waits || raw);
		for (const part of walker.parts.values())
			raw[part.own] += part.raw;
		for (const {own, at, calls, failed, raw: own_raw} of
			walker.parts.values()) {
			const share = done[own] + own_raw;
			const give = (key, all) => {
				const some = !raw[own] ? 0 : Math.round(all * share /
					raw[own]) - Math.round(all * done[own] / raw[own]);

				tree[key][at] += some;
				left[key][own] -= some;
			};

			give('self', nodes.self[own]);
			if (waits)
				give('waiting', waits[own]);
			done[own] = share;
			for (const [key, some] of [['calls', calls],
				['failed', nodes.failed ? failed : 0]]) {
				tree[key][at] += some;
				left[key][own] -= some;
			}
		}
		this.putRest(walker, left);
	}

	putRest({thread, home}, left) {
		const {nodes} = thread;
		const homes = new Map([[0, home]]);
		const homeOf = own => {
			if (!homes.has(own))
				homes.set(own, this.child(homeOf(nodes.parent[own]),
					nodes.fn[own], nodes.folded[own], 0));
			return homes.get(own);
		};

		for (let own = 0; own < nodes.count; own++)
			for (const [key, list] of Object.entries(left))
				if (list[own] > 0)
					this.tree[key][homeOf(own)] += list[own];
	}

	make() {
		const {tree} = this;

		this.walk();
		for (const walker of this.walkers)
			this.distribute(walker);
		for (const [key, type] of [['parent', Uint32Array], ['fn', Int32Array],
			['thread', Int32Array], ['folded', Uint8Array],
			['caused', Uint8Array], ['calls', Float64Array],
			['self', Float64Array], ['failed', Float64Array],
			['waiting', Float64Array]])
			tree[key] = type.from(tree[key]);
		tree.total = new Float64Array(tree.count);
		return tree;
	}
}
