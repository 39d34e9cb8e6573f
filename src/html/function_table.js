// The table of functions.

class FunctionTable {
	constructor(app) {
		this.app = app;
		this.sort = app.model.comparison ? 'change' : 'self';
		this.ascending = false;
		this.list = new List($('functions'), this.columns(),
			(fn, cells, element) => this.render(fn, cells, element), {
				sort: column => this.sortBy(column),
				click: fn => app.select(fn),
				open: fn => app.reveal(fn, true),
				moved: fn => app.select(fn, true),
				label: 'Functions',
				empty: () => app.whyNoFunction(),
			});
	}

	columns() {
		const columns = [
			{key: 'calls', title: this.app.model.many,
				width: countWidth(this.app.model.mostCalls, 71), drop: 7,
				align: 'right', sort: true},
			{key: 'self', title: 'Self', width: '67px', align: 'right',
				hint: 'Time in the function itself', sort: true},
			{key: 'share', title: '%', width: '53px', align: 'right',
				drop: 6, label: 'Share of self time',
				hint: 'Share of all time'},
			{key: 'incl', title: 'Inclusive', width: '69px',
				align: 'right', sort: true,
				hint: 'Time with everything it called'},
			{key: 'inclShare', title: '%', width: '53px', drop: 4,
				align: 'right', label: 'Share of inclusive time',
				hint: 'Share of all time'},
		];

		// samples have no times of calls
		if (!this.app.model.holdsSamples)
			columns.push({key: 'mean', title: 'Mean', width: '67px',
				align: 'right', sort: true, drop: 3,
				hint: 'Inclusive time of a call'});
		if (this.app.model.estimated)
			columns.splice(2, 0, {key: 'error', title: '±',
				width: '78px', align: 'right', sort: true, drop: 5,
				hint: 'Standard error of the self time'});
		else if (!this.app.model.holdsSamples)
			columns.push({key: 'max', title: 'Max', width: '67px',
				align: 'right', sort: true, drop: 2,
				hint: 'The longest call'});
		if (this.app.model.knowsWaiting)
			columns.splice(columns.findIndex(({key}) =>
				key === 'inclShare') + 1, 0, {key: 'waiting',
				title: 'Waiting', width: '69px', align: 'right',
				sort: true, drop: 5, hint: 'Beside the inclusive time: the ' +
					'thread did not run'});
		columns.push({key: 'name', title: 'Function',
			width: 'minmax(90px, 3fr)', wants: 230, sort: true});
		columns.push({key: 'module', title: 'Module', drop: 1,
			width: 'minmax(72px, 1fr)', wants: 170, sort: true});
		if (this.app.model.comparison)
			this.app.model.comparison.addColumns(columns);
		return columns;
	}

	value(key, fn) {
		const {sums, catalog} = this.app.model;

		switch (key) {
		case 'mean':
			return sums.calls[fn] ? sums.incl[fn] / sums.calls[fn] : 0;
		case 'error':
			return Math.sqrt(sums.variance[fn]);
		case 'name':
			return catalog.name[fn];
		case 'module':
			return this.app.model.moduleName(fn);
		default:
			return sums[key][fn];
		}
	}

	sortBy(column) {
		const byName = column.key === 'name' || column.key === 'module';

		this.setSort(column.key, this.sort === column.key ?
			!this.ascending : byName);
		this.app.remember();
	}

	setSort(key, ascending) {
		const column = this.list.columns.find(each => each.key === key);

		if (!column || !column.sort)
			return;
		this.ascending = ascending;
		this.sort = key;
		this.update();
	}

	update() {
		const {model} = this.app;
		const sign = this.ascending ? 1 : -1;
		const values = new Map();
		const rows = model.functions.filter(fn => !model.matches ||
			model.matches[fn]);

		for (const fn of rows)
			values.set(fn, this.value(this.sort, fn));
		rows.sort((a, b) => {
			const x = values.get(a), y = values.get(b);

			return x < y ? -sign : x > y ? sign : a - b;
		});
		this.list.set(rows);
		this.list.markSorted(this.sort, this.ascending);
	}

	render(fn, cells, element) {
		const {app} = this;
		const {model} = app;
		const {sums} = model;

		element.dataset.fn = fn;
		element.classList.toggle('selected', fn === model.selected);
		this.list.columns.forEach((column, i) => {
			const cell = cells[i];

			switch (column.key) {
			case 'calls':
				cell.textContent = isNoCall(fn) ? '' :
					model.callsText(fn, sums.calls[fn]);
				break;
			case 'share':
				cell.textContent = percent(sums.self[fn], model.total);
				putBar(cell, sums.self[fn], model.total, 'var(--bar)');
				break;
			case 'inclShare':
				cell.textContent = percent(sums.incl[fn], model.total);
				putBar(cell, sums.incl[fn], model.total,
					'var(--bar2)');
				break;
			case 'name':
				app.putFunction(cell, fn, this.list.nameRoom,
					!this.list.shows('module'));
				break;
			case 'module':
				cell.textContent = model.moduleName(fn);
				cell.title = model.modulePath(fn);
				cell.classList.add('dim');
				break;
			case 'waiting':
				if (model.knowsWaiting)
					putTime(cell, sums.waiting[fn]);
				break;
			case 'mean': case 'max':
				// 0: there is none
				if (this.value(column.key, fn))
					putTime(cell, this.value(column.key, fn));
				break;
			default:
				putTime(cell, this.value(column.key, fn));
			}
		});
		if (model.comparison)
			model.comparison.renderRow(fn, this.list.columns, cells,
				element);
	}

	// The module's function that one looks at first: that with the most self
	// time, or which has changed most. -1: there is none.
	get first() {
		const {catalog, comparison, sums} = this.app.model;
		const rows = [...this.list.rows];

		if (comparison && !comparison.largest)
			rows.sort((a, b) => sums.self[b] - sums.self[a]);
		const found = rows.find(fn => catalog.module[fn] >= 0);

		return found !== undefined ? found :
			rows.find(fn => !isNoCall(fn)) ?? -1;
	}

	select() {
		this.list.refresh();
	}

	showSelected() {
		const index = this.list.rows.indexOf(this.app.model.selected);

		if (index >= 0)
			this.list.activate(index);
	}
}
