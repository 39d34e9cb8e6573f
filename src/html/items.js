// Flame graphs whose boxes are made as they are looked at: a tree of callers is
// much larger than the tree of contexts that it is made of, and most of it is
// narrower than a pixel.
//
// An item is a box: {fn, thread, time, calls, start, depth, parent} and what
// its children are made of. The inverted graph has the functions by self time
// below its root and their callers below these. The sandwich has one function
// in the middle, its callers above and what it calls below.

class ItemChart extends Chart {
	// Where a box of a depth is, in rows from the top.
	row(item) {
		return item.depth;
	}

	// One item or two, whose boxes are one.
	roots() {
		const {tree, selected} = this.model;

		if (this.tree !== tree || this.chosen !== selected) {
			this.tree = tree;
			this.chosen = selected;
			this.made = this.makeRoots();
		}
		return this.made;
	}

	extent() {
		const [root] = this.roots();

		return root ? root.time : 0;
	}

	children(item) {
		if (!item.children) {
			let at = item.start;

			item.children = this.expand(item).filter(child =>
				child.time > 0);
			for (const child of item.children) {
				child.parent = item;
				child.depth = item.depth + 1;
				child.start = at;
				at += child.time;
			}
		}
		return item.children;
	}

	paint(context, width, height) {
		const scale = width / this.span();

		for (const root of this.roots().slice().reverse())
			if (root.time)
				this.paintItems(context, root, scale, height);
	}

	paintItems(context, root, scale, height) {
		const stack = [root];

		while (stack.length) {
			const item = stack.pop();
			const y = this.row(item) * ROW - this.scroll;

			if (item.up ? y < -ROW : y > height)
				continue;
			if (y > -ROW && y < height)
				this.box(context, (item.start - this.from) * scale,
					y, item.time * scale, item.fn,
					this.app.label(item.fn, item.thread),
					this.colour(item), item);
			this.pushChildren(context, item, scale, stack);
		}
	}

	pushChildren(context, item, scale, stack) {
		const all = this.children(item);
		let c = firstWhere(0, all.length, at =>
			all[at].start + all[at].time > this.from);

		for (; c < all.length; c++) {
			const child = all[c];

			if (child.start >= this.to)
				break;
			if (child.time * scale >= 0.7) {
				stack.push(child);
				continue;
			}
			// what follows is as narrow: one grey piece
			this.paintRest(context, child, all[all.length - 1], scale);
			break;
		}
	}

	paintRest(context, child, last, scale) {
		const x = (child.start - this.from) * scale;
		const end = (last.start + last.time - this.from) * scale;

		context.globalAlpha = this.model.matches ? 0.22 : 1;
		context.fillStyle = this.app.colours.line;
		context.fillRect(x, this.row(child) * ROW - this.scroll,
			Math.max(end - x - 0.5, 0.4), ROW - 1);
		context.globalAlpha = 1;
	}

	colour(item) {
		const {colours} = this.app;

		if (colours.mode === 'thread') {
			const thread = this.threadOf(item);

			return thread < 0 ? colours.faint : colours.ofThread(thread);
		}
		return item.fn < 0 ? colours.faint : colours.ofFunction(item.fn);
	}

	// The thread that all of an item is in, or -1.
	threadOf(item) {
		if (item.only === undefined) {
			const {tree} = this.model;
			const nodes = item.origins || item.nodes || [];
			const first = nodes.length ?
				threadOfNode(tree, nodes[0]) : -1;

			item.only = nodes.every(node =>
				threadOfNode(tree, node) === first) ? first : -1;
		}
		return item.only;
	}

	// How many rows there are at each pixel, as far as they can be seen.
	silhouette(root, width) {
		const heights = new Float64Array(Math.ceil(width));
		const scale = width / (root.time || 1);
		const stack = root.time ? [root] : [];

		while (stack.length) {
			const item = stack.pop();
			const to = Math.min((item.start + item.time) * scale,
				heights.length);

			for (let x = Math.floor(item.start * scale); x < to; x++)
				heights[x] = Math.max(heights[x], item.depth + 1);
			for (const child of this.children(item)) {
				if (child.time * scale < 1)
					break;
				stack.push(child);
			}
		}
		return heights;
	}

	paintMap(context, width, height) {
		const [root] = this.roots();

		if (!root)
			return;
		const heights = this.silhouette(root, width);

		this.paintSilhouette(context, heights, Math.max(...heights), height);
	}

	// The item at a point, or null.
	at(x, y) {
		const row = Math.floor((y + this.scroll) / ROW);
		const value = this.toValue(x);

		if (value < 0 || value >= this.extent())
			return null;
		for (const root of this.roots()) {
			const away = row - this.row(root);
			const levels = root.up ? -away : away;

			if (levels < 0)
				continue;
			return this.below(root, value, levels);
		}
		return null;
	}

	below(item, value, levels) {
		for (; levels > 0; levels--) {
			const all = this.children(item);
			const c = firstWhere(0, all.length, at =>
				all[at].start + all[at].time > value);

			if (c === all.length || all[c].start > value)
				return null;
			item = all[c];
		}
		return item;
	}

	fnOf(item) {
		return item.fn;
	}

	zoomTo(item) {
		this.glide(item.start, item.start + item.time);
	}
}

