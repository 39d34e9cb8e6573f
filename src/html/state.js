// The address holds what is shown (after #), so that a reload, a copied address
// and the back button bring it back. It leaves out what is as at first.

class State {
	constructor(app) {
		this.app = app;
		this.first = this.read();
		this.restoring = false;
		this.timer = 0;
		addEventListener('hashchange', () => this.changed());
		this.restore();
	}

	read() {
		const {app} = this;
		const {model, table} = app;
		const shown = model.shownThreads();

		return {
			chart: app.chartName,
			list: app.listName,
			function: this.functionKey(model.selected),
			range: model.range ? model.range.map(time =>
				Math.round(time - model.first)).join('-') : '',
			threads: shown.length === model.threads.length ? '' :
				shown.map(thread => thread.index).join('.') || 'none',
			search: $('query').value.trim(),
			sort: (table.ascending ? 'up-' : '') + table.sort,
			causes: model.byCause ? 'yes' : '',
			colours: app.colours.mode,
			labels: [app.withModule && 'modules', !model.byThread &&
				'merged'].filter(Boolean).join('-'),
			window: app.chart.isWhole() ? '' : [app.chart.from,
				app.chart.to].map(at => Number(at.toFixed(3)))
				.join('-'),
			why: app.why.key,
			theme: document.documentElement.dataset.theme || '',
		};
	}

	// By name, so that it means the same in the page of another run.
	functionKey(fn) {
		if (fn < 0)
			return '';
		const {model} = this.app;
		const key = model.moduleName(fn) + ':' + model.catalog.name[fn];

		return this.functionOf(key) === fn ? key : `${key}@${fn}`;
	}

	functionOf(key) {
		const {model} = this.app;
		const {name} = model.catalog;
		const which = /@(\d+)$/.exec(key);
		const same = (fn, text) => model.moduleName(fn) + ':' +
			name[fn] === text;

		if (which && same(Number(which[1]), key.slice(0, which.index)))
			return Number(which[1]);
		return name.findIndex((_, fn) => same(fn, key));
	}

	hash(state) {
		const words = new URLSearchParams();

		for (const [key, value] of Object.entries(state))
			if (value !== this.first[key])
				words.set(key, value);
		return words.toString();
	}

	// To be called when what is shown has changed. What changes with every
	// key of a word or an arrow is no step to go back to.
	remember(replaces) {
		if (this.restoring)
			return;
		clearTimeout(this.timer);
		if (replaces) {
			// (browsers allow a page only so many changes a second)
			this.timer = setTimeout(() => this.write(true), 300);
			return;
		}
		this.write(false);
	}

	write(replaces) {
		const hash = this.hash(this.read());

		if (hash === location.hash.slice(1))
			return;
		if (replaces)
			history.replaceState(null, '', '#' + hash);
		else
			history.pushState(null, '', '#' + hash);
	}

	changed() {
		clearTimeout(this.timer);
		this.restore();
	}

	restore() {
		const words = new URLSearchParams(location.hash.slice(1));
		const state = {...this.first};

		for (const key of Object.keys(state))
			if (words.has(key))
				state[key] = words.get(key);
		if (!this.app.charts[state.chart])
			state.chart = this.first.chart;
		if (!LISTS.includes(state.list))
			state.list = this.first.list;
		if (state.function && this.functionOf(state.function) < 0)
			state.function = this.first.function;
		if (this.hash(state) === this.hash(this.read()))
			return;
		this.restoring = true;
		try {
			this.apply(state);
		} finally {
			this.restoring = false;
		}
	}

	apply(state) {
		const {app} = this;
		const {model, table} = app;
		const now = this.read();

		if (state.threads !== now.threads || state.range !== now.range) {
			const shown = state.threads.split('.').map(Number);

			for (const thread of model.threads)
				thread.shown = !state.threads ||
					shown.includes(thread.index);
			app.range.set(this.rangeOf(state.range));
		}
		if (state.causes !== now.causes)
			app.setByCause(state.causes === 'yes');
		if (state.sort !== now.sort)
			table.setSort(state.sort.replace(/^up-/, ''),
				state.sort.startsWith('up-'));
		if (state.search !== now.search)
			app.search.set(state.search);
		if (state.theme !== now.theme || state.colours !== now.colours) {
			app.setTheme(state.theme);
			app.setColours(state.colours);
		}
		if (state.chart !== now.chart)
			app.showChart(state.chart);
		if (state.list !== now.list)
			app.showList(state.list);
		if (state.labels !== now.labels)
			app.side.setLabels(state.labels.split('-'));
		app.select(state.function ? this.functionOf(state.function) : -1);
		this.showWindow(state.window);
		if (state.why !== now.why)
			app.why.showKey(state.why);
		if (app.listName === 'functions')
			table.showSelected();
	}

	showWindow(text) {
		const {chart} = this.app;
		const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);

		if (found && Number(found[1]) < Number(found[2]))
			chart.setWindow(Number(found[1]), Number(found[2]));
		else if (!chart.isWhole())
			chart.setWindow(0, chart.extent());
	}

	rangeOf(text) {
		const {first, last} = this.app.model;
		const found = /^(\d+)-(\d+)$/.exec(text);

		return found && this.app.model.traced ? [found[1], found[2]]
			.map(ns => Math.min(first + Number(ns), last)) : null;
	}
}
