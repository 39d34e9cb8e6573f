// The lists of functions and of contexts.

function putTime(cell, ns) {
	cell.textContent = durationOrBound(ns);
	cell.title = ns || !leastTime ? grouped(ns) + ' ns' : 'no sample hit it';
}

// ---- the table of functions ----

// How wide it is that modules have a column of their own.
const MODULE_ROOM = 860;

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
			});
	}

	columns() {
		const columns = [
			{key: 'calls', title: this.app.model.many, width: '71px',
				align: 'right', sort: true},
			{key: 'self', title: 'Self', width: '67px', align: 'right',
				hint: 'Time in the function itself', sort: true},
			{key: 'share', title: '%', width: '53px', align: 'right',
				label: 'Share of self time',
				hint: 'Share of all time'},
			{key: 'incl', title: 'Inclusive', width: '69px',
				align: 'right', sort: true,
				hint: 'Time with everything it called'},
			{key: 'inclShare', title: '%', width: '53px', room: 430,
				align: 'right', label: 'Share of inclusive time',
				hint: 'Share of all time'},
		];

		// samples have no times of calls
		if (!this.app.model.holdsSamples)
			columns.push({key: 'mean', title: 'Mean', width: '67px',
				align: 'right', sort: true, room: 500,
				hint: 'Inclusive time of a call'});
		if (this.app.model.sampled)
			columns.splice(2, 0, {key: 'error', title: '±',
				width: '78px', align: 'right', sort: true,
				hint: 'Standard error of the self time'});
		else if (!this.app.model.holdsSamples)
			columns.push({key: 'max', title: 'Max', width: '67px',
				align: 'right', sort: true, room: 570,
				hint: 'The longest call'});
		if (this.app.model.knowsWaiting)
			columns.splice(columns.findIndex(({key}) =>
				key === 'inclShare') + 1, 0, {key: 'waiting',
				title: 'Waiting', width: '69px', align: 'right',
				sort: true, hint: 'What of the inclusive time the ' +
					'thread did not run'});
		columns.push({key: 'name', title: 'Function',
			width: 'minmax(90px, 3fr)', sort: true});
		columns.push({key: 'module', title: 'Module', room: MODULE_ROOM,
			width: 'minmax(72px, 1fr)', sort: true});
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
					this.list.body.clientWidth < MODULE_ROOM);
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

	select() {
		this.list.refresh();
	}

	showSelected() {
		const index = this.list.rows.indexOf(this.app.model.selected);

		if (index >= 0)
			this.list.activate(index);
	}
}

// ---- trees ----

// A tree whose items are made as they are unfolded. A row is an item with its
// level; `open` says whether its children follow it.
class TreeList {
	constructor(app, root, columns, source, label) {
		this.app = app;
		this.source = source;
		this.list = new List(root, [...columns.filter(({key}) =>
			!(app.model.holdsSamples && key === 'mean')).map(column =>
			column.key === 'calls' ? {...column,
				title: app.model.many} : column), {key: 'name',
			title: 'Function', width: 'minmax(260px, 1fr)'}],
		(row, cells, element) => this.render(row, cells, element), {
			click: (row, index, event) => this.click(row, index, event),
			open: (row, index) => this.toggle(index),
			moved: (row, index) => {
				this.at = index;
				this.app.select(this.source.fn(row.item), true);
			},
			key: event => this.key(event),
			tree: true,
			label,
		});
	}

	update() {
		this.at = -1;
		this.list.set(this.source.roots().map(item => ({item, level: 0,
			open: false})));
		if (this.source.weight)
			this.unfoldHeavy();
	}

	// What there is to see first: down to where the time divides.
	unfoldHeavy() {
		const {rows} = this.list;

		for (let index = 0; index < 16; index++) {
			this.unfold(index);
			if (!rows[index].open || this.source.weight(
				rows[index + 1].item) < 0.6 *
				this.source.weight(rows[index].item))
				return;
		}
	}

	unfold(index) {
		const row = this.list.rows[index];

		if (row.open || !this.source.hasChildren(row.item))
			return;
		row.open = true;
		this.list.rows.splice(index + 1, 0, ...this.source
			.children(row.item).map(item => ({item,
				level: row.level + 1, open: false})));
		this.list.set(this.list.rows);
	}

	fold(index) {
		const {rows} = this.list;
		const row = rows[index];
		let end = index + 1;

		row.open = false;
		while (end < rows.length && rows[end].level > row.level)
			end++;
		rows.splice(index + 1, end - index - 1);
		this.list.set(rows);
	}

	toggle(index) {
		if (this.list.rows[index].open)
			this.fold(index);
		else
			this.unfold(index);
	}

	click(row, index, event) {
		this.at = index;
		if (event.target.classList.contains('fold')) {
			this.toggle(index);
			return;
		}
		this.app.select(this.source.fn(row.item));
	}

