// Puts the parts together: what is shown and what is chosen.

const DOT = 16;          // pixels of the dot before a name
const MODULE_LETTER = 7; // about as wide as one of a module's name is

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
		this.why = new WhyView(this, data.slow);
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
		this.header = new Header(this);
		this.side = new Side(this);
		this.range = new RangeBar(this);
		this.search = new Search(this);
		this.keys = new Keys(this);
		this.wire();
		this.showChart(this.model.traced && !this.model.holdsSamples ?
			'timeline' : 'flame');
		this.showList('functions');
		this.firstChoice = this.table.first;
		this.select(this.firstChoice);
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

	// The width of letters in lists, in which all are as wide.
	letterWidth() {
		const probe = make('span', {class: 'name'}, 'm'.repeat(100));

		probe.style.position = 'absolute';
		document.body.append(probe);
		const width = probe.offsetWidth / 100;

		probe.remove();
		return width;
	}

	// ---- what counts ----

	// Running, waiting or both: where a thread tells them apart.
	wireTimeKind() {
		const select = $('time-kind');

		select.hidden = this.model.comparison || !this.model.threads.some(
			({rows}) => rows.waiting);
		select.onchange = () => {
			this.model.useTime(select.value);
			this.changed();
			this.side.showModules();
			this.chart.showAll();
		};
	}

	// Below callers, or below what posted the work: where that is known.
	wireCauses() {
		$('by-cause-label').hidden = !knowsCauses(this.model);
		$('by-cause').onchange = event => {
			this.setByCause(event.target.checked);
			this.remember();
		};
	}

	setByCause(byCause) {
		byCause = byCause && knowsCauses(this.model);
		$('by-cause').checked = byCause;
		if (this.model.byCause === byCause)
			return;
		this.model.byCause = byCause;
		this.threadsChanged();
		if (this.chartName !== 'timeline')
			this.chart.showAll();
	}

	threadsChanged() {
		this.model.update();
		this.changed();
		this.side.showModules();
	}

	// Other threads, another time range: everything is drawn anew.
	changed() {
		const {chart} = this;
		const whole = chart.span() >= this.oldExtent * 0.999;

		this.version++;
		if (this.bubble.item && !this.bubble.item.thread.shown)
			this.bubble.close();
		this.colours.refresh();
		this.header.showTotals();
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
		this.search.show();
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

	// The next call of a function that took so long, in the timeline.
	revealCall(fn, from, to) {
		if (this.chartName !== 'timeline')
			this.showChart('timeline');
		this.charts.timeline.revealNext(fn, from, to);
	}

	revealItem(item) {
		if (this.chartName !== 'timeline')
			this.showChart('timeline');
		this.charts.timeline.show(item);
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

	foldLanes() {
		const {timeline} = this.charts;

		if (timeline && this.chart === timeline)
			timeline.foldAll(!timeline.folded.size);
	}

	// ---- the theme ----

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

	themeChanged() {
		this.version++;
		this.colours.refresh();
		this.table.select();
		this.down.select();
		this.up.select();
		this.ranks.select();
		this.details.update();
		this.side.showModules();
		this.chart.drawNow();
	}

	wire() {
		new Mouse(this);
		this.wireTimeKind();
		this.wireCauses();
		$('theme').onclick = () => this.toggleTheme();
		$('fold-all').onclick = () => this.foldLanes();
		$('zoom-reset').onclick = () => this.chart.showAll();
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
