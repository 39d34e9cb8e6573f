// What made a slow call slow: its flame graph beside that of an ordinary call, and
// the causes, as `swizzle-dump --why` tells them (src/profile/formats/calls/why.c).

const MOST_SLOW = 5;           // of a function that are listed in its details
const LEAST_BOX = 0.0015;      // of the width: narrower boxes are left out
const LEAST_EXTRA = 0.01;      // of the difference: what is marked
const LEAST_LABEL = 0.03;      // of the width: narrower ones have no name
const BOX_HEIGHT = 18;
const MOST_STACK = 8;          // functions of a path that are named, the last

const pathText = path => (path.length > MOST_STACK ? '… › ' : '') +
	path.slice(-MOST_STACK).join(' › ');

// A word of a command.
function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word :
		`'${word.replace(/'/g, "'\\''")}'`;
}

// The file of a page, or the folder of all of them.
function inputOf({profiles}) {
	const [{file}] = profiles;

	return profiles.length === 1 ? file :
		file.slice(0, file.lastIndexOf('/') + 1) || './';
}

// {nodes, children}: of each node its children, in the order in which they are
// drawn; ORDER: the same node of the other tree, by which they are sorted.
class WhyTree {
	constructor(nodes, order) {
		this.nodes = nodes;
		this.children = nodes.map(() => []);
		nodes.forEach(({parent}, at) => parent !== null &&
			this.children[parent].push(at));
		for (const list of this.children)
			list.sort((a, b) => order(b) - order(a) ||
				nodes[b].ns - nodes[a].ns);
	}

	pathOf(at) {
		const path = [];

		for (; at !== null; at = this.nodes[at].parent)
			path.unshift(at);
		return path;
	}

	// {at, left, width, row} of what is drawn where ROOT has all of the width.
	boxes(root) {
		const path = this.pathOf(root);
		const found = path.slice(0, -1).map((at, row) => ({at, left: 0,
			width: 1, row, around: true}));
		const whole = this.nodes[root].ns || 1;
		const stack = [{at: root, left: 0, width: 1, row: path.length - 1}];

		while (stack.length) {
			const box = stack.pop();
			let {left} = box;

			found.push(box);
			for (const at of this.children[box.at]) {
				const width = this.nodes[at].ns / whole;

				if (width >= LEAST_BOX)
					stack.push({at, left, width,
						row: box.row + 1});
				left += width;
			}
		}
		return found;
	}
}

class WhyView {
	constructor(app, calls) {
		this.app = app;
		this.calls = calls || [];
		this.entry = null;
		$('why').addEventListener('click', event =>
			event.target === $('why') && this.close());
		$('why').addEventListener('mouseover', event =>
			this.hover(event.target.closest('.why-box')));
	}

	get shown() {
		return this.entry !== null;
	}

	// The slow calls of a function that are explained, the slowest first.
	of(fn) {
		const {model} = this.app;
		const name = model.catalog.name[fn], module = model.moduleName(fn);

		return this.calls.filter(call => call.function === name &&
			call.module === module);
	}

	// ---- the address ----

	get key() {
		return this.entry ? `${this.entry.call}:${this.entry.pattern}` : '';
	}

	showKey(key) {
		const found = this.calls.find(({call, pattern}) =>
			`${call}:${pattern}` === key);

		if (found)
			this.open(found);
		else
			this.close();
	}

	// ---- opening and closing ----

	open(entry) {
		if (!this.shown)
			this.before = document.activeElement;
		this.entry = entry;
		this.read();
		this.zoomed = 0;
		$('why').replaceChildren(make('div', {}, ...this.parts()));
		this.draw();
		this.show(true);
		$('why').focus();
		$('why').scrollTop = 0;
	}

	// False: it was not open.
	close() {
		if (!this.shown)
			return false;
		this.entry = null;
		this.show(false);
		$('why').replaceChildren();
		if (this.before && this.before.isConnected)
			this.before.focus();
		return true;
	}

	// It alone has the focus.
	show(shown) {
		$('why').hidden = !shown;
		for (const part of document.querySelectorAll('body > header, main'))
			part.inert = shown;
		this.app.remember();
	}

	read() {
		const {slow, ordinary} = this.entry;

		this.twins = new Map(); // of the ordinary call's nodes
		slow.tree.forEach((node, at) => node.ordinary !== null &&
			this.twins.set(node.ordinary, at));
		this.slow = new WhyTree(slow.tree, () => 0);
		this.ordinary = ordinary && new WhyTree(ordinary.tree, at =>
			this.twins.has(at) ? slow.tree[this.twins.get(at)].ns : -1);
		this.causes = new Map(); // of the slow call's nodes: their numbers
		this.entry.causes.forEach(({node}, number) => {
			if (node !== undefined && node !== null)
				this.causes.set(node, [...this.causes.get(node) || [],
					number + 1]);
		});
	}

	// ---- its parts ----

