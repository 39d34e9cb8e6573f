// The source of the chosen function, with what its calls cost beside their
// lines. swizzle-dump has chosen which lines a page holds; of the others it says
// why they are not there.

const CODE_LINE = 18;
// of a file's text, as in html_sources.c
const SOURCE_WHOLE = 0, SOURCE_PARTS = 1;
const SOURCE_MISSING = {
	2: 'The file was not found where it was when the program was compiled.',
	3: 'The file is no text, or too long.',
	4: 'A page holds 1 MiB of source, and other files took more time.',
	5: 'The page was written with --no-source.',
};

class SourceView {
	constructor(app) {
		this.app = app;
		this.root = $('source');
		this.about = make('p', {class: 'about'});
		const list = make('div', {class: 'list', id: 'source-lines'});

		this.root.replaceChildren(this.about, list);
		this.list = new List(list, [
			{key: 'line', title: 'Line', width: '54px', align: 'right'},
			{key: 'calls', title: app.model.many, drop: 2,
				width: countWidth(app.model.mostCalls, 72),
				align: 'right', hint: app.model.holdsSamples ?
					'Samples that hit what this line calls' :
					'Calls that this line makes'},
			{key: 'incl', title: 'Inclusive', width: '76px',
				align: 'right', hint: 'Time of what it calls'},
			{key: 'share', title: '%', width: '60px', align: 'right',
				hint: 'Share of the function\'s inclusive time', drop: 1},
			{key: 'name', title: 'Source', width: 'minmax(90px, 1fr)',
				wants: 300},
		], (row, cells, element) => this.render(row, cells, element), {
			click: row => this.clicked(row),
			height: CODE_LINE,
			label: 'Source',
		});
	}

	// True if anything is known that could be shown.
	get any() {
		return this.app.model.sources.size > 0;
	}

	update() {
		const {model} = this.app;
		const fn = model.selected;
		const file = fn < 0 ? null :
			model.sources.get(model.catalog.file[fn]);

		this.costs = new Map();
		this.here = -1;
		if (fn < 0 || !file || !model.catalog.line[fn]) {
			this.say(fn < 0 ? 'Choose a function: here you see its source.' :
				`${model.catalog.name[fn]}: no source line is ` +
				'known. Compile with -g, or see --debug-dir.');
			this.setRows([]);
			return;
		}
		this.file = file;
		this.costs = this.lineCosts(fn);
		this.here = model.catalog.line[fn];
		this.setRows(this.rowsOf(file));
		this.say(model.source(fn, true), this.remark(file));
		this.reveal(this.here);
	}

	setRows(rows) {
		this.list.root.hidden = !rows.length;
		this.list.set(rows);
	}

	say(what, remark) {
		this.about.replaceChildren(make('span', {title: what}, what),
			remark ? make('b', {}, ' ' + remark) : '');
	}

	remark(file) {
		if (SOURCE_MISSING[file.state])
			return SOURCE_MISSING[file.state];
		return file.changed ? 'The file was changed after the recording: ' +
			'lines may have moved.' : '';
	}

	rowsOf(file) {
		const rows = [];
		let next = 1;
		const gap = to => to > next && rows.push({line: 0,
			text: `… ${plural(to - next, 'line')} not in this page`});

		for (const {first, lines} of file.parts) {
			gap(first);
			lines.forEach((text, i) => rows.push({line: first + i, text}));
			next = first + lines.length;
		}
		if (file.parts.length)
			gap(file.lines + 1);
		return rows;
	}

	// {line: {calls, incl, callees}} of what FN calls. An inlined function's
	// calls are at the line where that was inlined.
	lineCosts(fn) {
		const {model} = this.app;
		const {place: places, strings, file} = model.catalog;
		const costs = new Map();

		for (const {callee, place, calls, incl} of model.calledFrom(fn)) {
			const inlined = places.inlined[place];
			const line = inlined ? places.outerLine[place] :
				places.line[place];

			if (!line || !inlined &&
				strings[places.file[place]] !== file[fn])
				continue;
			let at = costs.get(line);

			if (!at)
				costs.set(line, at = {calls: 0, incl: 0,
					callees: new Map()});
			at.calls += calls;
			at.incl += incl;
			const of = at.callees.get(callee) || {calls: 0, incl: 0};

			of.calls += calls;
			of.incl += incl;
			at.callees.set(callee, of);
		}
		return costs;
	}

	render(row, cells, element) {
		const {model} = this.app;
		const cost = this.costs.get(row.line);
		const whole = model.sums.incl[model.selected];

		element.classList.add('code');
		element.classList.toggle('here', row.line === this.here);
		element.classList.toggle('gap', !row.line);
		cells[0].textContent = row.line || '';
		cells[0].classList.add('dim');
		cells[4].textContent = row.text;
		cells[4].title = row.text.trim();
		if (!cost)
			return;
		const callees = [...cost.callees].sort((a, b) =>
			b[1].incl - a[1].incl || b[1].calls - a[1].calls);

		element.classList.add('calls');
		element.title = callees.map(([fn, {calls, incl}]) =>
			`${model.catalog.name[fn]}: ${plural(calls, model.one)}` +
			(model.byCalls ? '' : `, ${duration(incl)}`)).join('\n');
		cells[1].textContent = grouped(cost.calls);
		if (model.byCalls)
			return;
		putTime(cells[2], cost.incl);
		putBar(cells[2], cost.incl, whole, 'var(--bar2)');
		cells[3].textContent = percent(cost.incl, whole);
	}

	// A line that calls leads to what it calls.
	clicked(row) {
		const cost = this.costs.get(row.line);

		if (!cost)
			return;
		const [[fn]] = [...cost.callees].sort((a, b) =>
			b[1].incl - a[1].incl || b[1].calls - a[1].calls);

		this.app.select(fn);
	}

	reveal(line) {
		const index = this.list.rows.findIndex(row => row.line === line);

		if (index >= 0)
			this.list.grid.scrollTop = Math.max(0, index - 3) * CODE_LINE;
		this.list.updateNow();
	}
}
