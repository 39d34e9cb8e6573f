// One function: its figures, who calls it and what it calls.

const PLACE_LETTER = 6.5; // about as wide as one of a place is
const LEAST_LETTERS = 14; // of a name beside a place

class Details {
	constructor(app) {
		this.app = app;
		this.root = $('details');
	}

	update() {
		const {model} = this.app;
		const fn = model.selected;

		if (fn < 0) {
			this.root.replaceChildren(make('p', {class: 'empty'},
				'Click a box or a row: here you see the function, ' +
				'its callers and what it calls.'));
			return;
		}
		const callers = model.neighbours(fn, false);
		const callees = model.neighbours(fn, true);

		const both = make('div', {class: 'butterfly'},
			this.part('Callers', 'callers', callers, fn),
			this.part('Callees', 'callees', callees, fn));

		// no more than half of it for the callers
		both.style.setProperty('--callers', `min(50%, ` +
			`${(callers.length + 1) * LINE + 6}px)`);
		this.root.replaceChildren(...[this.heading(fn), this.figures(fn),
			callTimes(this.app, fn), slowestCalls(this.app, fn),
			lastValues(this.app, fn),
			both].filter(Boolean));
	}

	heading(fn) {
		const {model, colours} = this.app;
		const source = model.source(fn, true);
		const swatch = make('i', {class: 'swatch'});

		swatch.style.background = colours.ofFunction(fn);
		return make('header', {},
			make('h3', {class: 'with-dot', 'aria-level': 2,
				title: model.catalog.name[fn]}, swatch,
				model.catalog.name[fn]),
			make('p', {class: 'dim', title: [model.modulePath(fn), source]
				.filter(Boolean).join('\n')},
			make('span', {}, model.moduleName(fn) +
				(source ? ' · ' : '')),
			source ? make('button', {class: 'to-source',
				title: `Show the source: ${source}`,
				onclick: () => this.app.showList('source')},
			model.source(fn)) : null));
	}

	figures(fn) {
		const {model} = this.app;
		const {sums} = model;
		const calls = sums.calls[fn];
		const list = make('dl', {});
		const add = (name, value, title) =>
			list.append(pair(name, value, {title: title || ''}));
		const time = (name, ns, extra) => add(name, durationOrBound(ns) +
			(extra ? ', ' + extra : ''), grouped(ns) + ' ns');

		if (!isNoCall(fn))
			add(model.many, model.callsText(fn, calls));
		time('Self', sums.self[fn], percent(sums.self[fn], model.total));
		if (model.estimated)
			time('± of self', Math.sqrt(sums.variance[fn]));
		time('Inclusive', sums.incl[fn],
			percent(sums.incl[fn], model.total));
		if (model.knowsWaiting)
			time('Waiting', sums.waiting[fn]);
		if (calls && !model.holdsSamples)
			time('Mean', sums.incl[fn] / calls);
		if (sums.min[fn])
			time('Shortest', sums.min[fn]);
		if (sums.max[fn])
			time('Longest', sums.max[fn]);
		const times = model.timesOf(fn);

		if (times.length)
			for (const [name, share] of PERCENTILES)
				time(name, Math.max(sums.min[fn],
					Math.min(percentileOf(times, share),
						sums.max[fn] || Infinity)));
		if (sums.unwound[fn])
			add('Ended by an exception', grouped(sums.unwound[fn]));
		if (model.comparison)
			for (const [name, value] of model.comparison.rows(fn))
				add(name + (value.includes('→') ? ': old → new' : ''),
					value);
		return list;
	}

	part(title, id, entries, fn) {
		const {app} = this;
		const {model} = app;
		const whole = model.sums.incl[fn];
		const root = make('div', {class: 'list', id});
		const list = new List(root, [
			{key: 'calls', title: model.many, width: countWidth(
				entries.reduce((most, {calls}) =>
					Math.max(most, calls), 0), 62),
				align: 'right', drop: 2},
			{key: 'incl', title: 'Inclusive', width: '67px',
				align: 'right', hint: id === 'callers' ?
					`Time of ${model.catalog.name[fn]} when ` +
					'called from there' :
					'Time of the function when called from ' +
					'here'},
			{key: 'share', title: '%', width: '53px', align: 'right',
				drop: 1,
				hint: `Share of the inclusive time of ` +
					model.catalog.name[fn]},
			{key: 'name', title: plural(entries.length,
				title.slice(0, -1)).replace(/^0 /, 'No '),
			width: 'minmax(84px, 1fr)', wants: 172},
		], (entry, cells, element) => {
			element.dataset.fn = entry.fn;
			element.title = model.callsText(id === 'callers' ? fn :
				entry.fn, entry.calls) + ' ' + model.many.toLowerCase();
			cells[0].textContent = model.callsText(id === 'callers' ?
				fn : entry.fn, entry.calls);
			putTime(cells[1], entry.incl);
			if (model.comparison)
				cells[1].title = beforeAndAfter(entry.oldIncl,
					entry.incl, ns => grouped(ns) + ' ns');
			cells[2].textContent = percent(entry.incl, whole);
			putBar(cells[1], entry.incl, whole, 'var(--bar2)');
			const place = this.placeOf(entry.places);

			const beside = place ? place.textContent.length *
				PLACE_LETTER + 10 : 0;
			const fits = list.nameRoom - beside >=
				DOT + LEAST_LETTERS * app.letter;

			app.putFunction(cells[3], entry.fn, list.nameRoom -
				(fits ? beside : 0), true);
			if (!place)
				return;
			// where it has no room it is told on hover
			place.hidden = !fits;
			if (!fits)
				element.title = place.title;
			cells[3].append(place);
		}, {click: entry => app.select(entry.fn), label: title});

		list.set(entries);
		return root;
	}

	// The source lines of the calls, or null.
	placeOf(places) {
		const {model} = this.app;
		const known = [...places].filter(([place]) =>
			model.placeText(place));

		if (!known.length)
			return null;
		known.sort((a, b) => b[1] - a[1]);
		return make('span', {
			class: 'place',
			title: known.map(([place, calls]) =>
				`${model.placeText(place, true)}: ` +
				plural(calls, model.one)).join('\n'),
		}, model.placeText(known[0][0]) + (known.length > 1 ?
			` +${known.length - 1}` : ''));
	}
}
