// Puts the parts together: what is chosen, the keys, the search.

const DOT = 16;          // pixels of the dot before a name
const MODULE_LETTER = 7; // about as wide as one of a module's name is
const NOT_TRACED = -2; // in place of a module

const KEYS = [
	['W, S', 'zoom in, out (also the wheel)'],
	['A, D', 'go left, right (also Shift and the wheel, or drag)'],
	['↑, ↓', 'scroll the chart, or move in the list that has the focus'],
	['→, ←', 'unfold, fold in a tree'],
	['Tab, then arrows', 'in the chart: from box to box; Enter chooses, F zooms'],
	['click', 'choose a function; in the timeline also: what the call was ' +
		'given and has returned, and who called it'],
	['double click', 'zoom to a box'],
	['F', 'zoom to the chosen function'],
	['0', 'show everything'],
	['drag over the ruler', 'count only what happened then; so does Shift ' +
		'and a drag (timeline)'],
	['E', 'fold or unfold all lanes; a click on the head of one does it ' +
		'(timeline)'],
	['R', 'count only what is in view (timeline)'],
	['/', 'search; Enter and Shift+Enter go through what was found'],
	['Esc', 'close what a click has opened; end the search, then the choice, the range, the zoom'],
	['1, 2, 3, 4', 'functions, top-down, bottom-up, what it could not see'],
	['5', 'the source of the chosen function'],
	['6, M', 'in a narrow window: callers and callees; threads, colours, modules'],
	['7', 'functions by rank'],
	['T', 'dark or light'],
	['?', 'this help'],
];

const LISTS = ['functions', 'down', 'up', 'notes', 'source',
	'details', 'ranks']; // in the order of their keys

class App {
	constructor(data) {
		this.model = new Model(data);
		if (this.model.comparison)
			this.model.comparison.begin();
		this.version = 0; // of what is shown, for the overview
		this.withModule = false;
		this.letter = this.letterWidth();
		this.colours = new Colours(this.model);
		this.tip = new Tip();
		this.flame = new Flame(this);
		this.charts = {
			flame: this.flame,
			inverted: new Inverted(this),
			sandwich: new Sandwich(this),
		};
		if (this.model.traced)
			this.charts.timeline = new Timeline(this);
		this.bubble = new Bubble(this);
		this.details = new Details(this);
		this.notes = new Notes(this);
		this.source = new SourceView(this);
		this.table = new FunctionTable(this);
		const {comparison} = this.model;
		const down = [TREE_COLUMNS, topDownSource(this)];
		const up = [UP_COLUMNS, bottomUpSource(this)];

		this.down = new TreeList(this, $('down'), ...(comparison ?
			comparison.downList(...down) : down), 'Top-down');
		this.up = new TreeList(this, $('up'), ...(comparison ?
			comparison.upList(...up) : up), 'Bottom-up');
		this.ranks = new Ranks(this);
		this.layout = new Layout(this);
		this.help = new Help(KEYS);
		this.showHeader();
		this.makeThreads();
		this.makeModules();
		this.wire();
		this.showChart(this.model.traced ? 'timeline' : 'flame');
		this.showList('functions');
		this.details.update();
		this.state = new State(this);
	}

	// To be called when what is shown has changed: see State.
	remember(replaces) {
		if (this.state)
			this.state.remember(replaces);
	}

	// ---- names ----

	shortName(name, letters) {
		return shortName(name, letters);
	}

	label(fn, thread) {
		const {model} = this;

		if (fn < 0)
			return this.threadName(model.threads[thread] ||
				(model.threads.length === 1 ?
					model.threads[0] : null));
		const {prefix = ''} = model.settings.get(fn) || {};

		return prefix + (this.withModule && model.catalog.module[fn] >= 0 ?
			model.moduleName(fn) + ':' : '') + model.catalog.name[fn];
	}

