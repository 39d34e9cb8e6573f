// How functions differ between the ranks of a parallel program: a heat map with
// a row for each function and a cell for each rank.

const MOST_CELLS = 512; // of a row; further ranks share one, which has the longest

class Ranks {
	constructor(app) {
		const {model} = app;
		const numbers = new Set(model.threads.flatMap(thread => {
			const {rank, ranks} = model.profiles[thread.profile];

			return thread.ranks ? ranks :
				rank === undefined ? [] : [rank];
		}));

		this.app = app;
		this.numbers = [...numbers].sort((a, b) => a - b);
		this.any = this.numbers.length > 1 && !model.comparison;
		this.sort = 'most';
		this.ascending = false;
		this.times = new Map(); // by function: ns by rank
		this.list = new List($('ranks'), this.columns(),
			(row, cells, element) => this.render(row, cells, element), {
				sort: ({key}) => this.sortBy(key),
				click: ({fn}) => app.select(fn),
				open: ({fn}) => app.reveal(fn, true),
				moved: ({fn}) => app.select(fn, true),
				label: 'Functions by rank',
				empty: () => app.whyNoFunction(),
			});
	}

	columns() {
		const last = this.numbers.length - 1;
		const time = (key, title, hint, drop) => ({key, title, hint,
			width: '69px', align: 'right', sort: true, drop});

		return [
			time('least', 'Min', 'The least self time of a rank', 3),
			time('mean', 'Mean', 'Self time, the mean of all ranks', 2),
			time('most', 'Max', 'The longest self time of a rank'),
			{...time('uneven', 'Uneven', 'The maximum above the mean'),
				width: '64px'},
			{...time('rank', 'Rank', 'Which rank has the maximum'),
				width: '52px', drop: 1},
			{key: 'map', width: 'minmax(120px, 2fr)', wants: 120,
				title: `Ranks ${this.numbers[0]} to ${
					this.numbers[last]}`,
				hint: 'A cell for each rank. The darker, the nearer ' +
					'to the maximum of the row'},
			{key: 'name', title: 'Function', sort: true,
				width: 'minmax(90px, 2fr)', wants: 100},
		];
	}

	sortBy(key) {
		this.ascending = this.sort === key ? !this.ascending :
			key === 'name';
		this.sort = key;
		this.update();
	}

	// Self times by function and rank, of the threads that count.
	collect() {
		const {model} = this.app;
		const place = new Map(this.numbers.map((rank, i) => [rank, i]));

		this.times.clear();
		for (const {part: {rows}, profile, ranks} of
			model.countedThreads()) {
			const about = model.profiles[profile];
			const at = place.get(about.rank);

			if (ranks)
				for (const [fn, times] of ranks)
					times.forEach((ns, i) => this.add(fn,
						place.get(about.ranks[i]), ns));
			else if (at !== undefined)
				for (let i = 0; i < rows.count; i++)
					this.add(rows.fn[i], at, rows.self[i]);
		}
	}

	add(fn, at, ns) {
		if (!this.times.has(fn))
			this.times.set(fn, new Float64Array(this.numbers.length));
		this.times.get(fn)[at] += ns;
	}

	rowOf(fn) {
		const times = this.times.get(fn);
		let sum = 0, at = 0, least = times[0];

		times.forEach((ns, i) => {
			sum += ns;
			least = Math.min(least, ns);
			at = ns > times[at] ? i : at;
		});
		const mean = sum / times.length;

		return {fn, times, least, mean, most: times[at],
			rank: this.numbers[at],
			uneven: mean ? times[at] / mean - 1 : 0};
	}

	update() {
		const {model} = this.app;
		const sign = this.ascending ? 1 : -1;
		const value = row => this.sort === 'name' ?
			model.catalog.name[row.fn] : row[this.sort];

		this.collect();
		const rows = model.functions.filter(fn => this.times.has(fn) &&
			!isNoCall(fn) && (!model.matches || model.matches[fn]))
			.map(fn => this.rowOf(fn));

		rows.sort((a, b) => value(a) < value(b) ? -sign :
			value(a) > value(b) ? sign : a.fn - b.fn);
		this.list.set(rows);
		this.list.markSorted(this.sort, this.ascending);
	}

	select() {
		this.list.refresh();
	}

	render(row, cells, element) {
		const {app} = this;

		element.dataset.fn = row.fn;
		element.classList.toggle('selected', row.fn === app.model.selected);
		this.list.columns.forEach(({key}, i) => {
			if (key === 'name')
				app.putFunction(cells[i], row.fn,
					this.list.nameRoom, true);
			else if (key === 'map')
				this.putMap(cells[i], row);
			else if (key === 'uneven')
				cells[i].textContent = percent(row.uneven, 1);
			else if (key === 'rank')
				cells[i].textContent = plain(row.rank);
			else
				putTime(cells[i], row[key]);
		});
	}

	putMap(cell, {times, most}) {
		const count = Math.min(times.length, MOST_CELLS);
		const each = times.length / count;
		const stops = [];

		for (let i = 0; i < count; i++) {
			const longest = Math.max(...times.subarray(
				Math.floor(i * each), Math.floor((i + 1) * each)));
			const colour = this.app.colours.ofHeat(most ?
				longest / most : 0);

			stops.push(`${colour} ${100 * i / count}% ${
				100 * (i + 1) / count}%`);
		}
		cell.classList.add('ranks');
		cell.setAttribute('aria-label', this.said(times));
		cell.append(make('i', {}));
		cell.firstChild.style.background =
			`linear-gradient(to right, ${stops.join()})`;
		cell.onmousemove = event => {
			const {left, width} = cell.firstChild.getBoundingClientRect();
			const at = clamp(Math.floor((event.clientX - left) / width *
				times.length), 0, times.length - 1);

			cell.title = `rank ${this.numbers[at]}: ${
				duration(times[at])}`;
		};
	}

	// (of many nobody wants to hear)
	said(times) {
		return times.length > 16 ? plural(times.length, 'rank') :
			Array.from(times, (ns, i) => `rank ${this.numbers[i]} ${
				duration(ns)}`).join(', ');
	}
}
