// Functions and calls of the graph, as swizzle-dump has counted them, and the sources.

const LARGEST = 46;   // radius of the function with most self time
const SMALLEST = 4;

class Graph {
	constructor(data, sources) {
		this.data = data;
		this.unit = data.counts === 'samples' ? 'sample' : 'call';
		setLeastTime(data.bound || 0);
		this.nodes = data.functions.map((about, index) =>
			({...about, index, degree: 0, callers: [], callees: []}));
		this.edges = this.sumEdges();
		this.modules = this.rankModules();
		const most = Math.max(1, ...this.nodes.map(node => node.self));

		// the area is the self time
		for (const node of this.nodes)
			node.radius = Math.max(SMALLEST,
				LARGEST * Math.sqrt(node.self / most));
		this.mostCalls = Math.max(1, ...this.edges.map(edge => edge.calls || 0));
		this.model = new GraphModel(data, sources);
	}

	// One for each caller and callee, whatever the places.
	sumEdges() {
		const found = new Map();

		for (const {caller, callee, calls, incl} of this.data.edges) {
			const key = caller * this.nodes.length + callee;
			const edge = found.get(key) || {from: this.nodes[caller],
				to: this.nodes[callee], calls: 0, incl: 0};

			edge.calls += calls || 0;
			edge.incl += incl;
			edge.uncounted = calls === null;
			found.set(key, edge);
		}
		const edges = [...found.values()];

		for (const edge of edges) {
			edge.from.degree++;
			edge.to.degree++;
			edge.from.callees.push(edge);
			edge.to.callers.push(edge);
			edge.back = found.get(edge.to.index * this.nodes.length +
				edge.from.index);
		}
		const most = (a, b) => b.incl - a.incl || b.calls - a.calls;

		for (const node of this.nodes) {
			node.callers.sort(most);
			node.callees.sort(most);
		}
		return edges;
	}

	rankModules() {
		const modules = new Map();

		for (const {module, path, self} of this.nodes) {
			const key = path || module;
			const found = modules.get(key) || {name: module, path, self: 0,
				key};

			found.self += self;
			modules.set(key, found);
		}
		const order = [...modules.values()].sort((a, b) => b.self - a.self);

		order.forEach((module, rank) => {
			module.hue = HUES[rank % HUES.length];
		});
		for (const node of this.nodes)
			node.of = modules.get(node.path || node.module);
		return order;
	}
}

// SourceView asks this of the model of the other page.
class GraphModel {
	constructor(data, sources) {
		this.sources = sources;
		this.edges = data.edges;
		this.selected = -1;
		this.byCalls = !!data.byCalls; // no times are known
		this.holdsSamples = data.counts === 'samples';
		this.one = this.holdsSamples ? 'sample' : 'call';
		this.many = this.holdsSamples ? 'Samples' : 'Calls';
		const numbers = new Map([['', 0]]), strings = [''];
		const number = text => {
			if (!numbers.has(text))
				numbers.set(text, strings.push(text) - 1);
			return numbers.get(text);
		};

		this.catalog = {
			name: data.functions.map(({name}) => name),
			file: data.functions.map(({file}) => file),
			line: data.functions.map(({line}) => line),
			strings,
			place: {
				file: data.edges.map(({file}) => number(file)),
				line: data.edges.map(({line}) => line),
				inlined: data.edges.map(({inlined}) => number(inlined)),
				outerLine: data.edges.map(({outer}) => outer),
			},
		};
		this.mostCalls = data.edges.reduce((most, {calls}) =>
			Math.max(most, calls || 0), 0);
		this.sums = {incl: data.functions.map(({incl}) => incl)};
	}

	source(fn) {
		const {file, line} = this.catalog;

		return file[fn] ? file[fn] + (line[fn] ? ':' + line[fn] : '') : '';
	}

	*calledFrom(fn) {
		for (const [place, {caller, callee, calls, incl}] of
			this.edges.entries())
			if (caller === fn)
				yield {callee, place, calls: calls || 0, incl};
	}

	// The comment right above a function's definition, or "".
	comment(fn) {
		const file = this.sources.get(this.catalog.file[fn]);
		const lines = [];

		for (let line = this.catalog.line[fn] - 1; line > 0; line--) {
			const part = file && file.parts.find(({first, lines: all}) =>
				line >= first && line < first + all.length);

			if (!part)
				break;
			lines.unshift(part.lines[line - part.first]);
			if (lines.length > 60)
				break;
		}
		return commentAbove(lines);
	}
}

// The comment above a definition. Between the two there may be its return type,
// attributes and decorators.
function commentAbove(lines) {
	let end = lines.length;
	let passed = 0;

	while (end && !/(\*\/|^\s*(\/\/|#|--|;))/.test(lines[end - 1])) {
		const line = lines[end - 1].trim();

		// the end of something else
		if (!line || /[;}]\s*$/.test(line) || ++passed > 4)
			return '';
		end--;
	}
	if (!end || /^\s*#\s*(include|define|if|endif|else|pragma|undef)/.test(
		lines[end - 1]))
		return '';
	let start = end - 1;

	if (/\*\//.test(lines[start])) {
		while (start && !/\/\*/.test(lines[start]))
			start--;
		// behind code it is about that code
		if (!/^\s*\/\*/.test(lines[start]))
			return '';
	} else {
		const kind = /^\s*(\/\/|#|--|;)/.exec(lines[start])[1];

		while (start && lines[start - 1].trim().startsWith(kind))
			start--;
	}
	return lines.slice(start, end).join('\n');
}
