// Small helpers: elements, numbers as people read them.

const $ = id => document.getElementById(id);

// An element with text (never markup) or children.
function make(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (name === 'class')
			element.className = value;
		else if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (value !== false && value !== undefined)
			element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...children.filter(child => child !== null &&
		child !== undefined));
	return element;
}

// The name of something, and its value.
function pair(what, value, attributes) {
	return make('div', {}, make('dt', {}, what), make('dd', attributes, value));
}

function pairs(rows) {
	return make('dl', {}, ...rows.map(([what, value]) => pair(what, value)));
}

function plain(value) {
	return String(Math.round(value));
}

// 1 234 567, with spaces that do not break.
function grouped(value) {
	return plain(value).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

function duration(ns) {
	if (!ns)
		return '0';
	for (const [unit, name] of UNITS) {
		// (what would be shown as 1000 is 1 of the next unit)
		if (ns < unit * 0.99995 && unit > 1)
			continue;
		const value = ns / unit;
		const digits = unit === 1 && Number.isInteger(ns) ? 0 :
			value >= 99.95 ? 1 : value >= 9.995 ? 2 : 3;
		return value.toFixed(digits) + '\u202f' + name;
	}
	return '0';
}

// One sample stands for this time, in two runs that were joined. Functions that
// none hit have taken less.
let leastTime = 0;

function setLeastTime(ns) {
	leastTime = ns;
}

function durationOrBound(ns) {
	// (of two digits, as many are shown)
	return !ns && leastTime ?
		'<' + duration(Number(leastTime.toPrecision(2)))
			.replace(/\.?0+(?=\u202f)/, '') : duration(ns);
}

function percent(part, whole) {
	if (!whole)
		return '–';
	const value = 100 * part / whole;

	return (value >= 99.95 ? value.toFixed(0) : value >= 9.995 ?
		value.toFixed(1) : value.toFixed(2)) + '\u202f%';
}

function plural(count, word) {
	return grouped(count) + ' ' + word + (count === 1 ? '' : 's');
}

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

function clamp(value, low, high) {
	return Math.max(low, Math.min(high, value));
}

// The first index in [low, high) for which test() holds, or high.
function firstWhere(low, high, test) {
	while (low < high) {
		const middle = (low + high) >>> 1;

		if (test(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Calls fn once, in the next frame, however often it is asked.
function onceAFrame(fn) {
	let asked = false;

	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => {
			asked = false;
			fn();
		});
	};
}

const pause = () => new Promise(done => setTimeout(done, 0));
