// The flame graph: the merged tree, root at the top, a box as wide as the time
// spent in a context and below.

class Flame extends Chart {
	extent() {
		return this.model.tree.total[0];
	}

	height() {
		return (this.model.tree.deepest + 1) * ROW;
	}

	paint(context, width, height) {
		const {tree} = this.model;
		const {first, children, start, total, depth} = tree;
		const scale = width / this.span();
		const stack = [0];

		if (!total[0])
			return;
		while (stack.length) {
			const node = stack.pop();
			const y = depth[node] * ROW - this.scroll;

			if (y > height)
				continue;
			if (y > -ROW)
				this.paintNode(context, node, y, scale);
			const end = first[node + 1];
			let c = firstWhere(first[node], end, at =>
				start[children[at]] + total[children[at]] >
					this.from);

			for (; c < end; c++) {
				const child = children[c];

				if (start[child] >= this.to || !total[child])
					break;
				if (total[child] * scale >= 0.7) {
					stack.push(child);
					continue;
				}
				// what follows is as narrow: one grey piece
				this.paintRest(context, child, node, y + ROW, scale);
				break;
			}
		}
	}

	paintNode(context, node, y, scale) {
		const {tree} = this.model;
		const fn = tree.fn[node];

		const failed = this.failedShare(node);

		this.box(context, (tree.start[node] - this.from) * scale, y,
			tree.total[node] * scale, fn, this.labelOf(node),
			failed === 1 ?
				this.app.colours.ofError : this.colour(node), node);
		if (failed && failed < 1)
			this.paintFailed(context,
				(tree.start[node] - this.from) * scale, y,
				tree.total[node] * scale, failed);
		if (tree.waiting && tree.waiting[node])
			this.paintWaiting(context,
				(tree.start[node] - this.from) * scale, y,
				tree.total[node] * scale,
				tree.waiting[node] / tree.total[node]);
	}

	// What another thread did for the call above it.
	labelOf(node) {
		const {tree} = this.model;

		return (tree.caused && tree.caused[node] ? '\u21b7 ' : '') +
			this.app.label(tree.fn[node], tree.thread[node]);
	}

	// How many of its calls were ended by an exception or returned an error. (Those
	// that were open when the recording began count no call.)
	failedShare(node) {
		const {failed, calls} = this.model.tree;

		return failed && failed[node] ?
			Math.min(1, failed[node] / (calls[node] || 1)) : 0;
	}

	// Some of its calls failed: so much of its upper edge is red.
	paintFailed(context, x, y, width, part) {
		const left = Math.max(x, 0);
		const right = Math.min(x + Math.max(width * part, 4),
			x + width - 0.5, context.canvas.width);

		if (right - left < 1)
			return;
		context.fillStyle = this.app.colours.bad;
		context.fillRect(left, y, right - left, 3);
	}

	// The part of a box that is waiting, hatched, at its right; below the label.
	paintWaiting(context, x, y, width, part) {
		const right = Math.min(x + width, context.canvas.width);
		const left = Math.max(x + width * (1 - part), 0);

		if (right - left < 2)
			return;
		context.save();
		context.beginPath();
		context.rect(left, y + ROW - 6, right - left - 0.5, 5);
		context.clip();
		context.strokeStyle = this.app.colours.dim;
		context.lineWidth = 1.5;
		context.beginPath();
		for (let at = left - 6; at < right; at += 4) {
			context.moveTo(at, y + ROW);
			context.lineTo(at + 6, y + ROW - 6);
		}
		context.stroke();
		context.restore();
	}

	colour(node) {
		const {tree} = this.model;
		const {colours} = this.app;

		if (tree.fn[node] < 0)
			return tree.thread[node] < 0 || colours.mode !== 'thread' ?
				colours.faint : colours.ofThread(tree.thread[node]);
		if (colours.mode === 'thread') {
			while (tree.fn[node] >= 0)
				node = tree.parent[node];
			return tree.thread[node] < 0 ? colours.faint :
				colours.ofThread(tree.thread[node]);
		}
		if (colours.mode === 'change')
			return this.model.comparison.ofNode(colours, node);
		return colours.ofFunction(tree.fn[node]);
	}

