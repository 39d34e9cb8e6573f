// A comparison (swizzle-dump --diff): the old figures beside the new ones, and
// colours by change. Boxes are as wide as the new times; what is gone has rows
// in the lists and no box.

const KINDS = ['', 'noise', 'slower', 'faster', 'other'];

// The old side of a thread's block, in the order of that
// (src/profile/formats/page/html_blocks.c).
function readOld(bytes, {rows, edges, nodes}) {
	const reader = new Reader(bytes);

	[rows.oldCalls, rows.oldSelf, rows.oldIncl, rows.noiseCalls,
		rows.noiseSelf, rows.noiseIncl, rows.kind] =
		reader.table(rows.count, ...Array(7).fill(Float64Array));
	[edges.oldCalls, edges.oldIncl] =
		reader.table(edges.count, Float64Array, Float64Array);
	[nodes.oldCalls, nodes.oldSelf] =
		reader.table(nodes.count, Float64Array, Float64Array);
}

// Into the merged tree: its node `to[i]` stands for node i.
function mergeOld(tree, nodes, to) {
	for (const key of ['oldCalls', 'oldSelf', 'oldTotal'])
		tree[key] = tree[key] || new Float64Array(tree.self.length);
	for (let i = 0; i < nodes.count; i++) {
		tree.oldCalls[to[i]] += nodes.oldCalls[i];
		tree.oldSelf[to[i]] += nodes.oldSelf[i];
	}
}

function sumOld(tree) {
	for (let i = tree.count - 1; i >= 0; i--) {
		tree.oldTotal[i] += tree.oldSelf[i];
		if (i)
			tree.oldTotal[tree.parent[i]] += tree.oldTotal[i];
	}
}

const sign = (from, to) => to > from ? '+' : to < from ? '−' : '±';

// "+12.0 ms (+25.0 %)"
function changeOf(from, to, figure) {
	return sign(from, to) + figure(Math.abs(to - from)) + (from ?
		` (${sign(from, to)}${percent(Math.abs(to - from), from)})` :
		to ? ' (new)' : '');
}

function beforeAndAfter(from, to, figure) {
	return `${figure(from)} → ${figure(to)}, ${changeOf(from, to, figure)}`;
}

const CHANGE_COLUMNS = [
	{key: 'change', title: 'Δ self', width: '84px', align: 'right', sort: true,
		hint: 'New minus old self time; sorted without the sign, what ' +
			'is within the noise last'},
	{key: 'inclChange', title: 'Δ incl.', width: '84px', align: 'right',
		sort: true, drop: 5, hint: 'New minus old inclusive time'},
];

class Comparison {
	constructor(model) {
		this.model = model;
		Object.assign(this, model.description.comparison);
	}

	// To be called when the model's sums and its tree were made.
	update() {
		const {model} = this;
		const {sums} = model;

		for (const key of ['oldCalls', 'oldSelf', 'oldIncl', 'noiseCalls',
			'noiseSelf', 'noiseIncl', 'kind', 'change', 'inclChange'])
			sums[key] = new Float64Array(model.catalog.count);
		this.largest = 0;
		this.oldTotal = 0;
		// (the page of a comparison has one thread: all of them)
		for (const {rows} of model.shownThreads())
			for (let i = 0; i < rows.count; i++) {
				const fn = rows.fn[i];

				for (const key of ['oldCalls', 'oldSelf', 'oldIncl',
					'noiseCalls', 'noiseSelf', 'noiseIncl', 'kind'])
					sums[key][fn] = rows[key][i];
				this.oldTotal += rows.oldSelf[i];
				this.rank(fn);
			}
	}

	// Where a function stands when the rows are sorted by change.
	rank(fn) {
		const {sums} = this.model;
		const self = Math.abs(sums.self[fn] - sums.oldSelf[fn]);
		const incl = Math.abs(sums.incl[fn] - sums.oldIncl[fn]);
		const noise = this.isNoise(fn);

		sums.change[fn] = noise ? self / 1e19 : 1 + self;
		sums.inclChange[fn] = noise ? incl / 1e19 : 1 + incl;
		if (!noise)
			this.largest = Math.max(this.largest, self);
	}

