// Lines from a call to the one that it has woken, while the mouse is over one
// of them.

const MOST_LINES = 200; // of a call that has others in it
const TASKS = new Set(['thread', 'process', 'exec', 'signal']);

class Flows {
	constructor(bytes, threads) {
		const reader = new Reader(bytes);
		const names = Array.from({length: reader.number()}, () =>
			reader.string());
		const ends = [];

		while (reader.at < bytes.length)
			ends.push(this.readEnd(reader, threads, names));
		// each end knows the other one
		for (let i = 0; i + 1 < ends.length; i += 2) {
			ends[i].other = ends[i + 1];
			ends[i + 1].other = ends[i];
			ends[i + 1].wakes = false;
		}
		this.byThread = threads.map(() => []);
		for (const end of ends)
			this.byThread[end.thread.index].push(end);
		for (const list of this.byThread)
			list.sort((a, b) => a.time - b.time);
	}

	readEnd(reader, threads, names) {
		const thread = threads[reader.number()];
		const time = thread.offset + reader.number() * thread.nsPerTick;

		return {thread, time, name: names[reader.number()], wakes: true};
	}

	// Within the call that an end belongs to: calls are woken when they return,
	// what is started when it begins.
	momentOf({time, name, wakes}) {
		return TASKS.has(name) === wakes ? time - 1 : time;
	}

	// The ends in a thread from one time to another, these included.
	within(thread, from, to) {
		const list = this.byThread[thread.index];
		const first = firstWhere(0, list.length, i => list[i].time >=
			from - 1);
		const last = firstWhere(first, list.length, i => list[i].time >
			to + 1);

		return list.slice(first, Math.min(last, first + MOST_LINES));
	}
}

// "woken by": the other end, for people.
function flowRows(flows, app) {
	const rows = flows.slice(0, 3).map(({wakes, other}) =>
		[wakes ? 'wakes' : 'woken by',
			`${other.name} in ${app.threadName(other.thread)}`]);

	if (flows.length > 3)
		rows.push(['flows', flows.length < MOST_LINES ?
			String(flows.length) : `${MOST_LINES} or more`]);
	return rows;
}
