// A picture (SVG) that is opened by itself fits the window. The wheel and + and -
// zoom, a drag moves, a double click or 0 shows everything.
(() => {
	const svg = document.documentElement;
	const whole = svg.getAttribute('viewBox').split(' ').map(Number);
	const [, , wide, high] = whole;
	const MOST = 40; // times as large as the whole
	let [left, top, width] = whole;
	let from = null; // where a drag is

	// Nothing but the picture can be seen.
	function show() {
		width = Math.min(wide, Math.max(wide / MOST, width));
		left = Math.min(Math.max(left, 0), wide - width);
		top = Math.min(Math.max(top, 0), high - width * high / wide);
		svg.setAttribute('viewBox', [left, top, width, width * high / wide]
			.join(' '));
	}

	// The picture's point that is at one of the window.
	function at(x, y) {
		return new DOMPoint(x, y).matrixTransform(
			svg.getScreenCTM().inverse());
	}

	// By FACTOR; the point stays where it is.
	function zoom(factor, x, y) {
		const {x: px, y: py} = at(x, y);
		const before = width;

		width = Math.min(wide, Math.max(wide / MOST, width * factor));
		left = px - (px - left) * width / before;
		top = py - (py - top) * width / before;
		show();
	}

	function key(event) {
		const middle = [innerWidth / 2, innerHeight / 2];

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === '+' || event.key === '=')
			zoom(0.8, ...middle);
		else if (event.key === '-')
			zoom(1.25, ...middle);
		else if (event.key === '0')
			zoom(MOST, ...middle);
		else
			return;
		event.preventDefault();
	}

	svg.setAttribute('width', '100%');
	svg.setAttribute('height', '100%');
	addEventListener('wheel', event => {
		event.preventDefault();
		zoom(1.0015 ** event.deltaY, event.clientX, event.clientY);
	}, {passive: false});
	addEventListener('pointerdown', event => {
		from = at(event.clientX, event.clientY);
	});
	addEventListener('pointermove', event => {
		if (!from || !event.buttons)
			return;
		const now = at(event.clientX, event.clientY);

		left += from.x - now.x;
		top += from.y - now.y;
		show();
	});
	addEventListener('pointerup', () => {
		from = null;
	});
	addEventListener('dblclick', event =>
		zoom(MOST, event.clientX, event.clientY));
	addEventListener('keydown', key);
})();
