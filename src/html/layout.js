// Where things are: bars that divide the window, and what moves where it is
// narrow. Then the side lies over the rest when it is asked for, and callers and
// callees are a tab among the lists.

const NARROW = '(max-width: 1000px)';
const STEP = 0.02; // of the window, for a key on a bar

// A bar that can be dragged, or moved with arrows: it sets the share of its
// parent that is above or before it.
class Splitter {
	constructor(bar, property, of, first) {
		this.bar = bar;
		this.property = property;
		this.of = of;
		this.upright = bar.getAttribute('aria-orientation') === 'vertical';
		bar.setAttribute('aria-valuemin', 15);
		bar.setAttribute('aria-valuemax', 85);
		this.put(first);
		bar.addEventListener('pointerdown', event =>
			bar.setPointerCapture(event.pointerId));
		bar.addEventListener('pointermove', event => this.drag(event));
		bar.addEventListener('keydown', event => this.key(event));
	}

	put(share) {
		this.share = clamp(share, 0.15, 0.85);
		this.of.style.setProperty(this.property, this.share * 100 + '%');
		this.bar.setAttribute('aria-valuenow', Math.round(this.share * 100));
	}

	drag(event) {
		if (!this.bar.hasPointerCapture(event.pointerId))
			return;
		const bounds = this.of.getBoundingClientRect();

		this.put(this.upright ?
			(event.clientX - bounds.left) / bounds.width :
			(event.clientY - bounds.top) / bounds.height);
	}

	key(event) {
		const [less, more] = this.upright ? ['ArrowLeft', 'ArrowRight'] :
			['ArrowUp', 'ArrowDown'];

		if (event.key !== less && event.key !== more)
			return;
		this.put(this.share + (event.key === less ? -STEP : STEP));
		event.preventDefault();
		event.stopPropagation();
	}
}

class Layout {
	constructor(app) {
		this.app = app;
		this.narrow = matchMedia(NARROW);
		new Splitter($('splitter'), '--upper', $('main'), 0.52);
		new Splitter($('splitter-details'), '--lists', $('below'), 0.67);
		$('side-open').onclick = () => this.toggleSide();
		this.narrow.addEventListener('change', () => this.arrange());
		this.arrange();
	}

	arrange() {
		const narrow = this.narrow.matches;
		const tab = $('list-tabs').querySelector('[data-list=details]');

		tab.hidden = !narrow;
		$('list-tabs').querySelector('[data-list=source]').hidden =
			!this.app.source.any;
		$('list-tabs').querySelector('[data-list=ranks]').hidden =
			!this.app.ranks.any;
		(narrow ? $('lists') : $('below')).append($('details'));
		this.showSide(false);
		if (!this.app.listName)
			return;
		if (!narrow && this.app.listName === 'details')
			this.app.showList('functions');
		$('details').hidden = !this.isBeside('details') &&
			this.app.listName !== 'details';
	}

	// True if a list can be shown as things are.
	has(list) {
		return list === 'details' ? this.narrow.matches :
			list === 'ranks' ? this.app.ranks.any :
				list !== 'source' || this.app.source.any;
	}

	// True if it lies beside the lists, where it can always be seen.
	isBeside(list) {
		return list === 'details' && !this.narrow.matches;
	}

	get sideShown() {
		return $('side').classList.contains('open');
	}

	showSide(shown) {
		$('side').classList.toggle('open', shown);
		$('side-open').setAttribute('aria-expanded', shown);
	}

	toggleSide() {
		if (!this.narrow.matches)
			return;
		this.showSide(!this.sideShown);
		if (this.sideShown)
			$('threads').querySelector('input').focus();
	}
}
