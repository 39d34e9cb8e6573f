// The page of -f graph: what is known of the chosen function, the search, the mouse
// and the keys.

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

class GraphPage extends GraphCanvas {
	constructor(graph) {
		super(graph);
		this.source = new SourceView(this);
		this.describe();
		this.restart();
		this.listen();
		this.resize();
		this.fit();
		this.about();
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
				`${percent(module.self, data.total)} of the ` +
				(data.byCalls ? 'calls' : 'time'),
			onclick: () => this.showModule(module),
		}, make('i', {}), make('span', {}, module.name), make('small',
			{class: 'dim'}, percent(module.self, data.total)))));
		[...$('legend').querySelectorAll('i')].forEach((dot, i) => {
			dot.style.background = `hsl(${modules[i].hue} 62% 66%)`;
		});
		this.help = new Help(KEYS, this.canvas, make('p', {class: 'dim'},
			`The area of a circle is the ${data.byCalls ? 'number of calls' :
				'self time'}, the width of an arrow ` +
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

		if (data.byCalls)
			return [[this.model.many, `${this.countText(node.calls)}  ` +
				percent(node.self, data.total)]];
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
				make('span', {}, this.countText(edge.calls, edge.uncounted) +
					(this.graph.data.byCalls ? '' :
						`  ${duration(edge.incl)}`))))] : [];

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

	// The nearest box in a direction, rather straight ahead than aside.
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
