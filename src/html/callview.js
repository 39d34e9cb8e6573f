// The chosen call beside the tree, the head of the page and the keys.

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

class CallView extends CallTree {
	constructor(calls) {
		super(calls);
		this.openLevels();
		this.putHeader();
		this.listen();
		this.build();
		this.about();
		this.fromAddress();
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

	// Notes about what the page holds, and what it does not.
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
				'Times are raw, with the cost of the hooks.')];
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
