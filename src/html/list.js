// Lists of any length: only the rows that can be seen are elements.

const LINE = 24;
const ROW_PADDING = 16; // of its two ends

class List {
	// COLUMNS: {key, title, hint, width, align, sort, drop, wants}; where they
	// do not fit they leave in the order of `drop`, from 1, and those without
	// one stay. One whose width can vary `wants` so many pixels. ROWS is an array
	// of anything; RENDER(row, cells, element) fills the cells of one. EVENTS:
	// click, open (also by Enter), moved (by arrows) get a row and its index;
	// sort a column; key may handle a key and says whether it did. `label` is
	// what the list is called, `tree` whether its rows are; empty() says why
	// there are none.
	constructor(root, columns, render, events) {
		this.root = root;
		this.columns = columns;
		this.render = render;
		this.events = events || {};
		this.line = this.events.height || LINE;
		this.rows = [];
		this.active = -1; // row of the keyboard
		this.sorted = null; // key of a column
		this.left = new Set(); // columns without room
		this.head = make('div', {class: 'head', role: 'row'});
		this.body = make('div', {class: 'body', role: 'rowgroup'});
		this.grid = make('div', {class: 'grid', tabindex: '0',
			role: this.events.tree ? 'treegrid' : 'grid',
			'aria-label': this.events.label}, this.head, this.body);
		// what is said where there are no rows
		this.empty = make('p', {class: 'empty', hidden: true});
		root.replaceChildren(this.grid, this.empty);
		this.shown = new Map();
		this.update = onceAFrame(() => this.updateNow());
		this.grid.addEventListener('scroll', this.update);
		this.grid.addEventListener('keydown', event => this.key(event));
		new ResizeObserver(this.update).observe(this.grid);
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
		this.sorted = key;
		this.update();
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
		this.empty.textContent = !rows.length && this.events.empty ?
			this.events.empty() : '';
		this.empty.hidden = !this.empty.textContent;
		this.grid.setAttribute('aria-rowcount', rows.length + 1);
		this.body.style.height = rows.length * this.line + 'px';
		for (const element of this.shown.values())
			element.remove();
		this.shown.clear();
		this.updateNow();
	}

	updateNow() {
		const {scrollTop} = this.grid;

		this.fitColumns();
		this.measure();
		const from = Math.max(0, Math.floor(scrollTop / this.line) - 4);
		const to = Math.min(this.rows.length,
			Math.ceil((scrollTop + this.roomForRows()) / this.line) + 4);

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

	// Below the head, which stays where it is.
	roomForRows() {
		return this.grid.clientHeight - this.head.offsetHeight;
	}

	// Columns without room stay there, hidden. One that the rows are sorted by
	// has room.
	fitColumns() {
		const {columns} = this;
		const room = this.grid.clientWidth - ROW_PADDING;
		const left = new Set();
		const inOrder = columns.filter(({drop, key}) => drop &&
			key !== this.sorted).sort((a, b) => a.drop - b.drop);
		let need = columns.reduce((sum, column) => sum + widthOf(column), 0);

		if (room <= 0)
			return;
		for (const column of inOrder) {
			if (need <= room)
				break;
			left.add(column);
			need -= widthOf(column);
		}
		if (this.fitted && left.size === this.left.size &&
			[...left].every(column => this.left.has(column)))
			return;
		this.fitted = true;
		this.left = left;
		this.root.style.setProperty('--columns', columns.filter(column =>
			!left.has(column)).map(({width}) => width).join(' '));
		columns.forEach((column, i) => {
			this.head.children[i].hidden = left.has(column);
		});
		this.nameRoom = null; // draws all rows anew
	}

	shows(key) {
		return !this.columns.some(column => column.key === key &&
			this.left.has(column));
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
			cell.hidden = this.left.has(this.columns[i]);
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
		this.body.append(element);
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
		const room = this.roomForRows();

		if (top < this.grid.scrollTop ||
			top > this.grid.scrollTop + room - this.line)
			this.grid.scrollTop = top - room / 2;
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
		const page = Math.max(1, Math.floor(this.roomForRows() /
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

// The pixels that a column needs.
function widthOf({width, wants}) {
	return wants || parseFloat(width);
}

// That has room for a count and all below it: no figure is cut.
function countWidth(most, least) {
	const digits = plain(most).length;

	return `${Math.max(least, digits * 8 + Math.ceil(digits / 3) * 3 + 11)}px`;
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
