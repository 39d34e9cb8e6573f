// The side of the page: threads that count, colours, modules.

const NOT_TRACED = -2; // in place of a module

class Side {
	constructor(app) {
		this.app = app;
		this.showThreads();
		this.showModules();
		this.wire();
	}

	showThreads() {
		const {app} = this;
		const {model} = app;
		const longest = Math.max(...model.threads.map(thread =>
			thread.part.totalNs), 1);

		$('threads').replaceChildren(...model.threads.map(thread => {
			const box = make('input', {type: 'checkbox',
				'data-thread': thread.index});
			const bar = make('i', {class: 'share'});

			box.checked = thread.shown;
			box.addEventListener('change', () => {
				thread.shown = box.checked;
				app.threadsChanged();
				app.remember();
			});
			const {totalNs, rawNs, absent, waitingNs = 0} = thread.part;

			bar.style.width = 100 * totalNs / longest + '%';
			return make('label', {class: 'thread' +
				(absent ? ' absent' : ''), title:
				`${app.threadName(thread)}: ` + (absent ?
				'not there in this range' :
				grouped(totalNs) + ' ns' + (model.holdsSamples ||
				model.description.boundNs ? '' :
				model.description.compensated ?
					`, after ${grouped(Math.max(0, rawNs -
						totalNs - waitingNs))} ns of hooks` :
					', with hooks'))}, box,
			make('span', {class: 'name'}, app.threadName(thread, true)),
			make('span', {class: 'dim'}, thread.tid || ''),
			make('span', {class: 'dim time'}, absent ? '–' :
				duration(totalNs)),
			bar);
		}));
	}

	setThreads(shown) {
		for (const thread of this.app.model.threads)
			thread.shown = shown;
		for (const box of $('threads').querySelectorAll('input'))
			box.checked = shown;
		this.app.threadsChanged();
		this.app.remember();
	}

	showModules() {
		const {app} = this;
		const {model, colours} = app;
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

		const bySamples = model.holdsSamples ||
			Boolean(model.description.boundNs);
		$('modules').replaceChildren(...all.map(([module, ns]) => {
			const dot = make('i', {class: 'swatch'});
			const about = module < 0 ? null : model.catalog.modules[module];

			dot.style.background = colours.ofModule(module);
			return make('button', {
				class: 'module',
				title: about ? `${about.path}\nClick: search in it` :
					module === NOT_TRACED ?
						'The trace holds no events of this time' :
						bySamples ? 'The kernel, and stacks ' +
							'that are not whole' :
						'Outside of all hooked functions',
				onclick: () => about && app.search.set(about.name + ':'),
			}, dot, make('span', {class: 'name'},
				about ? about.name :
					bySamples ? '[no module]' :
					model.catalog.name[module === NOT_TRACED ?
						UNTRACED : OUTSIDE]),
			make('span', {class: 'dim'}, percent(ns, model.total)));
		}));
	}

	// "modules": module:name; "merged": no box for each thread
	setLabels(labels) {
		const {app} = this;

		app.withModule = $('with-module').checked =
			labels.includes('modules');
		app.model.byThread = $('by-thread').checked =
			!labels.includes('merged');
		app.threadsChanged();
		app.themeChanged();
	}

	wire() {
		const {app} = this;
		const {model} = app;

		$('threads-all').onclick = () => this.setThreads(true);
		$('threads-none').onclick = () => this.setThreads(false);
		$('by-thread').checked = model.byThread;
		$('by-thread-label').hidden = model.threads.length < 2;
		$('by-thread').onchange = event => {
			model.byThread = event.target.checked;
			app.threadsChanged();
			app.remember(true);
		};
		$('colour-mode').onchange = event => {
			app.setColours(event.target.value);
			event.target.blur();
			app.remember(true);
		};
		$('with-module').onchange = event => {
			app.withModule = event.target.checked;
			app.themeChanged();
			app.remember(true);
		};
	}
}
