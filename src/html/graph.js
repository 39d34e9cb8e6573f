// The page of -f graph: draws the functions where forces.js puts them, and shows
// what is known of the chosen one.

const LARGEST = 46;   // radius of the function with most self time
const SMALLEST = 4;
const KEYS = [
	['/', 'search; Enter: the next one found'],
	['arrows', 'to the nearest function in that direction'],
	['C, R', 'to the callee or the caller with most time'],
	['Enter', 'source of the chosen function (double click)'],
	['+ and -', 'larger, smaller (wheel)'],
	['0', 'show everything'],
	['P', 'hold the function where it is, or let it go (drag holds it)'],
	['M', 'show only the functions of its module strongly'],
	['T', 'dark or light'],
	['Esc', 'choose nothing'],
	['?', 'this help'],
];

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

// What SourceView asks of the model of the other page.
class GraphModel {
	constructor(data, sources) {
		this.sources = sources;
		this.edges = data.edges;
		this.selected = -1;
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

// Of the lines above a definition those of its comment. Between them and the
// definition there may be its return type, attributes and decorators.
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

class GraphPage {
	constructor(graph) {
		this.graph = graph;
		this.model = graph.model;
		this.canvas = $('canvas');
		this.pen = this.canvas.getContext('2d');
		this.chosen = this.under = null;
		this.module = null;  // that is shown strongly
		this.least = 0;      // ns; what takes less is not drawn
		this.view = {x: 0, y: 0, scale: 1};
		this.draw = onceAFrame(() => this.drawNow());
		this.source = new SourceView(this);
		this.describe();
		this.restart();
		this.listen();
		this.resize();
		this.fit();
		this.about();
	}

	// ---- layout ----

	get shown() {
		return this.graph.nodes.filter(node => node.incl >= this.least);
	}

	restart() {
		const nodes = this.shown;
		const set = new Set(nodes);

		this.drawn = nodes;
		this.drawnEdges = this.graph.edges.filter(({from, to, incl}) =>
			set.has(from) && set.has(to) &&
			(incl >= this.least || from === to));
		this.forces = new Forces(nodes, this.drawnEdges);
		this.forces.settle(1200);
		// large graphs go on while they are looked at
		if (this.forces.moving)
			this.animate();
		this.leftOut();
	}

	animate() {
		if (this.running)
			return;
		this.running = true;
		const frame = () => {
			const end = performance.now() + 12;

			do
				this.forces.step();
			while (this.forces.moving && performance.now() < end);
			this.running = this.forces.moving;
			if (!this.moved)
				this.fit();
			this.drawNow();
			if (this.running)
				requestAnimationFrame(frame);
		};

		requestAnimationFrame(frame);
	}

	resize() {
		const {width, height} = this.canvas.getBoundingClientRect();
		const scale = devicePixelRatio || 1;

		this.width = width;
		this.height = height;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.draw();
	}

	fit() {
		if (!this.drawn.length)
			return;
		const low = axis => Math.min(...this.drawn.map(node =>
			node[axis] - node.radius - (axis === 'x' ? 50 : 10)));
		const high = axis => Math.max(...this.drawn.map(node =>
			node[axis] + node.radius + (axis === 'x' ? 50 : 26)));
		const [left, right, top, bottom] = [low('x'), high('x'), low('y'),
			high('y')];

		this.view.scale = clamp(Math.min(this.width / (right - left + 40),
			this.height / (bottom - top + 60)), 0.02, 1.6);
		this.view.x = (left + right) / 2;
		this.view.y = (top + bottom) / 2;
		this.draw();
	}

	toScreen({x, y}) {
		const {view} = this;

		return [(x - view.x) * view.scale + this.width / 2,
			(y - view.y) * view.scale + this.height / 2];
	}

	toGraph(x, y) {
		const {view} = this;

		return [(x - this.width / 2) / view.scale + view.x,
			(y - this.height / 2) / view.scale + view.y];
	}

	zoom(factor, x = this.width / 2, y = this.height / 2) {
		this.moved = true;
		const [atX, atY] = this.toGraph(x, y);

		this.view.scale = clamp(this.view.scale * factor, 0.02, 8);
		this.view.x = atX - (x - this.width / 2) / this.view.scale;
		this.view.y = atY - (y - this.height / 2) / this.view.scale;
		this.draw();
	}

	// The function there: what is small is easier to hit than it looks.
	at(x, y) {
		let best = null, least = Infinity;

		for (const node of this.drawn) {
			const [atX, atY] = this.toScreen(node);
			const distance = Math.hypot(x - atX, y - atY);
			const reach = Math.max(7, node.radius * this.view.scale);

			if (distance <= reach && distance - reach < least) {
				least = distance - reach;
				best = node;
			}
		}
		return best;
	}

	// ---- drawing ----

	style() {
		const style = getComputedStyle(document.documentElement);
		const get = name => style.getPropertyValue(name).trim();

		return {dark: isDark(), back: get('--back'),
			text: get('--text'), dim: get('--dim'), line: get('--line'),
			accent: get('--accent'), found: get('--found')};
	}

	colour(node, strong) {
		const {dark} = this.colours;
		const hue = node.of.hue;

		return strong ? `hsl(${hue} ${dark ? 50 : 66}% ${dark ? 60 : 72}%)` :
			`hsl(${hue} 25% ${dark ? 24 : 92}%)`;
	}

	isStrong(node) {
		const focus = this.under || this.chosen;

		if (this.found)
			return this.found.has(node);
		if (this.module)
			return node.of === this.module;
		return !focus || node === focus ||
			node.callers.some(({from}) => from === focus) ||
			node.callees.some(({to}) => to === focus);
	}

	drawNow() {
		const {pen} = this;
		const scale = devicePixelRatio || 1;

		this.colours = this.style();
		pen.setTransform(scale, 0, 0, scale, 0, 0);
		pen.clearRect(0, 0, this.width, this.height);
		for (const edge of this.drawnEdges)
			this.drawEdge(edge);
		for (const node of this.drawn)
			this.drawNode(node);
		this.drawLabels();
	}

	drawEdge({from, to, calls, back}) {
		const {pen, colours, view} = this;
		const focus = this.under || this.chosen;
		const strong = focus ? from === focus || to === focus :
			this.isStrong(from) && this.isStrong(to);
		const width = (0.6 + 5 * Math.log1p(calls) /
			Math.log1p(this.graph.mostCalls)) * Math.min(1, view.scale + 0.3);
		const [x1, y1] = this.toScreen(from), [x2, y2] = this.toScreen(to);

		pen.strokeStyle = pen.fillStyle = !focus || !strong ? colours.dim :
			from === focus ? colours.accent : colours.found;
		pen.globalAlpha = strong ? focus ? 0.85 : 0.4 : 0.08;
		pen.lineWidth = width;
		pen.beginPath();
		if (from === to) {
			const r = from.radius * view.scale;

			pen.arc(x1 + r, y1 - r, Math.max(5, r * 0.6), Math.PI * 0.95,
				Math.PI * 2.55);
			pen.stroke();
			pen.globalAlpha = 1;
			return;
		}
		const length = Math.hypot(x2 - x1, y2 - y1) || 1;
		const ux = (x2 - x1) / length, uy = (y2 - y1) / length;
		// two that call each other have two bows
		const bow = back ? Math.min(30, length * 0.12) : 0;
		const midX = (x1 + x2) / 2 - uy * bow * 2;
		const midY = (y1 + y2) / 2 + ux * bow * 2;
		const end = to.radius * view.scale + 2;
		const head = Math.min(6 + width * 1.6, length / 2);
		const tx = x2 - midX, ty = y2 - midY;
		const toEnd = Math.hypot(tx, ty) || 1;
		const [dx, dy] = [tx / toEnd, ty / toEnd];
		const [tipX, tipY] = [x2 - dx * end, y2 - dy * end];

		pen.moveTo(x1 + ux * from.radius * view.scale,
			y1 + uy * from.radius * view.scale);
		pen.quadraticCurveTo(midX, midY, tipX - dx * head * 0.8,
			tipY - dy * head * 0.8);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(tipX, tipY);
		pen.lineTo(tipX - dx * head - dy * head * 0.42,
			tipY - dy * head + dx * head * 0.42);
		pen.lineTo(tipX - dx * head + dy * head * 0.42,
			tipY - dy * head - dx * head * 0.42);
		pen.fill();
		pen.globalAlpha = 1;
	}

	drawNode(node) {
		const {pen, colours, view} = this;
		const [x, y] = this.toScreen(node);

		pen.beginPath();
		pen.arc(x, y, Math.max(1.5, node.radius * view.scale), 0, Math.PI * 2);
		pen.fillStyle = this.colour(node, this.isStrong(node));
		pen.fill();
		pen.lineWidth = node === this.chosen ? 3 : 1;
		pen.strokeStyle = node === this.chosen ? colours.accent :
			this.found && this.found.has(node) ? colours.found : colours.line;
		pen.stroke();
		if (node.fixed) {
			pen.beginPath();
			pen.arc(x, y, 2, 0, Math.PI * 2);
			pen.fillStyle = colours.text;
			pen.fill();
		}
	}

	// Names go below; where two would lie upon each other that with more time
	// is written.
	drawLabels() {
		const {pen, colours, view} = this;
		const boxes = [];
		const rank = node => (node === this.chosen || node === this.under ? 2e18 :
			0) + (this.isStrong(node) ? 1e18 : 0) + node.incl;
		const order = [...this.drawn].sort((a, b) => rank(b) - rank(a));

		pen.font = '11.5px ui-monospace, "DejaVu Sans Mono", monospace';
		pen.textAlign = 'center';
		pen.textBaseline = 'top';
		pen.lineJoin = 'round';
		for (const node of order) {
			const [x, y] = this.toScreen(node);
			const name = shortName(node.name, 26);
			const half = pen.measureText(name).width / 2 + 3;
			const top = y + node.radius * view.scale + 3;
			const box = [x - half, top - 1, x + half, top + 14];

			if (x + half < 0 || x - half > this.width || top < -20 ||
				top > this.height || boxes.some(each => each[0] < box[2] &&
					box[0] < each[2] && each[1] < box[3] && box[1] < each[3]))
				continue;
			boxes.push(box);
			pen.globalAlpha = this.isStrong(node) ? 1 : 0.35;
			pen.strokeStyle = colours.back;
			pen.lineWidth = 4;
			pen.strokeText(name, x, top);
			pen.fillStyle = colours.text;
			pen.fillText(name, x, top);
		}
		pen.globalAlpha = 1;
	}

	// ---- what is said ----

	describe() {
		const {data, modules} = this.graph;
		const what = data.thread ? `thread ${data.thread}` : data.command || '';

		$('command').textContent = $('command').title = what;
		document.title = `swizzle: ${baseName(what.split(' ')[0])}, call graph`;
		$('legend').replaceChildren(...modules.map(module => make('button', {
			'aria-pressed': 'false',
			title: `${module.path || module.name}: ` +
				`${percent(module.self, data.total)} of the time`,
			onclick: () => this.showModule(module),
		}, make('i', {}), make('span', {}, module.name), make('small',
			{class: 'dim'}, percent(module.self, data.total)))));
		[...$('legend').querySelectorAll('i')].forEach((dot, i) => {
			dot.style.background = `hsl(${modules[i].hue} 62% 66%)`;
		});
		this.help = new Help(KEYS, this.canvas, make('p', {class: 'dim'},
			'The area of a circle is the self time, the width of an arrow ' +
			`the number of ${this.graph.unit}s, the colour the module.`));
	}

	leftOut() {
		const {data} = this.graph;
		const limit = (data.limit || 0) / 1000;
		const share = data.total ? 100 * this.least / data.total : 0;
		const hidden = data.present - this.drawn.length;

		$('limit-text').textContent = (share > limit ? share : limit)
			.toFixed(2) + ' %';
		$('left-out').textContent = hidden ?
			`${plural(this.drawn.length, 'function')}; ${grouped(hidden)} with ` +
			'less are not shown' + (data.present > this.graph.nodes.length ?
				' (swizzle-dump --percent-limit, -n)' : '') :
			`all ${plural(this.drawn.length, 'function')}`;
	}

	showModule(module) {
		this.module = this.module === module ? null : module;
		[...$('legend').children].forEach((button, i) =>
			button.setAttribute('aria-pressed',
				this.graph.modules[i] === this.module));
		this.draw();
	}

	countText(calls, uncounted) {
		return uncounted || calls === null ? '–' :
			plural(calls, this.graph.unit);
	}

	figures(node) {
		const {data} = this.graph;

		return [
			['Self', `${durationOrBound(node.self)}  ` +
				percent(node.self, data.total)],
			['Inclusive', `${duration(node.incl)}  ` +
				percent(node.incl, data.total)],
			[this.model.many, this.countText(node.calls)],
		];
	}

	about() {
		const node = this.chosen;

		if (!node) {
			$('about').replaceChildren(make('p', {class: 'dim'},
				'Click a function. Double-click shows its source. ' +
				'? lists the keys.'));
			return;
		}
		const list = (title, edges, other) => edges.length ?
			[make('h3', {}, title), ...edges.slice(0, 100).map(edge =>
				make('button', {class: 'neighbour', title: edge[other].name,
					'data-index': edge[other].index,
					onclick: () => this.choose(edge[other], true)},
				make('span', {}, shortName(edge[other].name, 40)),
				make('span', {}, `${this.countText(edge.calls,
					edge.uncounted)}  ${duration(edge.incl)}`)))] : [];

		$('about').replaceChildren(make('h2', {}, node.name),
			make('div', {class: 'dim', title: node.path}, node.module +
				(node.file ? `  ${baseName(node.file)}:${node.line}` : '')),
			pairs(this.figures(node)),
			make('button', {id: 'to-source', class: 'to-source',
				onclick: () => this.showSource()}, 'Source'),
			...list('Called by', node.callers, 'from'),
			...list('Calls', node.callees, 'to'));
		$('live').textContent = `${node.name}, ${node.module}, ` +
			this.figures(node).map(pair => pair.join(' ')).join(', ');
	}

	choose(node, reveal) {
		this.chosen = node;
		this.under = null;
		this.hideSource();
		this.about();
		if (node && node.incl < this.least) {
			this.least = 0;
			$('limit').value = 0;
			this.restart();
		}
		if (node && reveal)
			this.reveal(node);
		this.draw();
	}

	reveal(node) {
		const [x, y] = this.toScreen(node);

		if (x < 40 || y < 40 || x > this.width - 40 || y > this.height - 40) {
			this.view.x = node.x;
			this.view.y = node.y;
		}
	}

	// As SourceView calls it.
	select(fn) {
		this.choose(this.graph.nodes[fn], true);
		this.showSource();
	}

	showSource() {
		if (!this.chosen)
			return;
		const fn = this.chosen.index;
		const comment = this.model.comment(fn);

		this.model.selected = fn;
		$('source').hidden = false;
		$('comment').hidden = !comment;
		$('comment').textContent = comment;
		this.source.update();
	}

	hideSource() {
		$('source').hidden = $('comment').hidden = true;
	}

	showTip(node, x, y) {
		$('tip').hidden = !node;
		if (!node)
			return;
		$('tip').replaceChildren(make('b', {}, node.name), make('p', {},
			node.module + (node.file ? `  ${baseName(node.file)}:${node.line}` :
				'')), pairs(this.figures(node)));
		const {width, height} = $('tip').getBoundingClientRect();

		$('tip').style.left = Math.max(4, Math.min(x + 16,
			innerWidth - width - 4)) + 'px';
		$('tip').style.top = Math.max(4, y + 20 + height > innerHeight ?
			y - height - 10 : y + 20) + 'px';
	}

	// ---- search ----

	search(text) {
		const words = text.trim().toLowerCase();
		const [, module, name] = /^(?:([^:]+):(?!:))?(.*)$/.exec(words);
		const matches = this.graph.nodes.filter(node => words &&
			(node.name.toLowerCase().includes(words) ||
			module && node.module.toLowerCase().includes(module) &&
			node.name.toLowerCase().includes(name)));

		this.found = words ? new Set(matches) : null;
		$('search').classList.toggle('active', Boolean(words));
		$('found').textContent = words ? matches.length : '';
		this.draw();
	}

	nextFound(step) {
		const found = [...this.found || []].sort((a, b) => b.incl - a.incl);

		if (!found.length)
			return;
		const at = found.indexOf(this.chosen);

		this.choose(found[(at + step + found.length) % found.length], true);
	}

	// ---- mouse and keys ----

	listen() {
		const {canvas} = this;
		const place = event => {
			const bounds = canvas.getBoundingClientRect();

			return [event.clientX - bounds.left, event.clientY - bounds.top];
		};

		addEventListener('resize', () => this.resize());
		canvas.addEventListener('wheel', event => {
			event.preventDefault();
			this.zoom(Math.exp(-event.deltaY * 0.0015), ...place(event));
		}, {passive: false});
		canvas.addEventListener('pointerdown', event => {
			const [x, y] = place(event);

			canvas.setPointerCapture(event.pointerId);
			canvas.classList.add('dragging');
			this.drag = {x, y, node: this.at(x, y), moved: false};
		});
		canvas.addEventListener('pointermove', event => {
			const [x, y] = place(event);

			if (this.drag)
				this.dragTo(x, y);
			else
				this.hover(x, y, event);
		});
		canvas.addEventListener('pointerup', event => {
			const {drag} = this;

			canvas.classList.remove('dragging');
			canvas.releasePointerCapture(event.pointerId);
			this.drag = null;
			if (drag && !drag.moved)
				this.choose(drag.node);
		});
		canvas.addEventListener('pointercancel', () => {
			canvas.classList.remove('dragging');
			this.drag = null;
		});
		canvas.addEventListener('pointerleave', () => {
			this.under = null;
			this.showTip(null);
			this.draw();
		});
		canvas.addEventListener('dblclick', event => {
			const node = this.at(...place(event));

			if (!node)
				return;
			this.choose(node);
			this.showSource();
		});
		addEventListener('keydown', event => this.key(event));
		wireQuery(text => this.search(text), step => this.nextFound(step),
			() => {
				$('query').value = '';
				this.search('');
				this.canvas.focus();
			});
		$('limit').addEventListener('input', () => this.setLimit());
		$('zoom-in').onclick = () => this.zoom(1.3);
		$('zoom-out').onclick = () => this.zoom(1 / 1.3);
		$('zoom-reset').onclick = () => this.fit();
		$('theme').onclick = () => this.toggleTheme();
	}

	dragTo(x, y) {
		const {drag, view} = this;

		if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4)
			return;
		drag.moved = this.moved = true;
		this.showTip(null);
		if (drag.node) {
			[drag.node.x, drag.node.y] = this.toGraph(x, y);
			drag.node.fixed = true;
			this.forces.warm(0.25);
			this.animate();
		} else {
			view.x -= (x - drag.x) / view.scale;
			view.y -= (y - drag.y) / view.scale;
			drag.x = x;
			drag.y = y;
		}
		this.draw();
	}

	hover(x, y, event) {
		const node = this.at(x, y);

		this.showTip(node, event.clientX, event.clientY);
		if (node === this.under)
			return;
		this.under = node;
		this.draw();
	}

	// A scale by which small shares can be told apart.
	setLimit() {
		const {data} = this.graph;
		const position = Number($('limit').value) / 100;

		this.least = position ? data.total * Math.pow(10, -4 + 4 * position) : 0;
		this.moved = false;
		this.restart();
		this.fit();
	}

	toggleTheme() {
		turnTheme();
		this.draw();
	}

	key(event) {
		const actions = {
			'/': () => $('query').focus(),
			'+': () => this.zoom(1.3),
			'=': () => this.zoom(1.3),
			'-': () => this.zoom(1 / 1.3),
			'0': () => this.fit(),
			'?': () => this.help.show(!this.help.shown),
			Escape: () => this.help.shown ? this.help.show(false) :
				this.choose(null),
			t: () => this.toggleTheme(),
			p: () => this.hold(),
			m: () => this.chosen && this.showModule(this.chosen.of),
			c: () => this.follow('callees', 'to'),
			r: () => this.follow('callers', 'from'),
			ArrowLeft: () => this.step(-1, 0),
			ArrowRight: () => this.step(1, 0),
			ArrowUp: () => this.step(0, -1),
			ArrowDown: () => this.step(0, 1),
			Enter: () => this.showSource(),
		};
		const onGraph = event.target === this.canvas ||
			event.target === document.body || event.target === $('help');
		const always = ['/', '?', 'Escape', 't', '0', '+', '-', '='];

		if (event.target !== $('limit') &&
			(onGraph || always.includes(keyOf(event))))
			pageKey(event, actions);
	}

	hold() {
		if (!this.chosen)
			return;
		this.chosen.fixed = !this.chosen.fixed;
		this.forces.warm(0.2);
		this.animate();
	}

	follow(edges, end) {
		const edge = this.chosen && this.chosen[edges].find(each =>
			each[end] !== this.chosen);

		if (edge)
			this.choose(edge[end], true);
	}

	// What lies nearest in a direction, rather straight ahead than aside.
	step(dx, dy) {
		if (!this.chosen) {
			this.choose([...this.drawn].sort((a, b) => b.incl - a.incl)[0] ||
				null, true);
			return;
		}
		let best = null, least = Infinity;

		for (const node of this.drawn) {
			const ahead = (node.x - this.chosen.x) * dx +
				(node.y - this.chosen.y) * dy;
			const aside = Math.abs((node.x - this.chosen.x) * dy) +
				Math.abs((node.y - this.chosen.y) * dx);
			const distance = ahead + 2 * aside;

			if (ahead > 1 && distance < least) {
				least = distance;
				best = node;
			}
		}
		if (best)
			this.choose(best, true);
	}
}

(async () => {
	const blocks = new Blocks();
	const data = JSON.parse(text(await blocks.take('graph')));
	const sources = readSources(await blocks.take('sources'));

	window.swizzleGraph = new GraphPage(new Graph(data, sources));
})();
