// The index of --file-per-invocation: a row for each call of the function, which
// leads to that call's page.

const OUTCOMES = ['returned', 'error', 'exception', 'other'];
const INDEX_KEYS = [
	['↑ ↓', 'from row to row'],
	['Enter', 'the page of the call'],
	['/', 'search'],
	['T', 'dark or light'],
	['?', 'these keys'],
];

function readInvocations(bytes) {
	const reader = new Reader(bytes);
	const all = [];

	while (reader.at < bytes.length)
		all.push({number: all.length + 1, page: reader.number(),
			start: reader.number(), time: reader.number(),
			calls: reader.number(), nested: reader.number(),
			errors: reader.number(), outcome: reader.number(),
			thread: reader.number(), call: reader.string(),
			end: reader.string()});
	return all;
}

class InvocationView {
	constructor(about, all) {
		this.about = about;
		this.all = all;
		this.sort = 'start';
		this.ascending = true;
		this.outcome = -1; // only that one
		document.body.classList.add('index');
		$('panel').hidden = $('fold-all').hidden = $('unfold-all').hidden = true;
		this.list = new List($('calls'), [
			{key: 'number', title: 'Call', width: '72px', align: 'right',
				sort: true, hint: 'Its page'},
			{key: 'start', title: 'Start s', width: '92px', align: 'right',
				sort: true, drop: 5},
			{key: 'time', title: 'Time', width: '82px', align: 'right',
				sort: true},
			{key: 'outcome', title: 'Outcome', width: '92px', sort: true},
			{key: 'calls', title: 'Calls', width: '76px', align: 'right',
				sort: true, hint: 'Calls in it, itself included', drop: 3},
			{key: 'nested', title: 'Nested', width: '70px', align: 'right',
				sort: true, hint: 'Of these: more of the same function',
				drop: 2},
			{key: 'errors', title: 'Errors', width: '66px', align: 'right',
				sort: true, hint: 'Errors and exceptions in it', drop: 4},
			{key: 'name', title: 'Arguments and result',
				width: 'minmax(120px, 2fr)', wants: 220, sort: true},
			{key: 'thread', title: 'Thread', width: 'minmax(60px, 200px)',
				wants: 110, sort: true, drop: 1},
		], (row, cells, element) => this.render(row, cells, element), {
			sort: column => this.sortBy(column.key),
			click: (row, _, event) => event.target.tagName !== 'A' &&
				this.go(row),
			open: row => this.go(row),
			label: 'Calls',
		});
		this.putHeader();
		this.listen();
		this.update();
	}

	file(row) {
		return row.page ? `${String(row.page).padStart(5, '0')}.html` : '';
	}

	go(row) {
		if (row.page)
			location.href = this.file(row);
	}

	render(row, cells, element) {
		const {about} = this;
		const bad = row.outcome === 1 || row.outcome === 2;

		cells[0].append(row.page ? make('a', {href: this.file(row)},
			String(row.number)) : make('span', {class: 'dim',
			title: 'It has no page (-n)'}, `${row.number} –`));
		cells[1].textContent = seconds(row.start);
		cells[2].textContent = duration(row.time);
		cells[2].title = grouped(row.time) + ' ns';
		putBar(cells[2], row.time, this.longest, 'var(--bar2)');
		cells[3].textContent = OUTCOMES[row.outcome];
		cells[3].classList.toggle('bad', bad);
		cells[4].textContent = grouped(row.calls);
		cells[5].textContent = row.nested ? grouped(row.nested) : '';
		cells[6].textContent = row.errors ? grouped(row.errors) : '';
		cells[6].classList.toggle('bad', row.errors > 0);
		cells[7].classList.add('name');
		cells[7].title = `${row.call} ${row.end}`;
		cells[7].append(row.call, make('span', {class: bad ?
			'call-result bad' : 'call-result'}, ' ' + row.end));
		const {program, pid, tid, name} = about.threads[row.thread];

		cells[8].textContent = `${name} ${tid}`;
		cells[8].title = `${program}, process ${pid}, thread ${tid}`;
		element.classList.toggle('error', bad);
	}

	key(row) {
		return this.sort === 'name' ? row.call + row.end : row[this.sort];
	}

	sortBy(key) {
		this.ascending = this.sort === key ? !this.ascending :
			['number', 'start', 'name', 'thread'].includes(key);
		this.sort = key;
		this.update();
	}

	update() {
		const words = $('query').value.trim().toLowerCase();
		const sign = this.ascending ? 1 : -1;
		const rows = this.all.filter(row => (this.outcome < 0 ||
			row.outcome === this.outcome) && (!words ||
			`${row.call} ${row.end}`.toLowerCase().includes(words)));

		rows.sort((a, b) => {
			const x = this.key(a), y = this.key(b);

			return x < y ? -sign : x > y ? sign : a.number - b.number;
		});
		this.longest = rows.reduce((most, {time}) => Math.max(most, time), 0);
		$('found').textContent = words ? grouped(rows.length) : '';
		$('search').classList.toggle('active', Boolean(words));
		this.list.markSorted(this.sort, this.ascending);
		this.list.set(rows);
	}

	putHeader() {
		const {about, all} = this;
		const without = all.filter(({page}) => !page).length;
		const chips = [make('span', {class: 'chip'},
			`${plural(all.length, 'call')} of ${about.root}`)];

		OUTCOMES.forEach((name, outcome) => {
			const count = all.filter(row => row.outcome === outcome).length;

			if (count && count < all.length)
				chips.push(make('button', {class: 'chip' + (outcome === 1 ||
					outcome === 2 ? ' bad' : ''), 'aria-pressed': 'false',
				'data-outcome': outcome,
				onclick: event => this.only(outcome, event.target)},
				outcome === 1 || outcome === 2 ? plural(count, name) :
					`${grouped(count)} ${name}`));
		});
		if (without)
			chips.push(make('span', {class: 'chip warn', id: 'left-out',
				title: '-n makes more pages, --from and --to choose'},
			`${grouped(without)} without a page`));
		$('chips').replaceChildren(...chips);
		$('command').textContent = $('command').title = about.command;
		document.title = `Calls of ${about.root}`;
	}

	only(outcome, button) {
		this.outcome = this.outcome === outcome ? -1 : outcome;
		for (const chip of document.querySelectorAll('[data-outcome]'))
			chip.setAttribute('aria-pressed', String(chip === button &&
				this.outcome >= 0));
		this.update();
	}

	listen() {
		const help = new Help(INDEX_KEYS, this.list.grid);

		$('theme').onclick = turnTheme;
		wireQuery(() => this.update(), null, () => {
			$('query').value = '';
			this.update();
			this.list.grid.focus();
		});
		addEventListener('keydown', event => pageKey(event, {
			'/': () => $('query').focus(),
			'?': () => help.show(true),
			t: turnTheme,
			Escape: () => help.show(false),
		}));
	}
}

(async () => {
	const blocks = new Blocks();
	const progress = share => {
		document.querySelector('#loading i').style.width = 100 * share + '%';
	};

	try {
		if (blocks.has('invocations'))
			window.swizzleCalls = new InvocationView(
				JSON.parse(text(await blocks.take('about'))),
				readInvocations(await blocks.take('invocations')));
		else
			window.swizzleCalls = new CallView(await readCalls(blocks,
				progress));
		$('loading').hidden = true;
	} catch (error) {
		$('loading').classList.add('failed');
		$('loading').firstElementChild.textContent = String(error);
		throw error;
	}
})();
