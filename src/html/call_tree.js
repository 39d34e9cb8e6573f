// The tree of calls: its rows, what is unfolded, and what a search has found.

const MOST_ROWS = 600000; // browsers have no higher elements
const OPEN_AT_FIRST = 400;
const INDENT = 14, MOST_INDENT = 40;
const MORE = -1; // a row that says that there are more
const RUN_UP = 0.5; // a row of several calls: the first of them, less this

function isCall(row) {
	return row >= 0 && Number.isInteger(row);
}

function seconds(ns) {
	return (ns / 1e9).toFixed(6);
}

class CallTree {
	constructor(calls) {
		this.calls = calls;
		this.open = new Uint8Array(calls.count);
		this.matches = null; // calls that a search has found, ascending
		this.keep = null; // those and what is around them
		this.folded = new Set(); // of these
		this.chosen = -1;
		this.foldRunUps();
		this.list = new List($('calls'), [
			{key: 'start', title: 'Start s', width: '92px', align: 'right',
				drop: 1, hint: 'Since the program started'},
			{key: 'time', title: 'Time', width: '82px', align: 'right'},
			{key: 'name', title: 'Call', width: 'minmax(120px, 1fr)', wants: 200},
		], (call, cells, element) => this.render(call, cells, element), {
			click: (call, index, event) => this.clicked(call, event),
			open: call => this.toggle(call),
			moved: call => isCall(call) && this.choose(call, false),
			key: event => this.treeKey(event),
			tree: true,
			label: 'Calls',
		});
	}

	// As many levels as fit.
	openLevels() {
		const {calls} = this;
		const levels = [];

		for (let call = 0; call < calls.count; call++)
			levels[calls.depth[call]] = (levels[calls.depth[call]] || 0) + 1;
		let rows = 0, depth = 0;

		while (depth < levels.length && rows + levels[depth] <= OPEN_AT_FIRST)
			rows += levels[depth++];
		for (let call = 0; call < calls.count; call++)
			this.open[call] = calls.depth[call] < Math.max(1, depth - 1);
	}

	// What a thread called before main (constructors of libraries) is one row at
	// first: the calls from the first of them to main.
	foldRunUps() {
		const {calls} = this;

		this.runUps = new Map();
		for (const {call: thread} of calls.threads) {
			const children = [...calls.children(thread)];
			const at = children.findIndex(call =>
				calls.name(call) === 'main');

			if (at > 0)
				this.runUps.set(children[0], {main: children[at],
					count: at});
		}
	}

	isOpen(call) {
		return this.keep ? !this.folded.has(call) : this.open[call];
	}

	build() {
		const {calls, keep} = this;
		const rows = [];

		for (let call = 0; call < calls.count;) {
			if (keep && !keep[call]) {
				call = calls.after[call];
				continue;
			}
			if (rows.length === MOST_ROWS) {
				rows.push(MORE);
				break;
			}
			if (!keep && this.runUps.has(call)) {
				rows.push(call - RUN_UP);
				call = this.runUps.get(call).main;
				continue;
			}
			rows.push(call);
			call = this.isOpen(call) ? call + 1 : calls.after[call];
		}
		this.list.set(rows);
		this.list.active = this.chosen < 0 ? -1 : this.indexOf(this.chosen);
		this.list.markActive();
	}

	indexOf(call) {
		const {rows} = this.list;
		const at = firstWhere(0, rows.length, index =>
			rows[index] === MORE || rows[index] >= call);

		return rows[at] === call ? at : -1;
	}

