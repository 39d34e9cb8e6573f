// The text below the mouse.

const LONG_NAME = 160; // more than some lines

class Tip {
	constructor() {
		this.root = $('tip');
	}

	show(event, about, app) {
		const {model} = app;
		const rows = [...about.rows];
		const fn = about.fn;

		if (fn !== undefined && fn >= 0 && model.comparison) {
			rows.push(['in all, old → new', ''],
				...model.comparison.rows(fn));
		} else if (fn !== undefined && fn >= 0) {
			const {sums} = model;

			rows.push(['in all', '']);
			if (!isNoCall(fn))
				rows.push([model.one + 's', model.callsText(fn,
					sums.calls[fn])]);
			rows.push(
				['inclusive', `${durationOrBound(sums.incl[fn])}, ` +
					percent(sums.incl[fn], model.total)],
				['self', `${durationOrBound(sums.self[fn])}, ` +
					percent(sums.self[fn], model.total) +
					(model.estimated ? ' ± ' + duration(
						Math.sqrt(sums.variance[fn])) :
						'')]);
			if (sums.calls[fn] && !model.holdsSamples)
				rows.push(['mean', duration(sums.incl[fn] /
					sums.calls[fn])]);
		}
		this.root.replaceChildren(
			make('b', {}, about.title),
			fn !== undefined && fn >= 0 ? make('p', {},
				[model.moduleName(fn), model.source(fn)]
					.filter(Boolean).join(' · ')) : '',
			make('dl', {}, ...rows.map(([name, value]) => value ?
				pair(name, value) : make('div', {class: 'title'}, make('dt', {}, name)))));
		this.root.classList.toggle('wide', about.title.length > LONG_NAME);
		this.root.hidden = false;
		const {offsetWidth, offsetHeight} = this.root;
		const x = event.clientX + 14, y = event.clientY + 18;

		this.root.style.left = Math.max(4, x + offsetWidth > innerWidth ?
			event.clientX - offsetWidth - 10 : x) + 'px';
		this.root.style.top = Math.max(4, y + offsetHeight > innerHeight ?
			event.clientY - offsetHeight - 12 : y) + 'px';
	}

	hide() {
		this.root.hidden = true;
	}
}
