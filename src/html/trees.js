// The tree of all threads, and what charts and lists ask of it: who calls a function,
// and what a context calls.

// The trees of the shown threads as one, in which a node is a path of
// functions. A node comes after its parent. Recursive calls are leaves without
// time: what happens inside of them is in the outer context.
function mergeTrees(model) {
	const tree = model.byCause ? new CausedTree(model).make() :
		mergeThreads(model);

	for (let i = tree.count - 1; i >= 0; i--) {
		tree.total[i] += tree.self[i];
		if (i) {
			tree.total[tree.parent[i]] += tree.total[i];
			tree.waiting[tree.parent[i]] += tree.waiting[i];
		}
	}
	if (tree.oldSelf)
		sumOld(tree);
	arrange(tree);
	return tree;
}

function mergeThreads(model) {
	const threads = model.shownThreads();
	let capacity = 1 + threads.length;

	for (const thread of threads)
		capacity += thread.nodes.count;
	const tree = {
		count: 1,
		parent: new Uint32Array(capacity),
		fn: new Int32Array(capacity),     // < 0: a thread, or all
		thread: new Int32Array(capacity), // with fn < 0; -1: all
		folded: new Uint8Array(capacity),
		calls: new Float64Array(capacity),
		self: new Float64Array(capacity),
		total: new Float64Array(capacity),
		failed: new Float64Array(capacity), // of the calls
		// what of total is waiting, where that counts
		waiting: new Float64Array(capacity),
	};

	tree.fn[0] = -1;
	tree.thread[0] = -1;
	const table = new NodeTable(tree, capacity);

	for (const thread of threads)
		mergeThread(tree, table, thread, model);
	return tree;
}

// The nodes of a tree by parent, function and whether they are folded: a hash
// table of their numbers. A Map would box millions of keys.
class NodeTable {
	constructor(tree, most) {
		let size = 16;

		while (size < 2 * most)
			size *= 2;
		this.tree = tree;
		this.numbers = new Uint32Array(size); // 0: free
	}

	// Where the number of that node is, or belongs.
	place(parent, fn, folded) {
		const {tree, numbers} = this;
		const mask = numbers.length - 1;
		let at = Math.imul(parent, 0x9e3779b1) ^
			Math.imul(2 * fn + folded, 0x85ebca6b);

		at = (at ^ at >>> 15) & mask;
		for (;; at = (at + 1) & mask) {
			const node = numbers[at];

			if (!node || (tree.parent[node] === parent &&
				tree.fn[node] === fn && tree.folded[node] === folded))
				return at;
		}
	}
}

function mergeThread(tree, table, thread, model) {
	const {nodes} = thread.part;
	const to = new Uint32Array(nodes.count);

	if (model.byThread) {
		to[0] = tree.count++;
		tree.fn[to[0]] = -1;
		tree.thread[to[0]] = thread.index;
	}
	const waits = model.timeKind && model.timeKind !== 'running' ?
		nodes.waiting : null;

	tree.self[to[0]] += nodes.self[0];
	if (waits)
		tree.waiting[to[0]] += waits[0];
	for (let i = 1; i < nodes.count; i++) {
		// there only for the timeline where everything is counted
		if (nodes.fn[i] === UNTRACED && !nodes.self[i])
			continue;
		const parent = to[nodes.parent[i]];
		const folded = nodes.folded[i];
		const place = table.place(parent, nodes.fn[i], folded);
		let at = table.numbers[place];

		if (!at) {
			at = table.numbers[place] = tree.count++;
			tree.parent[at] = parent;
			tree.fn[at] = nodes.fn[i];
			tree.folded[at] = folded;
		}
		to[i] = at;
		tree.calls[at] += nodes.calls[i];
		if (nodes.failed)
			tree.failed[at] += nodes.failed[i];
		tree.self[at] += nodes.self[i];
		if (waits)
			tree.waiting[at] += waits[i];
	}
	if (nodes.oldSelf)
		mergeOld(tree, nodes, to);
}

// Children of each node, most time first, and where their boxes begin.
function arrange(tree) {
	const {count, parent, total} = tree;
	const first = new Uint32Array(count + 1);
	const children = new Uint32Array(count ? count - 1 : 0);
	const depth = new Uint16Array(count);
	const start = new Float64Array(count);
	let deepest = 0;

	for (let i = 1; i < count; i++)
		first[parent[i] + 1]++;
	for (let i = 0; i < count; i++)
		first[i + 1] += first[i];
	const next = first.slice();

	for (let i = 1; i < count; i++) {
		children[next[parent[i]]++] = i;
		depth[i] = Math.min(depth[parent[i]] + 1, 65535);
		deepest = Math.max(deepest, depth[i]);
	}
	for (let i = 0; i < count; i++) {
		if (first[i + 1] - first[i] > 1)
			children.subarray(first[i], first[i + 1])
				.sort((a, b) => total[b] - total[a] ||
					tree.calls[b] - tree.calls[a] || a - b);
		let at = start[i];

		for (let c = first[i]; c < first[i + 1]; c++) {
			start[children[c]] = at;
			at += total[children[c]];
		}
	}
	Object.assign(tree, {first, children, depth, start, deepest});
}

