// Draws the functions where forces.js puts them.

class GraphCanvas {
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
}