	isNoise(fn) {
		return KINDS[this.model.sums.kind[fn]] === 'noise';
	}

	// "slower", "noise", ...: what csv and json say, too.
	kindName(fn) {
		const {sums} = this.model;
		const before = sums.oldCalls[fn] || sums.oldSelf[fn] ||
			sums.oldIncl[fn];
		const now = sums.calls[fn] || sums.self[fn] || sums.incl[fn];

		if (!before !== !now)
			return now ? 'new' : 'gone';
		return KINDS[sums.kind[fn]];
	}

	// ---- colours ----

	// Orange and blue: who cannot tell red from green can tell these.
	shade(colours, from, to) {
		const share = Math.sqrt(Math.min(1, Math.abs(to - from) /
			(this.largest || 1)));

		return colours.hsl(to > from ? 20 : 212, 45 + 40 * share,
			colours.dark ? 70 - 12 * share : 90 - 26 * share);
	}

	grey(colours) {
		return colours.hsl(215, 7, colours.dark ? 48 : 85);
	}

	// Neither slower nor faster by itself, but called more, or with callees
	// that are.
	otherwise(colours) {
		return colours.hsl(46, colours.dark ? 40 : 75, colours.dark ? 62 : 84);
	}

	pick(colours, fn, from, to) {
		const {sums} = this.model;

		if (this.isNoise(fn) || (from === to && !sums.kind[fn]))
			return this.grey(colours);
		if (Math.abs(to - from) > sums.noiseSelf[fn])
			return this.shade(colours, from, to);
		return this.otherwise(colours);
	}

	ofFunction(colours, fn) {
		const {sums} = this.model;

		return this.pick(colours, fn, sums.oldSelf[fn], sums.self[fn]);
	}

	ofNode(colours, node) {
		const {tree} = this.model;

		return this.pick(colours, tree.fn[node], tree.oldSelf[node],
			tree.self[node]);
	}

	// ---- what is said on hover ----

	rows(fn) {
		const {sums} = this.model;
		const kind = this.kindName(fn);
		const list = [];

		if (!isNoCall(fn))
			list.push(['calls', beforeAndAfter(sums.oldCalls[fn],
				sums.calls[fn], grouped)]);
		list.push(['self', beforeAndAfter(sums.oldSelf[fn], sums.self[fn],
			duration)]);
		if (this.noiseKnown)
			list.push(['its noise', duration(sums.noiseSelf[fn])]);
		list.push(['inclusive', beforeAndAfter(sums.oldIncl[fn],
			sums.incl[fn], duration)]);
		if (this.noiseKnown)
			list.push(['its noise', duration(sums.noiseIncl[fn])]);
		if (kind)
			list.push(['change', kind === 'noise' ? 'within the noise' :
				kind]);
		return list;
	}

	nodeRows(node) {
		const {tree} = this.model;
		const list = [['here, old → new', '']];

		if (tree.fn[node] >= 0)
			list.push(['calls', beforeAndAfter(tree.oldCalls[node],
				tree.calls[node], grouped)]);
		list.push(['self', beforeAndAfter(tree.oldSelf[node],
			tree.self[node], duration)]);
		list.push(['inclusive', beforeAndAfter(tree.oldTotal[node],
			tree.total[node], duration)]);
		return list;
	}

	// ---- lists ----

	// In front of the names.
	addColumns(columns) {
		columns.splice(columns.findIndex(({key}) => key === 'name'), 0,
			...CHANGE_COLUMNS);
	}

	// A change within NOISE has no colour.
	putChange(cell, from, to, noise) {
		const beyond = Math.abs(to - from) > noise;

		cell.textContent = sign(from, to) + duration(Math.abs(to - from));
		cell.title = beforeAndAfter(from, to, ns => grouped(ns) + ' ns');
		cell.classList.toggle('slower', beyond && to > from);
		cell.classList.toggle('faster', beyond && to < from);
		cell.classList.toggle('unchanged', !beyond);
	}