	threadName(thread, withoutTid) {
		if (!thread)
			return 'all threads';
		const {rank, name} = this.model.profiles[thread.profile];
		// of which process it is, unless its own name says so
		const process = this.model.profiles.length > 1 &&
			!this.model.comparison && name !== thread.name;

		return (rank === undefined ? '' : `rank ${rank}: `) +
			(thread.name || 'thread') +
			(withoutTid || !thread.tid ? '' : ` ${thread.tid}`) +
			(process ? ` (${name})` : '');
	}

	// A coloured dot, the name, and (in lists without that column) the module
	// where both have room. What it can be read by in ROOM pixels is shown, all
	// of it on hover.
	putFunction(cell, fn, room, withModule) {
		const {model} = this;
		const module = withModule && !this.withModule ?
			model.moduleName(fn) : '';
		const label = this.label(fn);
		const letters = Math.floor((room - DOT) / this.letter);
		const beside = module && label.length * this.letter + DOT +
			(1 + module.length) * MODULE_LETTER <= room;
		const dot = make('i', {class: 'swatch'});
		const name = make('span', {
			class: 'name' + (model.matches && model.matches[fn] ?
				' found' : ''),
		}, shortName(label, Math.max(letters, 12)));
		const source = model.source(fn, true);

		dot.style.background = this.colours.ofFunction(fn);
		name.title = [model.catalog.name[fn], model.modulePath(fn), source]
			.filter(Boolean).join('\n');
		cell.append(dot, name);
		if (beside)
			cell.append(make('span', {class: 'dim'}, ' ' + module));
	}

	// Where lists of functions are empty.
	whyNoFunction() {
		const {model} = this;

		return !model.shownThreads().length ? 'No thread is chosen.' :
			model.matches ? `No function matches “${$('query').value}”.` :
				'No function was called.';
	}

	// Of the names in lists, in which all are as wide.
	letterWidth() {
		const probe = make('span', {class: 'name'}, 'm'.repeat(100));

		probe.style.position = 'absolute';
		document.body.append(probe);
		const width = probe.offsetWidth / 100;

		probe.remove();
		return width;
	}

	showHeader() {
		const {model} = this;
		const [first] = model.profiles;
		const command = commandOf(first);
		const chips = [];

		document.title = command ? `${command} – swizzle` : 'swizzle';
		$('command').textContent = command + (model.comparison ?
			` compared with ${commandOf(model.profiles[
				model.comparison.firstOld])}` :
			model.profiles.length > 1 ?
			` and ${plural(model.profiles.length - 1, 'other process')
				.replace('processs', 'processes')}` : '');
		$('command').title = $('command').textContent;
		chips.push(make('span', {class: 'chip', id: 'total'}));
		chips.push(make('span', {class: 'chip', id: 'calls'}));
		if (model.comparison)
			chips.push(model.comparison.chip());
		if (model.sampled)
			chips.push(make('span', {class: 'chip warn',
				title: 'Only some calls were timed: times are ' +
					'estimates'}, 'sampled'));
		const warnings = this.notes.warnings();

		chips.push(make('button', {
			class: 'chip' + (warnings ? ' warn' : ''), id: 'warnings',
			title: 'What it could not see',
			onclick: () => this.showList('notes'),
		}, warnings ? `⚠ ${plural(warnings, 'note')}` : 'nothing lost'));
		$('chips').replaceChildren(...chips);
		this.showTotals();
	}

	showTotals() {
		const {model} = this;
		const counted = model.countedThreads().length;
		const hooks = Math.max(0, model.raw - model.total);
		const known = model.holdsSamples ? ['', ''] :
			model.description.boundNs ? [', sampled', ''] :
			model.description.compensated ?
				[`, after ${duration(hooks)} of hooks`,
					`, without the ${grouped(hooks)} ns that the ` +
					'hooks took'] :
				[', with hooks', ', with the cost of the hooks'];

		$('total').textContent = duration(model.total) +
			(!model.holdsSamples ? '' : model.profiles.some(profile =>
				profile.ofWaiting) ? ' of time, running or waiting,' :
				' of processor time') +
			(model.comparison ? model.comparison.runsText() :
				' in ' + (counted === model.threads.length ?
					plural(counted, 'thread') :
					`${counted} of ${plural(
						model.threads.length, 'thread')}`)) +
			known[0];
		$('total').title = grouped(model.total) + ' ns' + known[1];
		$('calls').textContent = plural(model.calls, model.one);
	}