	paintRest(context, child, parent, y, scale) {
		const {tree} = this.model;
		const last = tree.children[tree.first[parent + 1] - 1];
		const x = (tree.start[child] - this.from) * scale;
		const end = (tree.start[last] + tree.total[last] - this.from) * scale;

		context.globalAlpha = this.model.matches ? 0.22 : 1;
		context.fillStyle = this.app.colours.line;
		context.fillRect(x, y, Math.max(end - x - 0.5, 0.4), ROW - 1);
		context.globalAlpha = 1;
	}

	paintMap(context, width, height) {
		const {tree} = this.model;
		const {first, children, start, total, depth} = tree;
		const heights = new Float64Array(Math.ceil(width));
		const scale = width / (total[0] || 1);
		const stack = [0];

		while (stack.length) {
			const node = stack.pop();
			const to = Math.min((start[node] + total[node]) * scale,
				heights.length);

			for (let x = Math.floor(start[node] * scale); x < to; x++)
				heights[x] = Math.max(heights[x], depth[node] + 1);
			for (let c = first[node]; c < first[node + 1]; c++) {
				if (total[children[c]] * scale < 0.3)
					break;
				stack.push(children[c]);
			}
		}
		this.paintSilhouette(context, heights, tree.deepest + 1, height);
	}

	// The node at a point, or null.
	at(x, y) {
		const {tree} = this.model;
		const row = Math.floor((y + this.scroll) / ROW);
		const value = this.toValue(x);
		let node = 0;

		if (row < 0 || value < 0 || value >= this.extent())
			return null;
		for (let level = 0; level < row; level++) {
			const end = tree.first[node + 1];
			const c = firstWhere(tree.first[node], end, at =>
				tree.start[tree.children[at]] +
				tree.total[tree.children[at]] > value);

			if (c === end || tree.start[tree.children[c]] > value)
				return null;
			node = tree.children[c];
		}
		return node;
	}

	fnOf(node) {
		return this.model.tree.fn[node];
	}

	zoomTo(node) {
		const {tree} = this.model;

		if (tree.total[node])
			this.glide(tree.start[node],
				tree.start[node] + tree.total[node]);
	}

	// The widest box of a function, shown; zoomed to, or only where it could
	// hardly be seen.
	reveal(fn, zoom) {
		const {tree} = this.model;
		let best = -1;

		for (let i = 1; i < tree.count; i++)
			if (tree.fn[i] === fn && (best < 0 ||
				tree.total[i] > tree.total[best]))
				best = i;
		if (best < 0)
			return;
		const y = tree.depth[best] * ROW, {height, width} = this.view();

		if (y < this.scroll || y > this.scroll + height - 2 * ROW)
			this.scrollTo(y - height / 2);
		if (zoom || tree.total[best] / this.span() * width < 4 ||
			tree.start[best] >= this.to ||
			tree.start[best] + tree.total[best] <= this.from) {
			const margin = tree.total[best] * (zoom ? 0.5 : 2);

			this.glide(tree.start[best] - margin,
				tree.start[best] + tree.total[best] + margin);
		}
		this.draw();
	}

	describe(node) {
		const about = this.describeNew(node);

		if (this.model.comparison)
			about.rows = this.model.comparison.nodeRows(node);
		return about;
	}

	describeNew(node) {
		const {tree, model} = {tree: this.model.tree, model: this.model};
		const fn = tree.fn[node], total = tree.total[0];

		if (fn < 0)
			return {
				title: this.app.label(fn, tree.thread[node]),
				rows: [
					['time', `${duration(tree.total[node])}, ` +
						percent(tree.total[node], total)],
					...model.holdsSamples ? [] : [[
						'outside of hooked functions',
						duration(tree.self[node])]],
				],
			};
		return {
			fn,
			title: model.catalog.name[fn],
			rows: [
				['here', ''],
				[model.one + 's', model.callsText(fn, tree.calls[node])],
				['inclusive', `${duration(tree.total[node])}, ` +
					percent(tree.total[node], total)],
				['self', `${durationOrBound(tree.self[node])}, ` +
					percent(tree.self[node], total)],
				...model.holdsSamples ? [] : [['mean', tree.calls[node] ?
					duration(tree.total[node] /
						tree.calls[node]) : '–']],
				...tree.caused && tree.caused[node] ?
					[['done by', 'another thread']] : [],
				...this.failedShare(node) ? [['failed', grouped(
					tree.failed[node])]] : [],
			],
		};
	}
}
