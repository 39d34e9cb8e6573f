// Both charts are a canvas with a window [from, to] onto a line from 0 to
// `extent`, rows below each other, an overview above, and the mouse. A chart
// says how to draw and what lies at a point.

const ROW = 19;
const RULER = 22;
const LOWEST_LABEL = 9; // height of a box that is too low for a label

class Chart {
	constructor(app) {
		this.app = app;
		this.canvas = $('chart');
		this.map = $('map');
		this.from = 0;
		this.to = 1;
		this.scroll = 0; // in pixels
		this.widths = new Map();
		this.draw = onceAFrame(() => this.drawNow());
	}

	get model() {
		return this.app.model;
	}

	// ---- the window ----

	span() {
		return this.to - this.from;
	}

	// The narrowest window: what a double can still tell apart.
	narrowest() {
		return Math.max(this.extent() * 1e-12, 1e-3);
	}

	setWindow(from, to) {
		const extent = this.extent() || 1;
		const span = clamp(to - from, Math.min(this.narrowest(), extent),
			extent);

		this.from = clamp(from, 0, extent - span);
		this.to = this.from + span;
		this.draw();
		this.app.remember(true);
	}

	// True if all of it is in the window.
	isWhole() {
		return this.span() >= this.extent() * 0.9999;
	}

	// Goes there in a few frames, so that one sees where.
	glide(from, to) {
		const begin = performance.now();
		const old = [this.from, this.to];
		const token = {};

		this.gliding = token;
		if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
			this.gliding = null;
			this.setWindow(from, to);
			return;
		}
		const step = () => {
			if (this.gliding !== token)
				return;
			const part = Math.min(1, (performance.now() - begin) / 160);
			const ease = 1 - (1 - part) ** 3;

			this.setWindow(old[0] + (from - old[0]) * ease,
				old[1] + (to - old[1]) * ease);
			if (part < 1)
				requestAnimationFrame(step);
			else
				this.gliding = null;
		};

