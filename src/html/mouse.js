// The mouse in the chart and the overview.

// Drags pan, a drag over the overview chooses the window, the wheel zooms, a
// click selects, a second one zooms to the box.
class Mouse {
	constructor(app) {
		const canvas = $('chart'), map = $('map');

		this.app = app;
		canvas.addEventListener('pointerdown', event => this.down(event));
		canvas.addEventListener('pointermove', event => this.move(event));
		canvas.addEventListener('pointerup', event => this.up(event));
		canvas.addEventListener('pointerleave', () => {
			app.tip.hide();
			app.chart.hovered(null);
		});
		canvas.addEventListener('dblclick', event => this.twice(event));
		canvas.addEventListener('wheel', event => this.wheel(event),
			{passive: false});
		canvas.addEventListener('focus', () => app.chart.draw());
		canvas.addEventListener('blur', () => app.chart.draw());
		map.addEventListener('pointerdown', event => this.mapDown(event));
		map.addEventListener('pointermove', event => this.mapMove(event));
		map.addEventListener('pointerup', event => this.mapUp(event));
		map.addEventListener('wheel', event => this.wheel(event),
			{passive: false});
	}

	down(event) {
		if (event.button)
			return;
		const {chart} = this.app;

		this.app.tip.hide();
		event.target.setPointerCapture(event.pointerId);
		chart.gliding = null;
		this.drag = {
			x: event.offsetX, y: event.offsetY, moved: false,
			from: chart.from, to: chart.to, scroll: chart.scroll,
			choosing: chart.chooses && (event.shiftKey ||
				event.offsetY < RULER),
		};
	}

	move(event) {
		const {chart} = this.app;
		const {drag} = this;

		if (!drag) {
			this.app.hover(event);
			return;
		}
		const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;

		if (Math.abs(dx) + Math.abs(dy) > 3)
			drag.moved = true;
		if (!drag.moved)
			return;
		if (drag.choosing) {
			chart.choose(chart.toValue(drag.x),
				chart.toValue(event.offsetX), false);
			return;
		}
		const shift = dx / chart.view().width * (drag.to - drag.from);

		chart.scrollTo(drag.scroll - dy);
		chart.setWindow(drag.from - shift, drag.to - shift);
	}

	up(event) {
		const {drag} = this;
		const {chart} = this.app;

		this.drag = null;
		if (!drag)
			return;
		if (drag.choosing && drag.moved)
			chart.choose(chart.toValue(drag.x),
				chart.toValue(event.offsetX), true);
		else if (!drag.moved)
			this.app.clicked(chart.at(event.offsetX, event.offsetY),
				{x: event.clientX, y: event.clientY});
	}

	twice(event) {
		const {chart} = this.app;
		const item = chart.at(event.offsetX, event.offsetY);

		if (item !== null)
			chart.zoomTo(item);
	}

	wheel(event) {
		const {chart} = this.app;
		const unit = event.deltaMode === 1 ? 16 : 1;
		const dx = event.deltaX * unit, dy = event.deltaY * unit;

		event.preventDefault();
		if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
			chart.pan((dx || dy) / chart.view().width);
		} else if (event.altKey) {
			chart.scrollTo(chart.scroll + dy);
		} else {
			const center = event.target === chart.map ?
				(chart.from + chart.to) / 2 :
				chart.toValue(event.offsetX);

			chart.zoom(Math.exp(clamp(dy, -240, 240) / 400), center);
		}
	}

	mapValue(event) {
		const {chart} = this.app;

		return event.offsetX / chart.map.clientWidth * chart.extent();
	}

	// A drag from within the window moves it, one from elsewhere makes a new.
	mapDown(event) {
		const {chart} = this.app;
		const value = this.mapValue(event);

		event.target.setPointerCapture(event.pointerId);
		chart.gliding = null;
		this.mapDrag = {
			value, from: chart.from, to: chart.to, moved: false,
			moves: value > chart.from && value < chart.to &&
				chart.span() < chart.extent() * 0.999,
		};
	}

	mapMove(event) {
		const {chart} = this.app;
		const {mapDrag} = this;

		if (!mapDrag)
			return;
		const value = this.mapValue(event);
		const distance = value - mapDrag.value;

		if (Math.abs(distance) / chart.extent() > 0.004)
			mapDrag.moved = true;
		if (!mapDrag.moved)
			return;
		if (mapDrag.moves)
			chart.setWindow(mapDrag.from + distance,
				mapDrag.to + distance);
		else
			chart.setWindow(Math.min(value, mapDrag.value),
				Math.max(value, mapDrag.value));
	}

	mapUp(event) {
		const {chart} = this.app;
		const {mapDrag} = this;

		this.mapDrag = null;
		if (!mapDrag || mapDrag.moved)
			return;
		const half = chart.span() / 2, value = this.mapValue(event);

		chart.glide(value - half, value + half);
	}
}
