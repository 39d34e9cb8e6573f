// The last arguments and results of each context in a profile that is no trace,
// and the range of its numbers.

const OF_RETURN = 2, HAS_LAST = 4, HAS_RANGE = 8; // of a value
const MOST_LAST = 50; // contexts of a function that are shown
const MOST_CALLERS = 4; // of a context

// [{node, calls, values: [{back, name, last, low, high}]}] of a thread.
function readLast(bytes) {
	const reader = new Reader(bytes);
	const contexts = [];

	while (reader.at < bytes.length) {
		const context = {node: reader.number(), calls: reader.number(),
			values: []};

		for (let what = reader.number(); what; what = reader.number())
			context.values.push({
				back: Boolean(what & OF_RETURN),
				name: reader.string(),
				last: what & HAS_LAST ? reader.string() : null,
				low: what & HAS_RANGE ? reader.string() : null,
				high: what & HAS_RANGE ? reader.string() : null,
			});
		contexts.push(context);
	}
	return contexts;
}

// "3 calls, from one < main" and the values: an element, or null.
function lastValues(app, fn) {
	const {model} = app;
	const all = model.shownThreads().flatMap(thread =>
		(thread.last || []).filter(({node}) =>
			thread.nodes.fn[node] === fn).map(context =>
			({thread, ...context})));

	if (!all.length)
		return null;
	all.sort((a, b) => b.calls - a.calls);
	const root = make('div', {class: 'last', role: 'region', tabindex: 0,
		'aria-label': 'Last arguments and results'});

	for (const {thread, node, calls, values} of all.slice(0, MOST_LAST))
		root.append(make('table', {},
			make('caption', {}, plural(calls, 'call') +
				callersText(app, thread, node)),
			make('thead', {}, make('tr', {}, make('th', {}),
				make('th', {}, 'Last'), make('th', {}, 'Between'))),
			make('tbody', {}, ...values.map(value => make('tr', {},
				make('th', {scope: 'row'}, value.back &&
					!value.name.startsWith('*') ? '=' : value.name),
				make('td', {}, value.last === null ? '–' : value.last),
				make('td', {}, rangeText(value)))))));
	if (all.length > MOST_LAST)
		root.append(make('p', {class: 'dim'},
			`… ${grouped(all.length - MOST_LAST)} more contexts`));
	return root;
}

function rangeText({low, high}) {
	return low === null ? '' : low === high ? low : `${low} to ${high}`;
}

function callersText(app, thread, node) {
	const {fn, parent} = thread.nodes;
	const names = [];
	let at = parent[node];

	for (; at && names.length < MOST_CALLERS; at = parent[at])
		names.push(app.label(fn[at]));
	return (names.length ? `, from ${names.join(' < ')}` : '') +
		(at ? ' < …' : '') + (app.model.threads.length > 1 ?
		` (${app.threadName(thread)})` : '');
}