	// ---- the side ----

	makeThreads() {
		const {model} = this;
		const longest = Math.max(...model.threads.map(thread =>
			thread.part.totalNs), 1);

		$('threads').replaceChildren(...model.threads.map(thread => {
			const box = make('input', {type: 'checkbox',
				'data-thread': thread.index});
			const bar = make('i', {class: 'share'});

			box.checked = thread.shown;
			box.addEventListener('change', () => {
				thread.shown = box.checked;
				this.threadsChanged();
				this.remember();
			});
			const {totalNs, rawNs, absent} = thread.part;

			bar.style.width = 100 * totalNs / longest + '%';
			return make('label', {class: 'thread' +
				(absent ? ' absent' : ''), title:
				`${this.threadName(thread)}: ` + (absent ?
				'not there in this range' :
				grouped(totalNs) + ' ns' + (model.holdsSamples ||
				model.description.boundNs ? '' :
				model.description.compensated ?
					`, after ${grouped(Math.max(0, rawNs -
						totalNs))} ns of hooks` :
					', with hooks'))}, box,
			make('span', {class: 'name'}, this.threadName(thread, true)),
			make('span', {class: 'dim'}, thread.tid || ''),
			make('span', {class: 'dim time'}, absent ? '–' :
				duration(totalNs)),
			bar);
		}));
		$('threads-all').onclick = () => this.setThreads(true);
		$('threads-none').onclick = () => this.setThreads(false);
		$('by-thread').checked = model.byThread;
		$('by-thread-label').hidden = model.threads.length < 2;
		$('by-thread').onchange = event => {
			model.byThread = event.target.checked;
			this.threadsChanged();
			this.remember(true);
		};
	}

	setThreads(shown) {
		for (const thread of this.model.threads)
			thread.shown = shown;
		for (const box of $('threads').querySelectorAll('input'))
			box.checked = shown;
		this.threadsChanged();
		this.remember();
	}

	makeModules() {
		const {model, colours} = this;
		const self = new Map();

		if (model.comparison)
			model.comparison.showLegend(colours);

		for (const fn of model.functions) {
			const module = fn === UNTRACED ? NOT_TRACED :
				model.catalog.module[fn];

			self.set(module, (self.get(module) || 0) +
				model.sums.self[fn]);
		}
		const all = [...self].sort((a, b) => b[1] - a[1]);

		$('modules').replaceChildren(...all.map(([module, ns]) => {
			const dot = make('i', {class: 'swatch'});
			const about = module < 0 ? null : model.catalog.modules[module];

			dot.style.background = colours.ofModule(module);
			return make('button', {
				class: 'module',
				title: about ? `${about.path}\nClick: search in it` :
					module === NOT_TRACED ?
						'The trace holds no events of this time' :
						model.holdsSamples ? 'The kernel, and stacks ' +
							'that are not whole' :
						'Outside of all hooked functions',
				onclick: () => about && this.setQuery(about.name + ':'),
			}, dot, make('span', {class: 'name'},
				about ? about.name :
					model.holdsSamples ? '[no module]' :
					model.catalog.name[module === NOT_TRACED ?
						UNTRACED : OUTSIDE]),
			make('span', {class: 'dim'}, percent(ns, model.total)));
		}));
	}

	threadsChanged() {
		this.model.update();
		this.changed();
		this.makeModules();
	}

	// Other threads, another time range: everything is drawn anew.
	changed() {
		const {chart} = this;
		const whole = chart.span() >= this.oldExtent * 0.999;

		this.version++;
		if (this.bubble.item && !this.bubble.item.thread.shown)
			this.bubble.close();
		this.colours.refresh();
		this.showTotals();
		this.table.update();
		this.fillTree();
		this.details.update();
		for (const each of Object.values(this.charts))
			each.changed && each.changed();
		if (whole)
			chart.setWindow(0, chart.extent());
		else
			chart.setWindow(chart.from, chart.to);
		this.oldExtent = chart.extent();
		this.showFound();
	}