		step();
	}

	zoom(factor, center) {
		const at = center === undefined ? (this.from + this.to) / 2 : center;

		this.gliding = null;
		this.setWindow(at - (at - this.from) * factor,
			at + (this.to - at) * factor);
	}

	pan(share) {
		this.gliding = null;
		this.setWindow(this.from + share * this.span(),
			this.to + share * this.span());
	}

	showAll() {
		this.glide(0, this.extent());
	}

	scrollTo(pixels) {
		this.scroll = clamp(pixels, 0, Math.max(0, this.height() -
			this.view().height + 4));
		this.draw();
	}

	// ---- the canvas ----

	view() {
		const stage = $('stage');

		return {width: stage.clientWidth, height: stage.clientHeight};
	}

	prepare(canvas, width, height) {
		const ratio = window.devicePixelRatio || 1;

		if (canvas.width !== Math.round(width * ratio) ||
			canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.width = width + 'px';
			canvas.style.height = height + 'px';
		}
		const context = canvas.getContext('2d');

		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		return context;
	}

	toX(value) {
		return (value - this.from) / this.span() * this.view().width;
	}

	toValue(x) {
		return this.from + x / this.view().width * this.span();
	}

	font(pixels) {
		this.family ||= getComputedStyle(document.body).fontFamily;
		return `${pixels.toFixed(1)}px ${this.family}`;
	}

	drawNow() {
		const {width, height} = this.view();

		if (!width || !height || this.app.chart !== this)
			return;
		this.scroll = clamp(this.scroll, 0,
			Math.max(0, this.height() - height + 4));
		const context = this.prepare(this.canvas, width, height);

		context.font = this.font(12);
		context.textBaseline = 'middle';
		this.boxes = [];
		this.paint(context, width, height);
		this.say(context, width, height, this.whyEmpty());
		this.drawCursor(context);
		this.drawMap();
		this.frames = (this.frames || 0) + 1;
	}

	// The text in place of boxes; '' where there are some.
	whyEmpty() {
		return this.extent() > 0 ? '' : this.model.shownThreads().length ?
			'No time to show.' :
			'No thread is chosen.';
	}

	// In the middle, in as many lines as it needs.
	say(context, width, height, text) {
		const lines = [''];

		for (const word of text.split(' ')) {
			const longer = `${lines[lines.length - 1]} ${word}`.trim();

			if (context.measureText(longer).width > width - 24)
				lines.push(word);
			else
				lines[lines.length - 1] = longer;
		}
		context.fillStyle = this.app.colours.dim;
		context.textAlign = 'center';
		lines.forEach((line, i) => context.fillText(line, width / 2,
			height / 2 + (i - (lines.length - 1) / 2) * ROW));
		context.textAlign = 'left';
	}

	// One box, with its label where there is room.
	box(context, x, y, width, fn, label, colour, item, height = ROW) {
		const {colours} = this.app;
		const {matches, selected} = this.model;
		const isFound = matches && fn >= 0 && matches[fn];
		const left = Math.max(x, -2);
		const shown = Math.min(x + width, this.view().width + 2) - left;

		context.globalAlpha = matches && !isFound ? 0.22 : 1;
		context.fillStyle = isFound ? colours.found : colour;
		context.fillRect(left, y, Math.max(shown - 0.5, 0.5),
			height > 5 ? height - 1 : height);
		if (fn >= 0 && fn === selected && shown > 2) {
			context.globalAlpha = 1;
			context.strokeStyle = colours.text;
			context.lineWidth = 1.5;
			context.strokeRect(left + 0.75, y + 0.75,
				Math.max(shown - 2, 1), Math.max(height - 2.5, 1));
		}
		context.globalAlpha = 1;
		if (shown > 26 && height >= LOWEST_LABEL) {
			if (height < 14)
				context.font = this.font(height - 1);
			context.fillStyle = matches && !isFound ? colours.dim :
				fn < 0 ? colours.text : colours.label;
			this.text(context, label, left + 4, y + height / 2,
				shown - 8);
			if (height < 14)
				context.font = this.font(12);
		}
		this.boxes.push({item, fn, x: left, y, width: shown, height});
	}

	text(context, label, x, y, room) {
		const shown = this.textWidth(context, label) <= room ? label :
			fitName(label, form =>
				this.textWidth(context, form) <= room,
			form => Math.ceil(1.2 * form.length * room /
				this.textWidth(context, form)));

		if (shown)
			context.fillText(shown, x, y);
	}

	textWidth(context, label) {
		let width = this.widths.get(label);

		if (width === undefined) {
			if (this.widths.size > 50000)
				this.widths.clear();
			width = context.measureText(label).width /
				parseFloat(context.font);
			this.widths.set(label, width);
		}
		return width * parseFloat(context.font);
	}

	// ---- the box of the keyboard ----

	// The one that lies next in the direction of an arrow, told of as the
	// mouse's tooltip is. Boxes are known by where they are in the chart.
	moveCursor(key) {
		const from = this.cursorBox();
		const next = from ? this.nextBox(from, key) : this.boxes.reduce(
			(widest, box) => !widest || box.width > widest.width ?
				box : widest, null);

		if (next) {
			this.cursor = next.item;
			this.keepInView(next);
			this.tell(next.item);
			this.draw();
		}
		return true;
	}

	cursorBox() {
		return this.cursor === undefined ? null : this.boxes.find(box =>
			this.sameItem(box.item, this.cursor)) || null;
	}

	sameItem(a, b) {
		return a === b;
	}

	// The mouse is over another item, or none.
	hovered() {
	}

	// The box in the next row that is under or over FROM, or in its own row
	// the one beside it.
	nextBox(from, key) {
		const sign = key === 'ArrowUp' || key === 'ArrowLeft' ? -1 : 1;
		const upright = key === 'ArrowUp' || key === 'ArrowDown';
		let best = null, least = Infinity;

		for (const box of this.boxes) {
			const rows = sign * (box.y - from.y);
			const middle = box.x + box.width / 2 - from.x;
			const away = clamp(middle, 0, from.width) - middle;
			let distance;

			if (upright)
				distance = rows > 0.5 ? rows * 1e6 +
					Math.abs(away) + Math.abs(middle) / 1e6 :
					Infinity;
			else
				distance = Math.abs(rows) < 0.5 && box !== from &&
					sign * (box.x - from.x) > 0 ?
					sign * (box.x - from.x) : Infinity;
			if (distance < least) {
				least = distance;
				best = box;
			}
		}
		return best;
	}

	keepInView(box) {
		const {height} = this.view();

		if (box.y < RULER || box.y > height - 2 * ROW)
			this.scrollTo(this.scroll + box.y - height / 2);
	}

	// To who hears the page.
	tell(item) {
		const {title, rows} = this.describe(item);

		$('live').textContent = [title, ...rows.map(([name, value]) =>
			`${name} ${value}`)].join(', ');
	}

	enterCursor() {
		const box = this.cursorBox();

		if (!box)
			return false;
		const corner = this.canvas.getBoundingClientRect();

		this.app.clicked(box.item, {
			x: corner.x + clamp(box.x + box.width / 2, 0,
				this.view().width),
			y: corner.y + box.y,
		});
		return true;
	}

	drawCursor(context) {
		const box = document.activeElement === this.canvas &&
			this.cursorBox();

		if (!box)
			return;
		context.strokeStyle = this.app.colours.text;
		context.lineWidth = 2;
		context.setLineDash([4, 3]);
		context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 2, 2),
			Math.max(box.height - 3, 2));
		context.setLineDash([]);
	}

	// ---- the overview ----

	// The picture is drawn once; the window over it each time.
	drawMap() {
		const width = this.map.parentElement.clientWidth;
		const height = 40;
		const context = this.prepare(this.map, width, height);
		const key = [width, this.extent(), this.app.version].join();

		if (this.mapKey !== key) {
			const ratio = window.devicePixelRatio || 1;

			this.mapKey = key;
			this.picture = document.createElement('canvas');
			this.picture.width = Math.round(width * ratio);
			this.picture.height = Math.round(height * ratio);
			const to = this.picture.getContext('2d');

			to.setTransform(ratio, 0, 0, ratio, 0, 0);
			this.paintMap(to, width, height);
		}
		context.drawImage(this.picture, 0, 0, width, height);
		const scale = width / (this.extent() || 1);
		const left = this.from * scale;
		const right = Math.max(this.to * scale, left + 2);

		context.fillStyle = this.app.colours.back;
		context.globalAlpha = 0.66;
		context.fillRect(0, 0, left, height);
		context.fillRect(right, 0, width - right, height);
		context.globalAlpha = 1;
		context.strokeStyle = this.app.colours.accent;
		context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 1),
			height - 1);
	}

	// A silhouette: heights[x] of `top` rows at each pixel.
	paintSilhouette(context, heights, top, height) {
		context.fillStyle = this.app.colours.accent;
		context.globalAlpha = 0.5;
		for (let x = 0; x < heights.length; x++) {
			const part = top ? heights[x] / top * (height - 6) : 0;

			context.fillRect(x, height - part, 1, part);
		}
		context.globalAlpha = 1;
	}

	// ---- the ruler ----

	// NOTE, over its end: which kind of time it shows; or ''. Labels end there.
	paintRuler(context, width, format, note) {
		const {colours} = this.app;
		const room = note ? context.measureText(note).width + 12 : 0;
		const step = niceStep(this.span() * 90 / width);
		let at = Math.ceil(this.from / step) * step;

		context.fillStyle = colours.raised;
		context.fillRect(0, 0, width, RULER);
		context.fillStyle = colours.line;
		context.fillRect(0, RULER - 1, width, 1);
		for (; at <= this.to; at += step) {
			const x = this.toX(at);
			const label = format(at, step);

			context.fillStyle = colours.line;
			context.fillRect(Math.round(x), RULER - 7, 1, 6);
			context.fillStyle = colours.dim;
			if (x + 4 + context.measureText(label).width <= width - room)
				context.fillText(label, x + 4, RULER / 2);
		}
		context.fillStyle = colours.text;
		context.fillText(note, width - room + 6, RULER / 2);
	}
}

function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));

	for (const factor of [1, 2, 5])
		if (power * factor >= least)
			return power * factor;
	return power * 10;
}
