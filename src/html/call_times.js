// How long the calls of a function took (--percentiles): p50 to p99.9, and a bar
// for each range of times. In a trace a bar leads from one of its calls to the next.

const PERCENTILES = [['p50', 0.5], ['p90', 0.9], ['p99', 0.99],
	['p99.9', 0.999]];
const MOST_BARS = 32;

// The nearest rank, as all formats have it.
function percentileOf(times, share) {
	const all = times.reduce((sum, [, calls]) => sum + calls, 0);
	const rank = Math.ceil(all * share * (1 - 1e-12));
	let passed = 0;

	for (const [ns, calls] of times)
		if ((passed += calls) >= rank)
			return ns;
	return times[times.length - 1][0];
}

// [{from, to, calls}]: each range is as many times as long as the one before.
function barsOf(times) {
	const least = Math.max(1, times[0][0]);
	const most = Math.max(least, times[times.length - 1][0]);
	const count = Math.max(1, Math.min(MOST_BARS,
		Math.ceil(Math.log(most / least) / Math.log(1.2))));
	const step = Math.max(Math.pow(most / least, 1 / count), 1.0001);
	const bars = Array.from({length: count}, (_, i) => ({
		from: i ? least * Math.pow(step, i) : 0,
		to: i + 1 < count ? least * Math.pow(step, i + 1) : Infinity,
		calls: 0,
	}));

	for (const [ns, calls] of times) {
		const at = Math.floor(Math.log(Math.max(ns, 1) / least) /
			Math.log(step) + 1e-9);

		bars[Math.max(0, Math.min(at, count - 1))].calls += calls;
	}
	return bars;
}

// An element, or null: no times of the function are known. A bar's height is by
// the logarithm of its calls, as one of a million is what is looked for.
function callTimes(app, fn) {
	const times = app.model.timesOf(fn);

	if (!times.length)
		return null;
	const bars = barsOf(times);
	const most = bars.reduce((a, {calls}) => Math.max(a, calls), 1);
	const last = times[times.length - 1][0];
	const leads = app.charts.timeline;

	return make('div', {class: 'call-times', role: 'group',
		'aria-label': 'How long calls took'},
	...bars.map(({from, to, calls}) => {
		const text = `${plural(calls, 'call')} of ` +
			`${duration(from)} to ${duration(Math.min(to, last))}` +
			(leads && calls ? ': click shows the next of them' : '');
		const bar = make(leads && calls ? 'button' : 'i', {title: text,
			'aria-label': text, class: calls ? 'some' : '',
			onclick: () => leads && calls &&
				app.revealCall(fn, from, to)});

		bar.style.height = calls ? `${12 + 88 * Math.log1p(calls) /
			Math.log1p(most)}%` : '0';
		return bar;
	}));
}