	parts() {
		const {entry} = this;

		return [
			make('header', {},
				make('h2', {id: 'why-title'}, 'Why was this call slow?'),
				make('button', {onclick: () => this.close(),
					'aria-label': 'Close', title: 'Close (Esc)'}, '×')),
			make('p', {class: 'why-call'}, entry.slow.call),
			make('p', {class: 'dim'}, `${plural(entry.calls, 'call')}: ` +
				`half took up to ${duration(entry.p50_ns)}, ` +
				`99\u202f% up to ${duration(entry.p99_ns)}`),
			this.others(),
			make('p', {class: 'why-command'}, 'On a terminal: ',
				make('code', {}, this.command())),
			this.causesList(),
			make('div', {class: 'why-flames'},
				this.figure('slow', 'The slow call', entry.slow),
				entry.ordinary && this.figure('ordinary',
					'An ordinary call', entry.ordinary)),
			this.legend(),
		].filter(Boolean);
	}

	command() {
		const {pattern, call} = this.entry;

		return `swizzle-dump --why ${quoted(pattern)} --call ${call} ` +
			quoted(inputOf(this.app.model.description));
	}

	// All slow calls of the rule, of which this is one.
	others() {
		const {entry} = this;
		const all = this.calls.filter(({pattern}) =>
			pattern === entry.pattern);

		return all.length > 1 && make('p', {class: 'why-others',
			role: 'group', 'aria-label': 'Slow calls'},
		...all.map(other => make('button', {
			'aria-pressed': String(other === entry),
			title: `${other.slow.call}: the slow call ${other.call}`,
			onclick: () => this.open(other),
		}, duration(other.slow.ns))));
	}

	causesList() {
		const {entry} = this;
		const extra = entry.extra_ns;
		const rows = entry.causes.map((cause, number) => {
			const {node, text, path = [], longest, until} = cause;
			const stack = cause.until_stack || [];
			const line = [make('b', {class: 'why-number'},
				String(number + 1)),
			make('span', {class: 'why-share'},
				percent(cause.extra_ns, extra)),
			make('span', {class: 'why-time'}, duration(cause.extra_ns)),
			make('span', {class: 'why-text'}, text,
				...[path.length > 1 && pathText(path),
					longest && `the longest: ${longest}`,
					until && `until ${until}` + (stack.length ?
						` [${pathText(stack)}]` : '')]
					.filter(Boolean)
					.map(more => make('small', {}, more)))];

			return make('li', {}, node === undefined || node === null ?
				make('span', {class: 'why-cause'}, ...line) :
				make('button', {class: 'why-cause', title:
					'Show where it is in the flame graphs',
				onclick: () => this.zoom(node)}, ...line));
		});

		if (entry.more_ns > 0)
			rows.push(make('li', {class: 'dim'}, `${duration(
				entry.more_ns)} in ${plural(entry.more_causes,
				'more place')}`));
		return make('section', {'aria-label': 'Causes'},
			make('p', {}, (entry.ordinary ?
				`The slow call takes ${duration(extra)} more, and ` +
				'this is where:' : `All of the call's ${duration(extra)}` +
				' (no other call is there to compare it with):')),
			make('ol', {class: 'why-causes'}, ...rows),
			entry.waiting_known ? null : make('p', {class: 'dim'},
				'Waiting is not told from running: record with --switches'));
	}

	figure(id, title, call) {
		const item = this.itemOf(call);

		return make('figure', {},
			make('figcaption', {}, make('b', {},
				`${title}: ${duration(call.ns)}`), ' ',
			make('span', {class: 'dim'}, `at ${(call.start_ns / 1e9)
				.toFixed(6)} s${call.whole ? '' :
				', of which not all is recorded'} `),
			item && make('button', {class: 'to-source',
				onclick: () => {
					this.close();
					this.app.revealItem(item);
				}}, 'in the timeline')),
			make('div', {id: `why-${id}`, class: 'why-flame', role: 'img',
				'aria-label': `Flame graph: ${call.call}`}));
	}

	legend() {
		const word = (kind, text) => make('span', {}, make('i', {
			class: `why-key ${kind}`}), text);

		return make('p', {class: 'why-legend dim'},
			word('more', 'takes longer than in the ordinary call'),
			word('same', 'about as long'),
			this.entry.ordinary && word('gone', 'only in the ordinary call'),
			word('waits', 'waits'),
			make('span', {}, make('b', {class: 'why-number'}, '1'),
				'a cause'),
			make('span', {}, 'each has the width of its own call; ' +
				'a click on a box shows it in both'));
	}

	// The call in the timeline; null: its events are not in the page.
	itemOf({pid, tid, start_ns}) {
		const {charts: {timeline}, model} = this.app;
		const fn = model.catalog.name.findIndex((name, at) =>
			name === this.entry.function &&
			model.moduleName(at) === this.entry.module);
		let found = null, least = 1e3; // ns: ticks are rounded

		for (const item of timeline ? timeline.callsOf(fn) : []) {
			const off = Math.abs(item.of.start[item.at] - start_ns);

			if (off < least && item.thread.tid === tid &&
				model.profiles[item.thread.profile].pid === pid) {
				found = item;
				least = off;
			}
		}
		return found;
	}

	// ---- the flame graphs ----

