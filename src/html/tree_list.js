// The trees: top-down and bottom-up.

// A tree whose items are made as they are unfolded. A row is an item with its
// level; `open` says whether its children follow it.
class TreeList {
	constructor(app, root, columns, source, label) {
		this.app = app;
		this.source = source;
		this.list = new List(root, [...columns.filter(({key}) =>
			!(app.model.holdsSamples && key === 'mean')).map(column =>
			column.key === 'calls' ? {...column,
				width: countWidth(app.model.mostCalls, 78),
				title: app.model.many} : column), {key: 'name',
			title: 'Function', width: 'minmax(120px, 1fr)', wants: 260}],
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
			empty: () => app.whyNoFunction(),
		});
	}

	update() {
		this.at = -1;
		this.list.set(this.source.roots().map(item => ({item, level: 0,
			open: false})));
		if (this.source.weight)
			this.unfoldHeavy();
	}

	// Unfolds what there is to see first: down to where the time divides.
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
		const {rows} = this.list;
		const below = rows.splice(index + 1);

		row.open = true;
		// (one by one: a call takes only so many arguments)
		for (const item of this.source.children(row.item))
			rows.push({item, level: row.level + 1, open: false});
		for (const each of below)
			rows.push(each);
		this.list.set(rows);
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
		if (source.caused && source.caused(row.item))
			cell.append(make('span', {class: 'dim',
				title: 'Another thread did it for the call above'},
			' ↷ in another thread'));
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
	{key: 'share', title: '%', width: '55px', align: 'right', drop: 3,
		label: 'Share of all time'},
	{key: 'self', title: 'Self', width: '71px', align: 'right'},
	{key: 'calls', title: 'Calls', width: '78px', align: 'right', drop: 2},
	{key: 'mean', title: 'Mean', width: '78px', align: 'right', drop: 1,
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
		caused: node => tree().caused && tree().caused[node],
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
	{key: 'share', title: '%', width: '55px', align: 'right', drop: 1,
		label: 'Share of all time'},
	{key: 'calls', title: 'Calls', width: '78px', align: 'right', drop: 2},
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
