// The head of all pages: the search, dark or light, the keys and the help that
// lists them.

// The system chooses, or the reader.
function isDark() {
	return getComputedStyle(document.documentElement)
		.getPropertyValue('--dark').trim() === '1';
}

function turnTheme() {
	document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
}

// A dialog: the focus is in it, and then where BACK says, or where it was.
class Help {
	// KEYS: what each of them does; MORE: what stands below.
	constructor(keys, back, more) {
		this.back = back;
		$('help').replaceChildren(make('div', {}, make('h2', {}, 'Keys'),
			pairs(keys), more || ''));
		$('help-open').onclick = () => this.show(true);
		$('help').onclick = () => this.show(false);
	}

	get shown() {
		return !$('help').hidden;
	}

	show(shown) {
		if (shown)
			this.before = document.activeElement;
		$('help').hidden = !shown;
		// it alone has the focus
		for (const part of document.querySelectorAll('body > header, main'))
			part.inert = shown;
		const focus = shown ? $('help') : this.back || this.before;

		if (focus)
			focus.focus();
	}
}

function keyOf(event) {
	return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

// A key of the page, unless it is typed somewhere.
function pageKey(event, actions) {
	const action = actions[keyOf(event)];

	if (event.ctrlKey || event.altKey || event.metaKey || !action ||
		event.target === $('query'))
		return;
	event.preventDefault();
	action();
}

// NEXT goes through what was found, LEAVE ends the search.
function wireQuery(search, next, leave) {
	$('query').addEventListener('input', () => search($('query').value));
	$('query').addEventListener('keydown', event => {
		if (event.key === 'Enter' && next)
			next(event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape')
			leave();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	});
}