	// The trees are made when they are looked at.
	fillTree() {
		this.stale = {down: true, up: true, source: true, ranks: true};
		if (this.stale[this.listName])
			this.fillList();
	}

	fillList() {
		if (!this.stale || !this.stale[this.listName])
			return;
		this.stale[this.listName] = false;
		this[this.listName].update();
	}

	// ---- what is shown ----

	showChart(name) {
		this.bubble.close();
		this.chartName = name;
		this.chart = this.charts[name];
		for (const tab of $('chart-tabs').querySelectorAll('[data-chart]')) {
			markTab(tab, tab.dataset.chart === name, 'stage');
			tab.hidden = !this.charts[tab.dataset.chart];
		}
		if (!this.chart.visited) {
			if (this.chart.begin)
				this.chart.begin();
			this.chart.visited = true;
			this.chart.from = 0;
			this.chart.to = this.chart.extent() || 1;
		}
		this.oldExtent = this.chart.extent();
		$('range-view').hidden = $('fold-all').hidden = name !== 'timeline';
		this.chart.mapKey = null;
		$('stage').setAttribute('aria-labelledby', `tab-${name}`);
		$('chart').setAttribute('aria-labelledby', `tab-${name}`);
		this.chart.drawNow();
		this.remember();
	}

	showList(name) {
		if (!this.layout.has(name))
			name = 'functions';
		this.listName = name;
		for (const tab of $('list-tabs').querySelectorAll('[data-list]')) {
			markTab(tab, tab.dataset.list === name, tab.dataset.list);
			$(tab.dataset.list).hidden = tab.dataset.list !== name &&
				!this.layout.isBeside(tab.dataset.list);
		}
		if (name === 'notes')
			this.notes.show();
		else if (name === 'functions' && !this.table.list.rows.length)
			this.table.update();
		if (!this.stale)
			this.stale = {down: true, up: true, source: true,
				ranks: true};
		this.fillList();
		this.remember();
	}

	// BY_KEYS: on the way to another one, perhaps.
	select(fn, byKeys) {
		if (fn === undefined || fn < 0)
			fn = -1;
		if (this.model.selected === fn)
			return;
		this.model.selected = fn;
		this.details.update();
		this.table.select();
		this.down.select();
		this.up.select();
		this.ranks.select();
		this.stale.source = true;
		this.fillList();
		this.chart.mapKey = null; // of the function that is chosen
		this.chart.draw();
		this.remember(byKeys);
	}

	// Chosen in the chart, at a POINT of the window: shown in the table, too.
	clicked(item, point) {
		this.bubble.close();
		if (this.chart.clicked && this.chart.clicked(item, point))
			return;
		this.select(item === null ? -1 : this.chart.fnOf(item));
		if (this.listName === 'functions')
			this.table.showSelected();
		if (item !== null && this.chart.isCall && this.chart.isCall(item))
			this.bubble.open(item, point);
	}

	reveal(fn, zoom) {
		if (fn >= 0)
			this.chart.reveal(fn, zoom);
	}

	hover(event) {
		const item = this.chart.at(event.offsetX, event.offsetY);

		if (item === null) {
			this.tip.hide();
			$('chart').style.cursor = '';
		} else {
			this.tip.show(event, this.chart.describe(item), this);
			$('chart').style.cursor = 'pointer';
		}
		this.chart.hovered(item);
	}

	// ---- the range of time ----

	// What is counted from now on; null: everything.
	setRange(range) {
		const {model} = this;

		model.range = range && range[1] > range[0] ? range : null;
		if (model.range && !model.canCount(model.range)) {
			model.range = null;
			this.rangeChanged();
			this.showRange(range);
			// (the end of a long text has no room)
			$('range').textContent = 'Not counted, its events are not ' +
				'in this page: ' + $('range').textContent;
			return Promise.resolve();
		}
		this.showRange(model.range);
		if (model.range && model.threads.some(({trace}) => trace && trace.large))
			return this.countLarge();
		this.rangeChanged();
		return Promise.resolve();
	}

