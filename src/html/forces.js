// Where the functions of a call graph lie: all push each other away, a call pulls
// its two ends together, and callees sink below their callers. The same graph is
// always laid out alike: it begins with rows by distance from the roots.

const GAP = 26;        // between the circles of two functions
const SPRING = 90;     // length of a call that nothing pulls at
const REACH = 900;     // farther than that nothing is pushed
const CELL = REACH;

class Forces {
	// NODES have a radius, x and y; EDGES a from and a to, which are nodes.
	constructor(nodes, edges) {
		this.nodes = nodes;
		this.edges = edges.filter(edge => edge.from !== edge.to);
		this.heat = 1;
		this.place();
	}

	place() {
		const level = new Map();
		const called = new Set(this.edges.map(edge => edge.to));
		let row = this.nodes.filter(node => !called.has(node));
		const after = new Map();

		for (const edge of this.edges) {
			if (!after.has(edge.from))
				after.set(edge.from, []);
			after.get(edge.from).push(edge.to);
		}
		const visit = nodes => {
			let depth = 0;

			for (let at = nodes; at.length; depth++) {
				const next = [];

				for (const node of at) {
					if (level.has(node))
						continue;
					level.set(node, depth);
					next.push(...after.get(node) || []);
				}
				at = next;
			}
		};

		visit(row);
		// (what calls itself in circles has no root)
		for (const node of this.nodes)
			if (!level.has(node))
				visit([node]);
		const rows = new Map();

		for (const node of this.nodes) {
			row = rows.get(level.get(node)) || [];
			rows.set(level.get(node), row);
			row.push(node);
		}
		const most = Math.max(12, Math.ceil(1.3 * Math.sqrt(this.nodes.length)));
		let top = 0;

		for (const depth of [...rows.keys()].sort((a, b) => a - b)) {
			const all = rows.get(depth);
			const width = Math.min(all.length, most);

			all.forEach((node, i) => {
				node.x = (i % most - (width - 1) / 2) * 110 +
					scatter(i + depth) % 17;
				node.y = top + Math.floor(i / most) * 60 + scatter(i) % 41;
				node.vx = node.vy = 0;
			});
			top += Math.floor((all.length - 1) / most) * 60 + 130;
		}
	}

	// Until little moves, or for so many ms.
	settle(ms) {
		const end = performance.now() + ms;

		while (this.heat > 0.02 && performance.now() < end)
			this.step();
	}

	warm(heat) {
		this.heat = Math.max(this.heat, heat);
	}

	get moving() {
		return this.heat > 0.02;
	}

	step() {
		this.push();
		this.pull();
		for (const node of this.nodes) {
			// to the middle, so that what is apart does not drift away
			node.vx -= node.x * 0.005;
			node.vy -= node.y * 0.006;
			if (node.fixed) {
				node.vx = node.vy = 0;
				continue;
			}
			const speed = Math.hypot(node.vx, node.vy);
			const most = 60 * this.heat;
			const scale = speed > most ? most / speed : 1;

			node.x += node.vx * scale;
			node.y += node.vy * scale;
			node.vx *= 0.55;
			node.vy *= 0.55;
		}
		this.heat *= 0.985;
	}

	push() {
		const cells = new Map();
		const key = (x, y) => x * 100003 + y;

		for (const node of this.nodes) {
			const at = key(Math.floor(node.x / CELL), Math.floor(node.y / CELL));

			if (!cells.has(at))
				cells.set(at, []);
			cells.get(at).push(node);
		}
		for (const a of this.nodes) {
			const x = Math.floor(a.x / CELL), y = Math.floor(a.y / CELL);

			for (let i = x - 1; i <= x + 1; i++)
				for (let j = y - 1; j <= y + 1; j++)
					for (const b of cells.get(key(i, j)) || [])
						if (b.index > a.index)
							this.pushApart(a, b);
		}
	}

	pushApart(a, b) {
		let dx = b.x - a.x, dy = b.y - a.y;

		if (!dx && !dy)
			dx = 0.1 + (b.index - a.index) % 7 / 10;
		const distance = Math.hypot(dx, dy);
		const least = a.radius + b.radius + GAP;

		if (distance > REACH)
			return;
		let force = 2600 / (distance * distance) * Math.sqrt(least / 60);

		// labels lie beside each other, so that much more across
		if (distance < least)
			force += (least - distance) * 0.25;
		if (Math.abs(dy) < 22 && Math.abs(dx) < 120)
			force += 0.25;
		force = Math.min(force, 40);
		dx *= force / distance;
		dy *= force / distance;
		a.vx -= dx;
		a.vy -= dy;
		b.vx += dx;
		b.vy += dy;
	}

	pull() {
		for (const {from, to} of this.edges) {
			const dx = to.x - from.x, dy = to.y - from.y;
			const distance = Math.hypot(dx, dy) || 1;
			const rest = SPRING + from.radius + to.radius;
			// what many call is pulled by all of them
			const share = 1 / Math.sqrt(Math.max(from.degree, to.degree, 1));
			const force = (distance - rest) / distance * 0.11 * share;

			from.vx += dx * force;
			from.vy += dy * force;
			to.vx -= dx * force;
			to.vy -= dy * force;
			const sink = (rest * 0.8 - dy) * 0.03 * share;

			if (sink > 0) {
				to.vy += sink;
				from.vy -= sink;
			}
		}
	}
}
