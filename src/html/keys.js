// The keys of the page.

const KEYS = [
	['W, S', 'zoom in, out (also the wheel)'],
	['A, D', 'go left, right (also Shift and the wheel, or drag)'],
	['↑, ↓', 'scroll the chart, or move in the list that has the focus'],
	['→, ←', 'unfold, fold in a tree'],
	['Tab, then arrows', 'in the chart: from box to box; Enter chooses, F zooms'],
	['click', 'choose a function; in the timeline also: what the call was ' +
		'given and has returned, and who called it'],
	['double click', 'zoom to a box'],
	['F', 'zoom to the chosen function'],
	['0', 'show everything'],
	['drag over the ruler', 'count only what happened then; so does Shift ' +
		'and a drag (timeline)'],
	['E', 'fold or unfold all lanes; a click on the head of one does it ' +
		'(timeline)'],
	['R', 'count only what is in view (timeline)'],
	['/', 'search; Enter and Shift+Enter go through what was found'],
	['Esc', 'close what a click has opened; end the search, then the choice (but for the first one), the range, the zoom'],
	['1, 2, 3, 4', 'functions, top-down, bottom-up, what it could not see'],
	['5', 'the source of the chosen function'],
	['6, M', 'in a narrow window: callers and callees; threads, colours, modules'],
	['7', 'functions by rank'],
	['T', 'dark or light'],
	['?', 'this help'],
];

const LISTS = ['functions', 'down', 'up', 'notes', 'source',
	'details', 'ranks']; // in the order of their keys

class Keys {
	constructor(app) {
		this.app = app;
		this.help = new Help(KEYS);
		document.addEventListener('keydown', event => this.key(event));
	}

	// Ends what was opened or chosen last.
	escape() {
		const {app} = this;

		if (this.help.shown)
			this.help.show(false);
		else if (app.why.close() || app.bubble.close())
			return;
		else if (app.layout.sideShown)
			app.layout.toggleSide();
		else if (app.model.matches || $('query').value)
			app.search.set('');
		else if (app.model.selected !== app.firstChoice)
			app.select(app.firstChoice);
		else if (app.model.range)
			app.range.set(null);
		else
			app.chart.showAll();
		$('query').blur();
	}

	key(event) {
		const typing = event.target === $('query');

		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === 'Escape') {
			this.escape();
		} else if (typing) {
			if (event.key !== 'Enter')
				return;
			this.app.search.next(event.shiftKey ? -1 : 1);
		} else if (!this.command(event)) {
			return;
		}
		event.preventDefault();
	}

	command(event) {
		const {app} = this;
		const {chart} = app;
		const {target} = event;

		// the chart is behind it
		if (app.why.shown && !'tT'.includes(event.key))
			return false;
		// letters there choose an option; arrows scroll a bubble
		if (target.closest('select') || target.closest('#bubble') &&
			event.key.startsWith('Arrow'))
			return false;

		switch (event.key) {
		case 'w': case 'W': case '+':
			chart.zoom(0.7);
			break;
		case 's': case 'S': case '-':
			chart.zoom(1 / 0.7);
			break;
		case 'a': case 'A':
			chart.pan(-0.2);
			break;
		case 'd': case 'D':
			chart.pan(0.2);
			break;
		case 'ArrowUp': case 'ArrowDown':
			if (target === chart.canvas)
				return chart.moveCursor(event.key);
			chart.scrollTo(chart.scroll +
				(event.key === 'ArrowUp' ? -3 : 3) * ROW);
			break;
		case 'ArrowLeft': case 'ArrowRight':
			return target === chart.canvas &&
				chart.moveCursor(event.key);
		case 'Enter':
			return target === chart.canvas && chart.enterCursor();
		case 'f': case 'F':
			app.reveal(app.model.selected, true);
			break;
		case 'e': case 'E':
			app.foldLanes();
			break;
		case 'r': case 'R':
			app.range.setToView();
			break;
		case '0': case 'Home':
			chart.showAll();
			break;
		case '/':
			$('query').focus();
			$('query').select();
			break;
		case '1': case '2': case '3': case '4': case '5':
		case '6': case '7':
			app.showList(LISTS[event.key - 1]);
			break;
		case 'm': case 'M':
			app.layout.toggleSide();
			break;
		case 't': case 'T':
			app.toggleTheme();
			break;
		case '?':
			this.help.show(!this.help.shown);
			break;
		default:
			return false;
		}
		return true;
	}
}