	rangeChanged() {
		document.body.classList.remove('counting');
		this.threadsChanged();
		this.makeThreads();
		this.chart.drawNow();
		this.remember();
	}

	async countLarge() {
		const text = $('range').textContent;

		this.chart.draw();
		document.body.classList.add('counting');
		if (!await this.model.countLarge(part => {
			$('range').textContent = `${text}: counting, ` +
				`${Math.round(100 * part)}\u202f%`;
		}))
			return;
		$('range').textContent = text;
		this.rangeChanged();
	}

	showRange(range) {
		$('range').hidden = $('range-clear').hidden = !range;
		if (!range)
			return;
		const from = range[0] - this.model.first;
		const to = range[1] - this.model.first;

		$('range').textContent = `${duration(from)} to ${duration(to)}: ` +
			duration(to - from) + (this.model.description.compensated ?
			' with hooks' : '');
		$('range').title = `${grouped(from)} to ${grouped(to)} ns` +
			', with the cost of the hooks';
	}

	foldLanes() {
		const {timeline} = this.charts;

		if (timeline && this.chart === timeline)
			timeline.foldAll(!timeline.folded.size);
	}

	countView() {
		const {timeline} = this.charts;

		if (timeline && this.chart === timeline)
			timeline.choose(timeline.from, timeline.to, true);
	}

	// ---- search ----

	setQuery(query) {
		$('query').value = query;
		this.model.search(query);
		this.foundAt = -1;
		this.table.update();
		Object.assign(this.stale, {down: true, up: true, ranks: true});
		this.fillList();
		this.showFound();
		this.chart.draw();
		this.remember(true);
	}

	showFound() {
		const {model} = this;

		$('search').classList.toggle('active', Boolean(model.matches));
		if (!model.matches) {
			$('found').textContent = '';
			return;
		}
		let count = 0, self = 0;

		for (const fn of model.functions)
			if (model.matches[fn]) {
				count++;
				self += model.sums.self[fn];
			}
		$('found').textContent = count ?
			`${grouped(count)}, ${percent(self, model.total)} self` :
			'none';
	}

	nextFound(step) {
		const {rows} = this.table.list;

		if (!this.model.matches || !rows.length)
			return;
		this.foundAt = (this.foundAt + step + rows.length) % rows.length;
		this.select(rows[this.foundAt]);
		this.table.showSelected();
		this.reveal(rows[this.foundAt]);
	}

	// ---- keys ----

	escape() {
		if (this.help.shown)
			this.help.show(false);
		else if (this.bubble.close())
			return;
		else if (this.layout.sideShown)
			this.layout.toggleSide();
		else if (this.model.matches || $('query').value)
			this.setQuery('');
		else if (this.model.selected >= 0)
			this.select(-1);
		else if (this.model.range)
			this.setRange(null);
		else
			this.chart.showAll();
		$('query').blur();
	}