	render(row, cells, element) {
		const {app, source} = this;
		const fn = source.fn(row.item);
		const cell = cells[cells.length - 1];
		const foldable = source.hasChildren(row.item);

		element.dataset.fn = fn;
		element.dataset.level = row.level;
		element.setAttribute('aria-level', row.level + 1);
		if (foldable)
			element.setAttribute('aria-expanded', row.open);
		element.classList.toggle('selected', fn >= 0 &&
			fn === app.model.selected);
		source.figures(row.item, cells);
		cell.style.paddingLeft = 6 + Math.min(row.level, 60) * 14 + 'px';
		cell.append(make('span', {
			class: 'fold' + (foldable ? '' : ' leaf'),
			title: foldable ? 'Unfold (→), fold (←)' : '',
		}, foldable ? row.open ? '▾' : '▸' : ''));
		if (fn < 0)
			cell.append(make('b', {}, source.name(row.item)));
		else
			app.putFunction(cell, fn, this.list.nameRoom - 18 -
				Math.min(row.level, 60) * 14, true);
		if (source.folded && source.folded(row.item))
			cell.append(make('span', {class: 'dim',
				title: 'Its time is in the call further up'},
			' ↻ folded'));
	}

	key(event) {
		const {rows} = this.list;
		let index = this.at;

		switch (event.key) {
		case 'ArrowRight':
			if (rows[index] && !rows[index].open)
				this.unfold(index);
			return true;
		case 'ArrowLeft':
			if (!rows[index])
				return true;
			if (rows[index].open) {
				this.fold(index);
				return true;
			}
			for (index--; index >= 0 && rows[index].level >=
				rows[this.at].level;)
				index--;
			break;
		default:
			return false;
		}
		this.at = clamp(index, 0, rows.length - 1);
		if (rows[this.at]) {
			this.app.select(this.source.fn(rows[this.at].item), true);
			this.list.activate(this.at);
		}
		return true;
	}

	select() {
		this.list.refresh();
	}
}

const TREE_COLUMNS = [
	{key: 'total', title: 'Inclusive', width: '71px', align: 'right',
		hint: 'Time in this context and below'},
	{key: 'share', title: '%', width: '55px', align: 'right',
		label: 'Share of all time'},
	{key: 'self', title: 'Self', width: '71px', align: 'right'},
	{key: 'calls', title: 'Calls', width: '78px', align: 'right'},
	{key: 'mean', title: 'Mean', width: '78px', align: 'right', room: 640,
		hint: 'Inclusive time of a call from here'},
];

function topDownSource(app) {
	const tree = () => app.model.tree;

	return {
		roots: () => [0],
		fn: node => tree().fn[node],
		name: node => app.label(-1, tree().thread[node]),
		weight: node => tree().total[node],
		folded: node => tree().folded[node],
		hasChildren: node => tree().first[node + 1] > tree().first[node],
		children: node => Array.from(tree().children.subarray(
			tree().first[node], tree().first[node + 1])),
		figures(node, cells) {
			const {total, self, calls, fn} = tree();

			putTime(cells[0], total[node]);
			cells[1].textContent = percent(total[node], total[0]);
			putBar(cells[1], total[node], total[0], 'var(--bar2)');
			putTime(cells[2], self[node]);
			if (fn[node] < 0)
				return;
			cells[3].textContent = app.model.callsText(fn[node], calls[node]);
			if (app.model.holdsSamples)
				return;
			if (total[node] || !leastTime)
				putTime(cells[4], calls[node] ?
					total[node] / calls[node] : 0);
			else
				cells[4].textContent = '–';
		},
	};
}

const UP_COLUMNS = [
	{key: 'self', title: 'Self', width: '71px', align: 'right',
		hint: 'Self time of the function at the top of this chain'},
	{key: 'share', title: '%', width: '55px', align: 'right',
		label: 'Share of all time'},
	{key: 'calls', title: 'Calls', width: '78px', align: 'right'},
];

function bottomUpSource(app) {
	return {
		roots() {
			const {model} = app;

			return model.functions.filter(fn => !isNoCall(fn) &&
				(!model.matches || model.matches[fn]))
				.sort((a, b) => model.sums.self[b] -
					model.sums.self[a] || a - b)
				.map(fn => ({root: fn}));
		},
		item(item) {
			if (item.root === undefined)
				return item;
			return item.made || (item.made = upRoot(app.model, item.root));
		},
		fn: item => item.root === undefined ? item.fn : item.root,
		name: item => app.label(-1, item.thread),
		hasChildren(item) {
			return upHasCallers(app.model, this.item(item));
		},
		children(item) {
			return upCallers(app.model, this.item(item));
		},
		figures(item, cells) {
			const {model} = app;
			const from = item.root === undefined ? item : {
				time: model.sums.self[item.root],
				calls: model.sums.calls[item.root],
			};

			putTime(cells[0], from.time);
			cells[1].textContent = percent(from.time, model.total);
			putBar(cells[1], from.time, model.total, 'var(--bar)');
			cells[2].textContent = model.callsText(
				item.root === undefined ? from.fn : item.root,
				from.calls);
		},
	};
}