	render(call, cells, element) {
		const [start, time, cell] = cells;

		if (call === MORE) {
			cell.append(make('span', {class: 'call-note'}, 'There are more ' +
				'rows than a browser can hold: fold some calls, or search.'));
			return;
		}
		if (!isCall(call)) {
			const {count} = this.runUps.get(call + RUN_UP);

			cell.classList.add('name');
			cell.style.paddingLeft = 5 + INDENT + 'px';
			start.textContent = seconds(this.calls.start[call + RUN_UP]);
			cell.append(make('span', {class: 'fold',
				'aria-hidden': 'true'}, '▸'), make('span',
				{class: 'call-note'}, `${plural(count, 'call')} before main`));
			element.setAttribute('aria-level', 2);
			element.setAttribute('aria-expanded', false);
			return;
		}
		const {calls} = this;
		const flags = calls.flags[call], thread = calls.fn[call] === THREAD;
		const inner = !calls.leaf(call);

		start.textContent = seconds(calls.start[call]);
		time.textContent = duration(calls.time[call]);
		time.title = grouped(calls.time[call]) + ' ns';
		putBar(time, calls.time[call],
			calls.time[calls.threads[calls.threadOf(call)].call],
			'var(--bar2)');
		cell.classList.add('name');
		cell.style.paddingLeft = 5 + INDENT * Math.min(calls.depth[call],
			MOST_INDENT) + 'px';
		cell.append(make('span', {class: inner ? 'fold' : 'fold leaf',
			'aria-hidden': 'true'}, !inner ? '' : this.isOpen(call) ? '▾' : '▸'),
		...this.parts(call));
		cell.title = calls.line(call);
		element.classList.toggle('thread-row', thread);
		element.classList.toggle('error', Boolean(flags & EXCEPTIONAL));
		element.classList.toggle('match', Boolean(this.matches &&
			this.isMatch(call)));
		element.classList.toggle('selected', call === this.chosen);
		element.setAttribute('aria-level', calls.depth[call] + 1);
		if (inner)
			element.setAttribute('aria-expanded', Boolean(this.isOpen(call)));
	}

	// The call, its result, and where the error comes from.
	parts(call) {
		const {calls} = this;
		const flags = calls.flags[call];
		const span = (kind, text) => text ? make('span', {class: kind}, text) :
			null;
		const colour = calls.fn[call] !== THREAD &&
			calls.functions[calls.fn[call]].colour;

		return [
			span('call-name' + (colour ? ` colour-${colour}` : ''),
				calls.name(call)),
			this.marked('call-args', '', calls.marked(call, 0)),
			span('call-note', flags & CUT ? ' [began before]' : ''),
			span(flags & EXCEPTIONAL ? 'call-result bad' : 'call-result',
				this.before(' ', calls.text(call, 1))),
			this.marked('call-out', '  ', calls.marked(call, 2)),
			span('call-first', flags & FIRST ?
				'  ← ' + calls.text(call, 3) : ''),
			span('call-note', flags & ORIGIN ?
				'  ← ' + calls.text(call, 3) : ''),
			span('call-first', flags & UNLIKE ? '  ← unlike the last that ' +
				'succeeded: ' + calls.text(call, 4) : ''),
			span('call-note', (calls.woken.get(call) || []).map(woken =>
				'  ← ' + woken).join('')),
			span('call-note', calls.inside[call] ? `  + ${
				plural(calls.inside[call], 'call')} not shown` : ''),
		].filter(part => part);
	}

	// A text whose changed parts stand out. Of an object a row has no room for
	// more than these.
	marked(kind, space, text) {
		const short = text.replace(OBJECT, (_, fields) => {
			const changed = fields.match(CHANGED);

			return `{${changed ? changed.join(', ') + ', ' : ''}…}`;
		});

		return text ? make('span', {class: kind}, space,
			...this.changes(short)) : null;
	}

	changes(text) {
		return text.split(CHANGED).map((part, i) => i % 2 ?
			make('span', {class: 'changed'}, part) :
			part.replace(MARKS, ''));
	}

	before(space, text) {
		return text && space + text;
	}

	// ---- folding and choosing ----

	toggle(call) {
		if (!isCall(call)) {
			if (call !== MORE) {
				this.runUps.delete(call + RUN_UP);
				this.build();
			}
			return;
		}
		if (this.calls.leaf(call))
			return;
		if (!this.keep)
			this.open[call] = this.open[call] ? 0 : 1;
		else if (!this.folded.delete(call))
			this.folded.add(call);
		this.build();
	}

	clicked(call, event) {
		if (!isCall(call) || event.target.classList.contains('fold'))
			this.toggle(call);
		else
			this.choose(call, false);
	}

