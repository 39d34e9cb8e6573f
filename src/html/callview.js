// The tree of calls, and the chosen one beside it.

const MOST_ROWS = 600000; // browsers have no higher elements
const OPEN_AT_FIRST = 400;
const INDENT = 14, MOST_INDENT = 40;
const MORE = -1; // a row that says that there are more
const CALL_KEYS = [
	['↑ ↓', 'from row to row'],
	['→ ←', 'unfold, fold; to the caller'],
	['/', 'search; Enter and Shift+Enter go through what was found'],
	['X', 'only errors and exceptions'],
	['E, C', 'unfold, fold all'],
	['Esc', 'end the search, then the choice'],
	['T', 'dark or light'],
	['?', 'these keys'],
];

function seconds(ns) {
	return (ns / 1e9).toFixed(6);
}

class CallView {
	constructor(calls) {
		this.calls = calls;
		this.open = new Uint8Array(calls.count);
		this.matches = null; // calls that a search has found, ascending
		this.keep = null; // those and what is around them
		this.folded = new Set(); // of these
		this.chosen = -1;
		this.list = new List($('calls'), [
			{key: 'start', title: 'Start s', width: '92px', align: 'right',
				hint: 'Since the program started'},
			{key: 'time', title: 'Time', width: '82px', align: 'right'},
			{key: 'name', title: 'Call', width: 'minmax(120px, 1fr)'},
		], (call, cells, element) => this.render(call, cells, element), {
			click: (call, index, event) => this.clicked(call, event),
			open: call => this.toggle(call),
			moved: call => call !== MORE && this.choose(call, false),
			key: event => this.treeKey(event),
			tree: true,
			label: 'Calls',
		});
		this.openLevels();
		this.putHeader();
		this.listen();
		this.build();
		this.about();
		this.fromAddress();
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
			span('call-first', flags & FIRST ? `  ← first ${
				calls.text(call, 1).startsWith('!') ? 'left' : 'returned'
			} here` : ''),
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

	// The object of a method: its fields, and which of them the call has changed.
	object(call) {
		const fields = this.calls.fields(call);
		const changed = this.calls.marked(call, 2).match(CHANGED) || [];
		const list = (title, texts) => texts.length ? [
			make('h2', {}, title, make('small', {}, grouped(texts.length))),
			...texts.map(text => make('div', {class: 'field'},
				...this.changes(text)))] : [];

		return [...list('Changed in the call', changed),
			...list('Object', fields)];
	}

	before(space, text) {
		return text && space + text;
	}

	// ---- folding and choosing ----

	toggle(call) {
		if (call === MORE || this.calls.leaf(call))
			return;
		if (!this.keep)
			this.open[call] = this.open[call] ? 0 : 1;
		else if (!this.folded.delete(call))
			this.folded.add(call);
		this.build();
	}

	clicked(call, event) {
		if (call === MORE)
			return;
		if (event.target.classList.contains('fold'))
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

	// ---- the chosen call ----

	link(call) {
		return make('button', {class: 'to-call', 'data-call': call,
			title: this.calls.line(call),
			onclick: () => this.choose(call, true)},
		make('span', {}, this.calls.line(call)),
		make('span', {}, duration(this.calls.time[call])));
	}

	about() {
		if (this.chosen < 0 || this.calls.fn[this.chosen] === THREAD) {
			$('panel').replaceChildren(...this.notes(),
				...this.leftOutIn(this.chosen));
			return;
		}
		const {calls, chosen} = this;
		const flags = calls.flags[chosen];
		const stack = [];

		for (let at = calls.parent[chosen]; at >= 0; at = calls.parent[at])
			stack.push(at);
		const callers = stack.filter(at => calls.fn[at] !== THREAD);
		const figures = [
			['Start', seconds(calls.start[chosen]) + ' s'],
			['Time', duration(calls.time[chosen])],
			callers.length ? ['Of its caller', percent(calls.time[chosen],
				calls.time[callers[0]])] : null,
			['Module', calls.functions[calls.fn[chosen]].module],
			['Thread', calls.name(stack[stack.length - 1])],
		].filter(figure => figure);
		const near = [[-1, 'Previous'], [1, 'Next']].map(([step, title]) =>
			[calls.sameFunction(chosen, step), title]).filter(([call]) =>
			call >= 0).map(([call, title]) => make('button', {
			'data-call': call, onclick: () => this.choose(call, true)},
		`${title} call of it`));

		$('panel').replaceChildren(
			make('h3', {}, calls.name(chosen), this.marked('call-all', '',
				calls.marked(chosen, 0)) || ''),
			make('div', {class: 'values'}, ...this.parts(chosen).slice(1)
				.filter(part => part.className !== 'call-args')
				.map(part => make('div', {}, part))),
			pairs(figures),
			...near,
			...this.object(chosen),
			...this.linksTo('Called by', callers),
			...this.linksTo('Calls', [...calls.children(chosen)]),
			...this.leftOutIn(chosen));
		$('live').textContent = calls.line(chosen) + ', ' +
			duration(calls.time[chosen]) + (flags & EXCEPTIONAL ? ', error' : '');
	}

	linksTo(title, calls) {
		const shown = calls.slice(0, 100);

		return calls.length ? [make('h2', {}, title, make('small', {},
			grouped(calls.length))), ...shown.map(call => this.link(call)),
		calls.length > shown.length ? make('p', {class: 'dim'},
			`${grouped(calls.length - shown.length)} more`) : null]
			.filter(each => each) : [];
	}

	// How to see what was left out of a call.
	leftOutIn(call) {
		const {calls} = this;

		if (call < 0 || !calls.inside[call])
			return [];
		return [make('h2', {}, 'Not in this page'), make('p', {},
			`${plural(calls.inside[call], 'call')} in this one. This shows them:`),
		make('code', {}, `swizzle-dump -f calls-html --from ${
			(Math.floor(calls.start[call] / 1e3) / 1e6).toFixed(6)} --to ${
			(Math.ceil((calls.start[call] + calls.time[call]) / 1e3 + 1) /
				1e6).toFixed(6)} ...`)];
	}

	// What the page holds, and what it does not.
	notes() {
		const {about} = this.calls;
		const lines = [`${plural(about.calls, 'call')} of ${
			plural(about.threads.length, 'thread')}.`];
		const limits = [!about.forRoom && about.leastNs ?
			`shorter than ${duration(about.leastNs)} (--min-time)` : '',
		about.depth ? `more than ${about.depth} deep (-D)` : '',
		about.every > 1 ? `but for one of ${about.every} ` +
			'(--sample-events)' : ''].filter(limit => limit);

		if (about.leftOut && about.forRoom)
			lines.push(`${plural(about.leftOut, 'call')} of ${
				grouped(about.all)} were left out, those shorter than ${
				duration(about.leastNs)}${limits.map(limit => ' or ' + limit)
				.join('')}: a page holds the longest. -n makes it hold more, ` +
				'--from and --to show all of a part of the time.');
		else if (about.leftOut)
			lines.push(`${plural(about.leftOut, 'call')} of ${
				grouped(about.all)} were left out: ${limits.join(', ')}.`);
		if (about.cut)
			lines.push(`${plural(about.cut, 'call')} were left out at the ` +
				'end, as the page was full. -n makes it hold more.');
		if (about.byRules)
			lines.push(`${plural(about.byRules, 'call')} and what they ` +
				'called were left out by only_show_if and depth (--config).');
		if (about.lostValues)
			lines.push(`${plural(about.lostValues, 'time')} arguments or ` +
				'results had no room while recording (--max-size).');
		if (about.nested)
			lines.push(`${plural(about.nested, 'more call')} of the same ` +
				'functions are in this one.');
		return [make('h3', {}, about.number ? `Call ${about.number}` : 'Calls'),
			...lines.map(line => make('p', {}, line)),
			make('p', {class: 'dim'}, 'A click on a call shows it here. ' +
				'Times are raw, with what the hooks took.')];
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

	// ---- the head, and keys ----

	putHeader() {
		const {about} = this.calls;
		const chips = [make('span', {class: 'chip'},
			plural(about.calls, 'call'))];

		$('command').textContent = about.command;
		$('command').title = about.command;
		document.title = about.number ? `${about.number}: calls` :
			`${about.command}: calls`;
		$('all-calls').hidden = !about.number;
		if (about.errors)
			chips.push(make('button', {class: 'chip bad', id: 'errors',
				'aria-pressed': 'false', title: 'Only errors and exceptions',
				onclick: () => this.toggleErrors()},
			plural(about.errors, 'error')));
		if (about.leftOut + about.cut)
			chips.push(make('button', {class: 'chip warn', id: 'left-out',
				onclick: () => this.choose(-1, false)},
			`${grouped(about.leftOut + about.cut)} not shown`));
		$('chips').replaceChildren(...chips);
	}

	markChips() {
		if ($('errors'))
			$('errors').setAttribute('aria-pressed', 'false');
	}

	toggleErrors() {
		if ($('errors').getAttribute('aria-pressed') === 'true') {
			this.endSearch();
			return;
		}
		$('query').value = '';
		$('errors').setAttribute('aria-pressed', 'true');
		this.find(call => this.calls.flags[call] & EXCEPTIONAL);
	}

	listen() {
		wireQuery(text => this.search(text), step => this.nextFound(step),
			() => this.leaveSearch());
		addEventListener('keydown', event => this.key(event));
		addEventListener('hashchange', () => this.fromAddress());
		$('unfold-all').onclick = () => this.setAll(1);
		$('fold-all').onclick = () => this.setAll(0);
		$('theme').onclick = turnTheme;
		this.help = new Help(CALL_KEYS, this.list.grid);
	}

	leaveSearch() {
		this.endSearch();
		this.list.grid.focus();
	}

	key(event) {
		const actions = {
			'/': () => $('query').focus(),
			'?': () => this.help.show(true),
			e: () => this.setAll(1),
			c: () => this.setAll(0),
			t: turnTheme,
			x: () => $('errors') && this.toggleErrors(),
			Escape: () => this.help.shown ? this.help.show(false) :
				this.keep ? this.leaveSearch() : this.choose(-1, false),
		};

		pageKey(event, actions);
	}
}