	renderRow(fn, columns, cells, element) {
		const {sums} = this.model;
		const title = this.rows(fn).map(([name, value]) =>
			`${name}: ${value}`).join('\n');

		element.classList.toggle('noise', this.isNoise(fn));
		columns.forEach(({key}, i) => {
			if (key === 'change')
				this.putChange(cells[i], sums.oldSelf[fn],
					sums.self[fn], sums.noiseSelf[fn]);
			if (key === 'inclChange')
				this.putChange(cells[i], sums.oldIncl[fn],
					sums.incl[fn], sums.noiseIncl[fn]);
			if (key !== 'name' && key !== 'module')
				cells[i].title = title;
		});
	}

	// A list of a tree with one more column: how the time in its first one
	// has changed.
	// The noise of single contexts is not known: that of the function stands
	// for it.
	withChange(columns, source, old, noise) {
		const column = {key: 'change', title: 'Δ', width: '84px',
			align: 'right', hint: `New minus old: ${columns[0].title}`};
		const time = source.time;

		return [[...columns, column], {...source, figures: (item, cells) => {
			source.figures(item, cells);
			this.putChange(cells[columns.length], old(item), time(item),
				source.fn(item) < 0 ? this.noiseNs :
					this.model.sums[noise][source.fn(item)]);
		}}];
	}

	downList(columns, source) {
		return this.withChange(columns, {...source,
			time: node => this.model.tree.total[node]},
		node => this.model.tree.oldTotal[node], 'noiseIncl');
	}

	// (a function of which no callers were asked for is only its number)
	upList(columns, source) {
		const {model} = this;

		return this.withChange(columns, {...source,
			time: ({root, time}) => root === undefined ? time :
				model.sums.self[root]},
		({root, origins}) => root === undefined ? origins.reduce(
			(sum, node) => sum + model.tree.oldSelf[node], 0) :
			model.sums.oldSelf[root], 'noiseSelf');
	}

	// ---- the page ----

	// Beside the new total.
	runsText() {
		return this.newRuns > 1 ? `, mean of ${this.newRuns} runs` : '';
	}

	chip() {
		const {model, noiseKnown, verdict, newRuns, oldRuns} = this;
		const runs = `${plural(oldRuns, 'old run')}, ` +
			plural(newRuns, 'new run');

		return make('span', {class: 'chip', id: 'verdict',
			title: `${beforeAndAfter(this.oldNs, model.total,
				ns => grouped(ns) + ' ns')}; ${runs}` +
				(noiseKnown ? `; noise ${grouped(this.noiseNs)} ns` :
					'. Several runs of each tell changes from noise: ' +
					'--diff OLD... -- NEW...')},
		changeOf(this.oldNs, model.total, duration) + ': ' +
			(noiseKnown ? verdict : 'noise unknown'));
	}

	begin() {
		$('colour-mode').prepend(make('option', {value: 'change'},
			'by change'));
		$('colour-mode').value = 'change';
		$('colour-mode').after(make('div', {id: 'legend'}));
	}

	showLegend(colours) {
		const {largest} = this;
		const all = largest ? '' : 'all ';
		const entries = [[this.grey(colours), all + (this.noiseKnown ?
			'within the noise' : 'without difference')]];

		if (largest)
			entries.unshift(
				[this.shade(colours, 0, largest), 'more self time'],
				[this.shade(colours, largest, 0), 'less self time']);
		if (this.model.functions.some(fn => this.ofFunction(colours, fn) ===
			this.otherwise(colours)))
			entries.push([this.otherwise(colours),
				'other calls or callees']);
		$('legend').hidden = colours.mode !== 'change';
		$('legend').replaceChildren(...entries.map(([colour, what]) => {
			const swatch = make('i', {class: 'swatch'});

			swatch.style.background = colour;
			return make('div', {}, swatch, what);
		}));
	}
}