	// Unfolds what is around a call.
	uncover(call) {
		let changed = false;

		for (let at = this.calls.parent[call]; at >= 0;
			at = this.calls.parent[at]) {
			changed = changed || !this.isOpen(at);
			this.open[at] = 1;
			this.folded.delete(at);
		}
		for (const [first, {main}] of this.runUps)
			if (call >= first && call < main) {
				this.runUps.delete(first);
				changed = true;
			}
		if (changed)
			this.build();
	}

	choose(call, reveal) {
		if (reveal) {
			if (this.keep && !this.keep[call])
				this.endSearch();
			this.uncover(call);
		}
		this.chosen = call;
		this.list.refresh();
		if (reveal)
			this.list.activate(this.indexOf(call));
		history.replaceState(null, '', call < 0 ? '#' : '#call=' + call);
		this.about();
	}

	fromAddress() {
		const found = /^#call=(\d+)$/.exec(location.hash);

		if (found && Number(found[1]) < this.calls.count)
			this.choose(Number(found[1]), true);
	}

	setAll(open) {
		if (open)
			this.runUps.clear();
		else
			this.foldRunUps();
		this.open.fill(open);
		this.folded.clear();
		if (!open && this.keep)
			for (const thread of this.calls.threads)
				this.folded.add(thread.call);
		else if (!open)
			for (const thread of this.calls.threads)
				this.open[thread.call] = 1;
		this.build();
	}

	treeKey(event) {
		const call = this.list.rows[this.list.active];

		if (call === undefined || call === MORE)
			return false;
		if (!isCall(call) && event.key !== 'ArrowRight')
			return false;
		if (event.key === 'ArrowRight') {
			if (!this.isOpen(call))
				this.toggle(call);
			else if (!this.calls.leaf(call))
				this.list.move('ArrowDown');
		} else if (event.key === 'ArrowLeft') {
			if (this.isOpen(call) && !this.calls.leaf(call))
				this.toggle(call);
			else if (this.calls.parent[call] >= 0)
				this.choose(this.calls.parent[call], true);
		} else {
			return false;
		}
		return true;
	}

	// ---- search ----

	isMatch(call) {
		const at = firstWhere(0, this.matches.length, index =>
			this.matches[index] >= call);

		return this.matches[at] === call;
	}

	show(matches) {
		const keep = new Uint8Array(this.calls.count);

		for (const call of matches)
			for (let at = call; at >= 0 && !keep[at];
				at = this.calls.parent[at])
				keep[at] = 1;
		this.matches = matches;
		this.keep = keep;
		this.folded.clear();
		this.build();
	}

	endSearch() {
		this.token = null;
		this.matches = this.keep = null;
		this.folded.clear();
		$('query').value = '';
		$('found').textContent = '';
		$('search').classList.remove('active');
		this.markChips();
		if (this.chosen >= 0)
			this.uncover(this.chosen);
		this.build();
		if (this.chosen >= 0)
			this.list.activate(this.indexOf(this.chosen));
	}

	// A new search ends the one that is under way.
	async find(test) {
		const token = this.token = {};
		const {calls} = this;
		const matches = [];

		for (let call = 0; call < calls.count; call++) {
			if (calls.fn[call] !== THREAD && test(call))
				matches.push(call);
			if (call % 20000 === 19999) {
				await pause();
				if (this.token !== token)
					return;
			}
		}
		this.token = null;
		this.show(matches);
		$('found').textContent = grouped(matches.length);
	}

	async search(words) {
		const wanted = words.trim().toLowerCase();

		if (!wanted) {
			this.endSearch();
			return;
		}
		$('search').classList.add('active');
		this.markChips();
		await this.find(call =>
			this.calls.line(call).toLowerCase().includes(wanted));
	}

	nextFound(step) {
		const {matches, chosen} = this;

		if (!matches || !matches.length)
			return;
		const at = firstWhere(0, matches.length, index =>
			step > 0 ? matches[index] > chosen : matches[index] >= chosen);

		this.choose(matches[(step > 0 ? at : at - 1 + matches.length) %
			matches.length], true);
	}
}