// ---- the inverted graph ----

class Inverted extends ItemChart {
	makeRoots() {
		return [{fn: -1, thread: -1, time: this.model.tree.total[0],
			calls: this.model.calls, start: 0, depth: 0}];
	}

	roots() {
		this.chosen = this.model.selected; // which changes nothing here
		return super.roots();
	}

	height() {
		return (this.model.tree.deepest + 2) * ROW;
	}

	expand(item) {
		return item.parent || item.origins ?
			upCallers(this.model, item) : upFunctions(this.model);
	}

	// The box of a function, in the row below the root.
	reveal(fn, zoom) {
		const [root] = this.roots();
		const item = this.children(root).find(child => child.fn === fn);

		if (!item)
			return;
		this.scrollTo(0);
		if (zoom || item.time / this.span() * this.view().width < 4 ||
			item.start >= this.to ||
			item.start + item.time <= this.from) {
			const margin = item.time * (zoom ? 0.5 : 2);

			this.glide(item.start - margin,
				item.start + item.time + margin);
		}
		this.draw();
	}

	describe(item) {
		const {model} = this;
		const share = `${duration(item.time)}, ` +
			percent(item.time, model.total);
		let leaf = item;

		if (!item.parent)
			return {title: this.app.label(-1, -1),
				rows: [['time', share]]};
		while (leaf.depth > 1)
			leaf = leaf.parent;
		const title = this.app.label(item.fn, item.thread);

		if (leaf === item)
			return {fn: item.fn, title, rows: []};
		const name = shortName(model.catalog.name[leaf.fn], 40);

		return {fn: item.fn, title, rows: [
			[`of ${name}, called from here`, ''],
			['its self time', share],
			['share of its self time', percent(item.time, leaf.time)],
			[`its ${model.one}s`, grouped(item.calls)],
		]};
	}
}

// ---- the sandwich ----

class Sandwich extends ItemChart {
	makeRoots() {
		const {model} = this;
		const fn = model.selected;

		this.middle = 0;
		this.rows = 1;
		this.from = 0;
		if (fn < 0)
			return [];
		const nodes = outermostNodes(model, fn);
		const time = nodes.reduce((sum, node) =>
			sum + model.tree.total[node], 0);
		const root = {fn, thread: -1, time, start: 0, depth: 0,
			calls: model.sums.calls[fn]};

		for (const node of nodes)
			this.middle = Math.max(this.middle,
				model.tree.depth[node]);
		// (where there is one box a thread the root of all has none)
		if (model.byThread)
			this.middle--;
		this.rows = this.middle + 1 + heightBelow(model.tree, nodes);
		this.to = time || 1;
		this.fresh = true;
		return [{...root, origins: nodes, at: nodes, by: 'total',
			up: true}, {...root, nodes}];
	}

	row(item) {
		return item.up ? this.middle - item.depth :
			this.middle + item.depth;
	}

	height() {
		this.roots();
		return this.rows * ROW;
	}

	paint(context, width, height) {
		const fits = this.height() <= height;

		if (this.fresh) {
			this.fresh = false;
			this.scroll = fits ? 0 : clamp(this.middle * ROW -
				height / 2, 0, Math.max(0, this.height() -
				height + 4));
		}
		super.paint(context, width, height);
	}

	whyEmpty() {
		const why = super.whyEmpty();
		const {model} = this;

		return why && model.selected < 0 && model.shownThreads().length ?
			'Choose a function: a click on a row of the table, or on ' +
			'a box of another chart.' : why;
	}

	expand(item) {
		const all = item.up ? upCallers(this.model, item) :
			downCallees(this.model, item);

		for (const child of all)
			child.up = item.up;
		return all;
	}

	// Callers over the middle, callees below it.
	paintMap(context, width, height) {
		const [up, down] = this.roots();

		if (!up)
			return;
		const above = this.silhouette(up, width);
		const below = this.silhouette(down, width);
		const top = Math.max(...above) + Math.max(...below) - 1;
		const scale = (height - 6) / top;
		const middle = 3 + (Math.max(...above) - 1) * scale;

		context.fillStyle = this.app.colours.accent;
		context.globalAlpha = 0.5;
		for (let x = 0; x < above.length; x++)
			context.fillRect(x, middle - (above[x] - 1) * scale, 1,
				(above[x] + below[x] - 1) * scale);
		context.globalAlpha = 1;
	}

	// A click beside the boxes keeps the function.
	clicked(item) {
		return item === null;
	}

	reveal() {
		this.showAll();
	}

	describe(item) {
		const {model} = this;
		const share = `${duration(item.time)}, ` +
			percent(item.time, model.total);
		const title = this.app.label(item.fn, item.thread);

		if (!item.parent)
			return {fn: item.fn, title, rows: [
				['outermost calls', ''],
				['inclusive', share]]};
		const [root] = this.roots();
		const name = shortName(model.catalog.name[root.fn], 40);

		return {fn: item.fn, title, rows: [
			[item.up ? `${name}, called from here` :
				`below ${name}`, ''],
			['inclusive', share],
			['share of the middle', percent(item.time, root.time)],
			[model.one + 's', grouped(item.calls)],
		]};
	}
}