	key(event) {
		const typing = event.target === $('query');

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === 'Escape') {
			this.escape();
		} else if (typing) {
			if (event.key !== 'Enter')
				return;
			this.nextFound(event.shiftKey ? -1 : 1);
		} else if (!this.command(event)) {
			return;
		}
		event.preventDefault();
	}

	command(event) {
		const {chart} = this;
		const {target} = event;

		// letters there choose an option; arrows scroll a bubble
		if (target.closest('select') || target.closest('#bubble') &&
			event.key.startsWith('Arrow'))
			return false;

		switch (event.key) {
		case 'w': case 'W': case '+':
			chart.zoom(0.7);
			break;
		case 's': case 'S': case '-':
			chart.zoom(1 / 0.7);
			break;
		case 'a': case 'A':
			chart.pan(-0.2);
			break;
		case 'd': case 'D':
			chart.pan(0.2);
			break;
		case 'ArrowUp': case 'ArrowDown':
			if (target === chart.canvas)
				return chart.moveCursor(event.key);
			chart.scrollTo(chart.scroll +
				(event.key === 'ArrowUp' ? -3 : 3) * ROW);
			break;
		case 'ArrowLeft': case 'ArrowRight':
			return target === chart.canvas &&
				chart.moveCursor(event.key);
		case 'Enter':
			return target === chart.canvas && chart.enterCursor();
		case 'f': case 'F':
			this.reveal(this.model.selected, true);
			break;
		case 'e': case 'E':
			this.foldLanes();
			break;
		case 'r': case 'R':
			this.countView();
			break;
		case '0': case 'Home':
			chart.showAll();
			break;
		case '/':
			$('query').focus();
			$('query').select();
			break;
		case '1': case '2': case '3': case '4': case '5':
		case '6': case '7':
			this.showList(LISTS[event.key - 1]);
			break;
		case 'm': case 'M':
			this.layout.toggleSide();
			break;
		case 't': case 'T':
			this.toggleTheme();
			break;
		case '?':
			this.help.show(!this.help.shown);
			break;
		default:
			return false;
		}
		return true;
	}

	toggleTheme() {
		this.colours.refresh(); // what the system says now
		this.setTheme(this.colours.dark ? 'light' : 'dark');
		this.remember(true);
	}

	// "dark", "light", or "" for what the system says
	setTheme(theme) {
		if (theme === 'dark' || theme === 'light')
			document.documentElement.dataset.theme = theme;
		else
			delete document.documentElement.dataset.theme;
		this.themeChanged();
	}

	setColours(mode) {
		const select = $('colour-mode');

		select.value = mode;
		if (select.selectedIndex < 0)
			select.value = 'module';
		this.colours.mode = select.value;
		this.themeChanged();
	}

	// "modules": module:name; "merged": no box for each thread
	setLabels(labels) {
		this.withModule = $('with-module').checked =
			labels.includes('modules');
		this.model.byThread = $('by-thread').checked =
			!labels.includes('merged');
		this.threadsChanged();
		this.themeChanged();
	}

	themeChanged() {
		this.version++;
		this.colours.refresh();
		this.table.select();
		this.down.select();
		this.up.select();
		this.ranks.select();
		this.details.update();
		this.makeModules();
		this.chart.drawNow();
	}

	wire() {
		new Mouse(this);
		document.addEventListener('keydown', event => this.key(event));
		$('query').addEventListener('input', () =>
			this.setQuery($('query').value));
		$('theme').onclick = () => this.toggleTheme();
		$('fold-all').onclick = () => this.foldLanes();
		$('range-view').onclick = () => this.countView();
		$('range-clear').onclick = () => this.setRange(null);
		$('zoom-reset').onclick = () => this.chart.showAll();
		$('colour-mode').onchange = event => {
			this.setColours(event.target.value);
			event.target.blur();
			this.remember(true);
		};
		$('with-module').onchange = event => {
			this.withModule = event.target.checked;
			this.themeChanged();
			this.remember(true);
		};
		for (const tab of $('chart-tabs').querySelectorAll('[data-chart]'))
			tab.onclick = () => this.showChart(tab.dataset.chart);
		for (const tab of $('list-tabs').querySelectorAll('[data-list]'))
			tab.onclick = () => this.showList(tab.dataset.list);
		wireTabs($('chart-tabs'));
		wireTabs($('list-tabs'));
		matchMedia('(prefers-color-scheme: dark)').addEventListener(
			'change', () => this.themeChanged());
		new ResizeObserver(() => this.chart.drawNow()).observe($('stage'));
	}
}

function showNothing() {
	$('loading').classList.add('failed');
	$('loading-text').textContent = 'No thread was recorded in this ' +
		'profile: no hooked function has been called. ' +
		'“swizzle-dump -f info” says what the file holds.';
}

async function start() {
	try {
		const data = await readData(part => {
			$('loading-bar').style.width = 100 * part + '%';
		});

		if (!data.threads.length)
			return showNothing();
		// for scripts that drive the page
		window.swizzle = new App(data);
		$('loading').hidden = true;
	} catch (error) {
		$('loading').classList.add('failed');
		$('loading-text').textContent =
			`This page cannot be shown: ${error.message}`;
		throw error;
	}
}

start();
