// Lists of any length: only the rows that can be seen are elements.

const LINE = 24;

class List {
	// COLUMNS: {key, title, hint, width, align, sort, room}; one is shown where
	// the list is as wide as its `room`. ROWS is an array of
	// anything; RENDER(row, cells, element) fills the cells of one. EVENTS:
	// click, open (also by Enter), moved (by arrows) get a row and its index;
	// sort a column; key may handle a key and says whether it did. `label` is
	// what the list is called, `tree` whether its rows are.
	constructor(root, columns, render, events) {
		this.root = root;
		this.columns = columns;
		this.render = render;
		this.events = events || {};
		this.line = this.events.height || LINE;
		this.rows = [];
		this.active = -1; // row of the keyboard
		this.head = make('div', {class: 'head', role: 'row'});
		this.body = make('div', {class: 'body', role: 'rowgroup',
			tabindex: '-1'});
		this.space = make('div', {class: 'space', role: 'presentation'});
		this.body.append(this.space);
		this.grid = make('div', {class: 'grid', tabindex: '0',
			role: this.events.tree ? 'treegrid' : 'grid',
			'aria-label': this.events.label}, this.head, this.body);
		root.replaceChildren(this.grid);
		this.shown = new Map();
		this.update = onceAFrame(() => this.updateNow());
		this.body.addEventListener('scroll', this.update);
		this.body.addEventListener('focus', () =>
			this.grid.focus({preventScroll: true}));
		this.grid.addEventListener('keydown', event => this.key(event));
		new ResizeObserver(this.update).observe(this.body);
		this.makeHead();
	}

	makeHead() {
		this.head.replaceChildren(...this.columns.map(column => {
			const cell = make('div', {
				class: 'cell ' + (column.align || ''),
				role: 'columnheader',
				'aria-label': column.label || column.title,
				title: column.hint || column.title,
				'data-key': column.key,
			}, column.sort ? make('button', {
				onclick: () => this.events.sort(column),
			}, column.title) : column.title);

			return cell;
		}));
	}

	markSorted(key, ascending) {
		for (const cell of this.head.children) {
			if (cell.dataset.key === key)
				cell.setAttribute('aria-sort', ascending ?
					'ascending' : 'descending');
			else
				cell.removeAttribute('aria-sort');
			cell.classList.toggle('sorted', cell.dataset.key === key);
			cell.classList.toggle('up', cell.dataset.key === key &&
				ascending);
		}
	}

	set(rows) {
		this.rows = rows;
		this.grid.setAttribute('aria-rowcount', rows.length + 1);
		this.space.style.height = rows.length * this.line + 'px';
		for (const element of this.shown.values())
			element.remove();
		this.shown.clear();
		this.updateNow();
	}

	updateNow() {
		const {scrollTop, clientHeight} = this.body;

		this.fitColumns();
		this.measure();
		const from = Math.max(0, Math.floor(scrollTop / this.line) - 4);
		const to = Math.min(this.rows.length,
			Math.ceil((scrollTop + clientHeight) / this.line) + 4);

		for (const [index, element] of this.shown)
			if (index < from || index >= to) {
				element.remove();
				this.shown.delete(index);
			}
		for (let index = from; index < to; index++)
			if (!this.shown.has(index))
				this.shown.set(index, this.makeRow(index));
		this.markActive();
	}

	// Those that have room; the others stay there, hidden.
	fitColumns() {
		const width = this.body.clientWidth;
		const shown = this.columns.map(({room}) => !(room > width));

		if (!width || this.columnsShown === shown.join())
			return;
		this.columnsShown = shown.join();
		this.hiddenColumns = shown.map(each => !each);
		this.root.style.setProperty('--columns', this.columns.filter(
			(_, i) => shown[i]).map(column => column.width).join(' '));
		[...this.head.children].forEach((cell, i) => {
			cell.hidden = !shown[i];
		});
		this.nameRoom = null; // draws all rows anew
	}

	// The room for names; where it has changed all rows are drawn anew.
	measure() {
		const room = this.head.lastChild ? this.head.querySelector(
			'[data-key=name]').clientWidth - 10 : 0;

		if (room === this.nameRoom)
			return;
		this.nameRoom = room;
		for (const element of this.shown.values())
			element.remove();
		this.shown.clear();
	}

	makeRow(index) {
		const row = this.rows[index];
		const cells = this.columns.map(column =>
			make('span', {class: 'cell ' + (column.align || ''),
				role: 'gridcell'}));
		const element = make('div', {class: 'row', role: 'row',
			id: `${this.root.id}-row-${index}`,
			'aria-rowindex': index + 2, 'data-index': index}, ...cells);

		element.style.top = index * this.line + 'px';
		cells.forEach((cell, i) => {
			cell.hidden = Boolean(this.hiddenColumns &&
				this.hiddenColumns[i]);
		});
		this.render(row, cells, element);
		element.setAttribute('aria-selected',
			element.classList.contains('selected'));
		element.addEventListener('click', event => {
			this.active = index;
			this.markActive();
			if (this.events.click)
				this.events.click(row, index, event);
		});
		element.addEventListener('dblclick', () =>
			this.events.open && this.events.open(row, index));
		this.space.append(element);
		return element;
	}

	// Draws all rows anew: what is selected or found has changed.
	refresh() {
		for (const element of this.shown.values())
			element.remove();
		this.shown.clear();
		this.updateNow();
	}

	// The row that keys go from, which is shown.
	activate(index) {
		this.active = index;
		this.reveal(index);
		this.updateNow();
	}

	markActive() {
		for (const [index, element] of this.shown)
			element.classList.toggle('active', index === this.active);
		if (this.shown.has(this.active))
			this.grid.setAttribute('aria-activedescendant',
				this.shown.get(this.active).id);
		else
			this.grid.removeAttribute('aria-activedescendant');
	}

	reveal(index) {
		const top = index * this.line;

		if (top < this.body.scrollTop ||
			top > this.body.scrollTop + this.body.clientHeight - this.line)
			this.body.scrollTop = top - this.body.clientHeight / 2;
		this.update();
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (!this.events.key || !this.events.key(event))
			if (!this.move(event.key) && !this.enter(event))
				return;
		event.preventDefault();
		event.stopPropagation();
	}

	move(key) {
		const page = Math.max(1, Math.floor(this.body.clientHeight /
			this.line) - 1);
		const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page,
			PageUp: -page, Home: -Infinity, End: Infinity};

		if (!(key in steps) || !this.rows.length)
			return false;
		this.activate(clamp(this.active + steps[key], 0,
			this.rows.length - 1));
		if (this.events.moved)
			this.events.moved(this.rows[this.active], this.active);
		return true;
	}

	// (on the button of a heading it is that button's)
	enter(event) {
		const row = this.rows[this.active];
		const act = this.events.open || this.events.click;

		if (event.key !== 'Enter' || event.target !== this.grid || !row &&
			row !== 0 || !act)
			return false;
		act(row, this.active, event);
		return true;
	}
}

// A share of the whole, as a bar behind the figure.
function putBar(cell, part, whole, colour) {
	const share = whole ? clamp(100 * part / whole, 0, 100) : 0;

	cell.style.background = `linear-gradient(to right, ${colour} ${share}%, ` +
		`transparent ${share}%)`;
}

function putTime(cell, ns) {
	cell.textContent = durationOrBound(ns);
	cell.title = ns || !leastTime ? grouped(ns) + ' ns' : 'no sample hit it';
}
