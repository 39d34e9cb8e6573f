// A bubble beside the box that was clicked: what the call was given and what it
// returned, how long it took, and who called it with what.

const MOST_FRAMES = 40; // of a stack

class Bubble {
	constructor(app) {
		this.app = app;
		this.root = $('bubble');
		this.item = null;
		this.reading = false;
	}

	// POINT: where it was asked for, in the window.
	async open(item, point) {
		const {root} = this;
		const frames = callersOf(item);

		if (root.hidden)
			this.focusBefore = document.activeElement;
		this.item = item;
		this.reading = true;
		this.app.tip.hide();
		this.fill(item, frames, null, []);
		root.hidden = false;
		root.scrollTop = 0;
		this.place(point);
		root.focus();
		const values = await this.valuesOf(item);
		const entries = [];

		for (const frame of frames.slice(0, MOST_FRAMES))
			entries.push((await this.valuesOf(frame)).entry);
		if (this.item !== item)
			return;
		this.reading = false;
		this.fill(item, frames, values, entries);
		this.place(point);
	}

	// {entry, back, cut}: what a call was given and what it returned, each as
	// at() in src/html/values.js has it.
	async valuesOf({thread, of, at}) {
		const {values} = thread;
		const row = rowOf(of, at);
		const begun = !(of.flags[at] & CUT && of.flags[at] & NO_CALL);

		if (!values)
			return {entry: null, back: null, cut: false};
		return {
			entry: begun ? await values.at(of.start[at], row, false) :
				null,
			back: await values.at(of.end[at], row, true),
			cut: values.isCut(of.end[at]),
		};
	}

	// True if it was open.
	close() {
		if (this.root.hidden)
			return false;
		const hadFocus = this.root.contains(document.activeElement);

		this.root.hidden = true;
		this.item = null;
		this.reading = false;
		if (hadFocus && this.focusBefore)
			this.focusBefore.focus();
		return true;
	}

	place({x, y}) {
		const {offsetWidth, offsetHeight} = this.root;
		const left = x + 14 + offsetWidth > innerWidth ?
			x - offsetWidth - 14 : x + 14;
		const top = y + 18 + offsetHeight > innerHeight ?
			Math.max(y - offsetHeight - 18, innerHeight -
				offsetHeight - 8) : y + 18;

		this.point = {x, y};
		this.root.style.left = Math.max(8, left) + 'px';
		this.root.style.top = Math.max(8, top) + 'px';
	}

	// VALUES are null, and ENTRIES not there, while they are read.
	fill(item, frames, values, entries) {
		const {app} = this;
		const {model} = app;
		const timeline = app.charts.timeline;
		const fn = timeline.fnOf(item);
		const {title, rows} = timeline.describe(item);
		const swatch = make('i', {class: 'swatch'});

		swatch.style.background = timeline.colour(item.thread, fn);
		this.root.replaceChildren(
			make('header', {},
				make('h3', {id: 'bubble-title', class: 'with-dot',
					'aria-level': 2}, swatch,
					title),
				make('button', {title: 'Close (Esc)',
					'aria-label': 'Close',
					onclick: () => this.close()}, '×')),
			make('p', {class: 'dim'}, [model.moduleName(fn),
				model.source(fn)].filter(Boolean).join(' · ')),
			...(values ? this.values(item, values) : []),
			pairs(rows.slice(1)),
			...this.stack(frames, entries));
	}

	values(item, {entry, back, cut}) {
		const parts = [];
		const table = (title, list) => {
			if (list.length)
				parts.push(make('h4', {}, title), make('table',
					{class: 'values'}, make('tbody', {},
						...list.map(([name, value, kind]) =>
							make('tr', {class: kind || ''},
								make('th', {scope: 'row'}, name),
								make('td', {}, value))))));
		};
		const ends = back || [];

		table('Arguments', entry || []);
		table('Result', ends.filter(([name]) => !name.startsWith('*'))
			.map(([name, value]) => name === 'exception' ?
				['ended by', value, 'bad'] : ['=', value]));
		table('After the call', ends.filter(([name]) =>
			name.startsWith('*')).map(([name, value]) =>
			[name, this.change(entry, name, value)]));
		if (!parts.length)
			parts.push(make('p', {class: 'dim'}, this.why(item, cut)));
		return parts;
	}

	change(entry, name, value) {
		const before = (entry || []).find(([other]) => other === name);

		return before && before[1] !== value ?
			`${before[1]} → ${value}` : value;
	}

	why({of, at}, cut) {
		const {model} = this.app;
		const seconds = time => (Math.max(0, time - model.first) / 1e9)
			.toFixed(9);

		if (model.holdsSamples)
			return 'Samples have no arguments and results: swizzle-run ' +
				'-m trace --args records them.';
		if (cut)
			return 'The page has no room for what it was given and has ' +
				'returned: swizzle-dump -f html --from ' +
				`${seconds(of.start[at] - 1000)} --to ` +
				`${seconds(of.end[at] + 1000)} shows it.`;
		return model.threads.some(({values}) => values) ?
			'What it was given and has returned was not recorded.' :
			'Arguments and results were not recorded: swizzle-run -m ' +
			'trace --args records them.';
	}

	// The innermost first. Each leads to what is known of that call.
	stack(frames, entries) {
		const {app} = this;
		const {timeline} = app.charts;

		if (!frames.length)
			return [];
		const list = make('ol', {}, ...frames.slice(0, MOST_FRAMES).map(
			(frame, i) => make('li', {}, make('button', {
				onclick: () => this.go(frame)},
			make('b', {}, app.label(timeline.fnOf(frame))),
			entries[i] ? `(${argumentsText(entries[i])})` : ''))));

		if (frames.length > MOST_FRAMES)
			list.append(make('li', {class: 'dim'},
				`… ${grouped(frames.length - MOST_FRAMES)} more`));
		return [make('h4', {}, 'Called by'), list];
	}

	go(frame) {
		this.app.select(this.app.charts.timeline.fnOf(frame));
		this.open(frame, this.point);
	}
}

// The calls around one of a trace, or of what stands for it; the innermost first.
function callersOf({thread, of, at}) {
	const frames = [];

	for (let row = rowOf(of, at) - 1; row >= 0; row--) {
		const found = firstWhere(of.rows[row], of.rows[row + 1], i =>
			of.end[of.byDepth[i]] >= of.end[at]);

		if (found < of.rows[row + 1] &&
			of.start[of.byDepth[found]] <= of.start[at])
			frames.push({thread, of, at: of.byDepth[found]});
	}
	return frames;
}