// ---- bottom-up ----

// Who calls FN, level by level: an item stands for a chain of callers, and
// holds for each node of FN (origin) the ancestor that the chain has come to.
// Its time is the origins' self time, or where it has `by` what that names.
function upRoot(model, fn) {
	const {tree} = model;

	if (!model.ups) {
		model.ups = new Map();
		for (let i = 1; i < tree.count; i++) {
			if (tree.fn[i] < 0)
				continue;
			const list = model.ups.get(tree.fn[i]);

			if (list)
				list.push(i);
			else
				model.ups.set(tree.fn[i], [i]);
		}
	}
	const origins = model.ups.get(fn) || [];

	return {fn, thread: -1, origins, at: origins,
		calls: model.sums.calls[fn], time: model.sums.self[fn]};
}

function upCallers(model, item) {
	const {tree} = model;
	const {by} = item;
	const times = tree[by || 'self'];
	const groups = new Map();

	for (let i = 0; i < item.origins.length; i++) {
		const origin = item.origins[i];

		if (item.at[i] === 0 || tree.fn[item.at[i]] < 0)
			continue;
		const up = tree.parent[item.at[i]];
		const key = tree.fn[up] >= 0 ? tree.fn[up] : -2 - tree.thread[up];
		let group = groups.get(key);

		if (!group) {
			group = {fn: tree.fn[up], thread: tree.thread[up],
				origins: [], at: [], calls: 0, time: 0, by};
			groups.set(key, group);
		}
		group.origins.push(origin);
		group.at.push(up);
		group.calls += tree.calls[origin];
		group.time += times[origin];
	}
	return [...groups.values()].sort((a, b) => b.time - a.time ||
		b.calls - a.calls);
}

function upHasCallers(model, item) {
	return item.at.some(at => at !== 0 && model.tree.fn[at] >= 0);
}

// All functions with their self time, the outermost time too: what the inverted
// graph begins with.
function upFunctions(model) {
	const {tree, sums} = model;
	const outside = [];

	for (let i = 0; i < tree.count; i++)
		if (tree.fn[i] < 0 && tree.self[i])
			outside.push(i);
	const items = model.functions.filter(fn => fn !== OUTSIDE)
		.map(fn => upRoot(model, fn));

	items.push({fn: OUTSIDE, thread: -1, origins: outside, at: outside,
		calls: 0, time: 0});
	// as the tree has it, so that the boxes fill their row
	for (const item of items) {
		item.time = item.origins.reduce((sum, node) =>
			sum + tree.self[node], 0);
		item.calls = item.fn === OUTSIDE ? 0 : sums.calls[item.fn];
	}
	return items.sort((a, b) => b.time - a.time || a.fn - b.fn);
}

// ---- one function: what is above and below it ----

// The nodes of FN that have no other of it above them.
function outermostNodes(model, fn) {
	const {tree} = model;
	const {origins} = upRoot(model, fn);

	return origins.filter(node => {
		let at = tree.parent[node];

		while (at && tree.fn[at] !== fn)
			at = tree.parent[at];
		return !at;
	});
}

// The callees of an item's nodes, by function.
function downCallees({tree}, item) {
	const groups = new Map();

	for (const node of item.nodes)
		for (let c = tree.first[node]; c < tree.first[node + 1]; c++) {
			const child = tree.children[c];
			let group = groups.get(tree.fn[child]);

			if (!group) {
				group = {fn: tree.fn[child], thread: -1, nodes: [],
					calls: 0, time: 0};
				groups.set(tree.fn[child], group);
			}
			group.nodes.push(child);
			group.calls += tree.calls[child];
			group.time += tree.total[child];
		}
	return [...groups.values()].sort((a, b) => b.time - a.time ||
		b.calls - a.calls);
}

// How many levels there are below some nodes at most.
function heightBelow(tree, nodes) {
	if (!tree.below) {
		tree.below = new Uint16Array(tree.count);
		for (let i = tree.count - 1; i > 0; i--)
			tree.below[tree.parent[i]] = Math.max(
				tree.below[tree.parent[i]],
				Math.min(tree.below[i] + 1, 65535));
	}
	return nodes.reduce((most, node) => Math.max(most, tree.below[node]), 0);
}

function threadOfNode(tree, node) {
	while (tree.fn[node] >= 0)
		node = tree.parent[node];
	return tree.thread[node];
}
