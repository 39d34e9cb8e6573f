// The range of time that is counted, in words above the timeline.

class RangeBar {
	constructor(app) {
		this.app = app;
		$('range-view').onclick = () => this.setToView();
		$('range-clear').onclick = () => this.set(null);
	}

	// The range that is counted from now on; null: everything.
	set(range) {
		const {model} = this.app;

		model.range = range && range[1] > range[0] ? range : null;
		if (model.range && !model.canCount(model.range)) {
			model.range = null;
			this.changed();
			this.show(range);
			// (the end of a long text has no room)
			$('range').textContent = 'Not counted, its events are not ' +
				'in this page: ' + $('range').textContent;
			return Promise.resolve();
		}
		this.show(model.range);
		if (model.range && model.largeThreads().length)
			return this.countLarge();
		this.changed();
		return Promise.resolve();
	}

	changed() {
		const {app} = this;

		document.body.classList.remove('counting');
		app.threadsChanged();
		app.side.showThreads();
		app.chart.drawNow();
		app.remember();
	}

	async countLarge() {
		const text = $('range').textContent;

		this.app.chart.draw();
		document.body.classList.add('counting');
		if (!await this.app.model.countLarge(part => {
			$('range').textContent = `${text}: counting, ` +
				`${Math.round(100 * part)}\u202f%`;
		}))
			return;
		$('range').textContent = text;
		this.changed();
	}

	show(range) {
		const {model} = this.app;

		$('range').hidden = $('range-clear').hidden = !range;
		if (!range)
			return;
		const from = range[0] - model.first;
		const to = range[1] - model.first;

		$('range').textContent = `${duration(from)} to ${duration(to)}: ` +
			duration(to - from) + (model.description.compensated ?
			' with hooks' : '');
		$('range').title = `${grouped(from)} to ${grouped(to)} ns` +
			(model.holdsSamples ? '' : ', with the cost of the hooks');
	}

	setToView() {
		const {timeline} = this.app.charts;

		if (timeline && this.app.chart === timeline)
			timeline.choose(timeline.from, timeline.to, true);
	}
}