	// NODE of the slow call, or of the ordinary one, has all of the width in
	// both; where the other one does not have it the nearest around it has.
	zoom(node, isOrdinary) {
		if (isOrdinary)
			while (!this.twins.has(node))
				node = this.ordinary.nodes[node].parent;
		this.zoomed = isOrdinary ? this.twins.get(node) : node;
		this.draw();
	}

	twinOf(node) {
		const {nodes} = this.slow;

		while (nodes[node].ordinary === null)
			node = nodes[node].parent;
		return nodes[node].ordinary;
	}

	draw() {
		this.fill($('why-slow'), this.slow, this.zoomed, false);
		if (this.ordinary)
			this.fill($('why-ordinary'), this.ordinary,
				this.twinOf(this.zoomed), true);
	}

	fill(root, tree, zoomed, isOrdinary) {
		const boxes = tree.boxes(zoomed);
		const rows = 1 + boxes.reduce((most, {row}) => Math.max(most, row), 0);

		root.replaceChildren(...boxes.map(box =>
			this.box(tree, box, isOrdinary)));
		root.style.height = `${rows * BOX_HEIGHT + 2}px`;
	}

	box(tree, {at, left, width, row, around}, isOrdinary) {
		const node = tree.nodes[at];
		const slow = isOrdinary ? this.twins.get(at) : at;
		const numbers = isOrdinary ? [] : this.causes.get(at) || [];
		const element = make('div', {
			class: `why-box ${this.kindOf(slow)}` +
				(numbers.length ? ' cause' : '') +
				(around ? ' around' : ''),
			title: this.tip(slow, isOrdinary ? at : undefined),
			'data-slow': slow === undefined ? '' : slow,
			onclick: () => this.zoom(at, isOrdinary),
		}, ...numbers.map(number => make('b', {class: 'why-number'},
			String(number))), make('span', {hidden: width < LEAST_LABEL},
			node.function));
		const waits = (node.waiting_ns + node.preempted_ns) / (node.ns || 1);

		if (waits > 0.01)
			element.append(make('i', {class: 'why-waits', style:
				`width: ${100 * Math.min(1, waits)}%`}));
		element.style.left = `${100 * left}%`;
		element.style.width = `${100 * width}%`;
		element.style.top = `${row * BOX_HEIGHT}px`;
		return element;
	}

	ordinaryOf(slow) {
		const {ordinary} = this.slow.nodes[slow];

		return this.ordinary && ordinary !== null ?
			this.ordinary.nodes[ordinary] : null;
	}

	// 'more', 'same' or 'gone': of a node of the slow call; undefined: it has
	// none.
	kindOf(slow) {
		if (slow === undefined)
			return 'gone';
		const other = this.ordinaryOf(slow);
		const more = this.slow.nodes[slow].ns - (other ? other.ns : 0);

		return more >= LEAST_EXTRA * this.entry.extra_ns ? 'more' : 'same';
	}

	tip(slow, ordinary) {
		const words = ({ns, calls, waiting_ns, preempted_ns}) =>
			`${duration(ns)} in ${plural(calls, 'call')}` +
			(waiting_ns ? `, waited ${duration(waiting_ns)}` : '') +
			(preempted_ns ? `, ${duration(preempted_ns)} for a processor` : '');
		const one = slow === undefined ? null : this.slow.nodes[slow];
		const other = ordinary === undefined ? this.ordinaryOf(slow) :
			this.ordinary.nodes[ordinary];

		return [(one || other).function,
			`slow: ${one ? words(one) : 'not called'}`,
			`ordinary: ${other ? words(other) : 'not called'}`].join('\n');
	}

	// The same node in both.
	hover(box) {
		for (const each of $('why').querySelectorAll('.why-box'))
			each.classList.toggle('hovered', Boolean(box) &&
				box.dataset.slow !== '' &&
				each.dataset.slow === box.dataset.slow);
	}
}

// The slowest calls of a function in a trace, or null: those that --slow has kept
// lead to what made them slow, others to the timeline.
function slowestCalls(app, fn) {
	const kept = app.why.of(fn);
	const {timeline} = app.charts;
	const calls = kept.length || !timeline || app.model.holdsSamples ? [] :
		timeline.slowestOf(fn, MOST_SLOW);

	if (!kept.length && calls.length < 2)
		return null;
	return make('p', {class: 'slowest'},
		make('span', {class: 'dim'}, kept.length ? 'Slow calls: why?' :
			'Slowest, with hooks'),
		...kept.slice(0, MOST_SLOW).map(entry => make('button', {
			title: `${duration(entry.slow.ns)} at ` +
				`${(entry.slow.start_ns / 1e9).toFixed(6)} s: ` +
				'click says why',
			onclick: () => app.why.open(entry),
		}, duration(entry.slow.ns))),
		...calls.map(item => make('button', {
			title: `${duration(item.time)} at ` +
				`${((item.of.start[item.at] - app.model.first) / 1e9).toFixed(6)} s` +
				` in ${item.thread.name}: click shows it`,
			onclick: () => app.revealItem(item),
		}, duration(item.time))));
}
