// The side of the page: threads that count, colours, modules.

const NOT_TRACED = -2; // in place of a module
const MANY = 12;       // threads of a process, or processes, that one looks through

const timeOf = threads => threads.reduce((sum, {part}) => sum + part.totalNs, 0);

class Side {
	constructor(app) {
		this.app = app;
		this.open = new Map(); // parts of the list of threads
		this.showThreads();
		this.showModules();
		this.wire();
	}

	// Threads below their process, where there are several; of many those with
	// the most time, the others folded.
	showThreads() {
		const {model} = this.app;
		const longest = Math.max(...model.threads.map(thread =>
			thread.part.totalNs), 1);
		const entries = (threads, label) => this.entries('thread',
			threads.map(thread => ({
				ns: thread.part.totalNs,
				key: thread.index,
				element: this.thread(thread, longest, label(thread)),
			})));
		const whole = thread => this.app.threadName(thread, true);
		const own = thread => thread.name || 'thread';
		const groups = model.comparison ? [model.threads] :
			model.profiles.map((_, index) => model.threads.filter(
				thread => thread.profile === index))
				.filter(threads => threads.length);

		$('threads').replaceChildren(...groups.length < 2 ?
			entries(model.threads, whole) :
			this.entries('process', groups.map(threads => ({
				ns: timeOf(threads),
				key: threads[0].index,
				element: threads.length < 2 ?
					this.thread(threads[0], longest,
						whole(threads[0])) :
					this.process(threads, entries(threads, own)),
			}))));
		this.checkProcesses();
	}

	// Elements of threads or processes. A few more than MANY are not worth folding.
	entries(what, all) {
		if (all.length < MANY + 4)
			return all.map(({element}) => element);
		const first = new Set([...all].sort((a, b) => b.ns - a.ns)
			.slice(0, MANY));
		const others = all.filter(entry => !first.has(entry));

		return [...all.filter(entry => first.has(entry))
			.map(({element}) => element),
		this.folded(`${what}-${others[0].key}`, false, make('summary', {},
			make('span', {class: 'name'}, plural(others.length,
				`other ${what}`).replace('processs', 'processes')),
			make('span', {class: 'dim time'}, duration(others.reduce(
				(sum, {ns}) => sum + ns, 0)))),
		others.map(({element}) => element))];
	}

	// A part of the list that stays as open as it was.
	folded(key, openAtFirst, summary, children) {
		const part = make('details', {class: 'threads'}, summary, ...children);

		if (!this.open.has(key))
			this.open.set(key, openAtFirst);
		part.open = this.open.get(key);
		part.addEventListener('toggle', () => this.open.set(key, part.open));
		return part;
	}

	process(threads, children) {
		const {app} = this;
		const {name: program, pid, rank} =
			app.model.profiles[threads[0].profile];
		const name = (rank === undefined ? '' : `rank ${rank}: `) + program;
		const box = make('input', {type: 'checkbox', 'data-process':
			threads[0].profile, 'aria-label': `All threads of ${name} ${pid}`});

		box.addEventListener('change', () => {
			this.setShown(threads, box.checked);
		});
		return this.folded(`of-${pid}-${threads[0].index}`,
			app.model.threads.length <= 2 * MANY,
			make('summary', {class: 'process', title:
				`${name} ${pid}: ${plural(threads.length, 'thread')}`},
			box, make('span', {class: 'name'}, name),
			make('span', {class: 'dim'}, pid),
			make('span', {class: 'dim time'}, duration(timeOf(threads)))),
			children);
	}

	thread(thread, longest, label) {
		const {app} = this;
		const {model} = app;
		const box = make('input', {type: 'checkbox',
			'data-thread': thread.index});
		const bar = make('i', {class: 'share'});
		const {totalNs, rawNs, absent, waitingNs = 0} = thread.part;

		box.checked = thread.shown;
		box.addEventListener('change', () =>
			this.setShown([thread], box.checked));
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
		make('span', {class: 'name'}, label),
		make('span', {class: 'dim'}, thread.tid || ''),
		make('span', {class: 'dim time'}, absent ? '–' :
			duration(totalNs)),
		bar);
	}

	// A process's box says whether all of its threads count, none, or some.
	checkProcesses() {
		for (const box of $('threads').querySelectorAll('[data-process]')) {
			const threads = this.app.model.threads.filter(({profile}) =>
				profile === Number(box.dataset.process));

			box.checked = threads.every(({shown}) => shown);
			box.indeterminate = !box.checked &&
				threads.some(({shown}) => shown);
		}
	}

	setShown(threads, shown) {
		for (const thread of threads) {
			thread.shown = shown;
			$('threads').querySelector(`[data-thread="${thread.index}"]`)
				.checked = shown;
		}
		this.checkProcesses();
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

		$('threads-all').onclick = () => this.setShown(model.threads, true);
		$('threads-none').onclick = () => this.setShown(model.threads, false);
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
