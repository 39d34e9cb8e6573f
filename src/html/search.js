// The search for functions.

class Search {
	constructor(app) {
		this.app = app;
		this.foundAt = -1; // in the table
		$('query').addEventListener('input', () =>
			this.set($('query').value));
	}

	set(query) {
		const {app} = this;

		$('query').value = query;
		app.model.search(query);
		this.foundAt = -1;
		app.table.update();
		Object.assign(app.stale, {down: true, up: true, ranks: true});
		app.fillList();
		this.show();
		app.chart.draw();
		app.remember(true);
	}

	show() {
		const {model} = this.app;

		$('search').classList.toggle('active', Boolean(model.matches));
		if (!model.matches) {
			$('found').textContent = '';
			return;
		}
		let count = 0, self = 0;

		for (const fn of model.functions)
			if (model.matches[fn]) {
				count++;
				self += model.sums.self[fn];
			}
		$('found').textContent = count ?
			`${grouped(count)}, ${percent(self, model.total)} self` :
			'none';
	}

	next(step) {
		const {app} = this;
		const {rows} = app.table.list;

		if (!app.model.matches || !rows.length)
			return;
		this.foundAt = (this.foundAt + step + rows.length) % rows.length;
		app.select(rows[this.foundAt]);
		app.table.showSelected();
		app.reveal(rows[this.foundAt]);
	}
}
