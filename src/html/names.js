// Names that are longer than their room are cut from the inside, so that what
// tells functions apart stays: first template arguments, the innermost ones
// first, then parameters, then the namespaces within the first one, then letters
// in the middle. A name keeps its beginning and its end.

const ELLIPSIS = '…';

// How long an operator's symbol is that begins at AT, which follows the word;
// its brackets are no lists.
function operatorLength(name, at) {
	const found = /^ ?(?:<=>|<<=?|>>=?|->\*?|<=?|>=?|\(\))/.exec(
		name.slice(at, at + 5));

	return found ? found[0].length : 0;
}

// The bracketed lists in a name: {from, to, depth, round}, without their
// brackets.
function bracketsOf(name) {
	const found = [], open = [];

	for (let i = 0; i < name.length; i++) {
		const c = name[i];

		if (c === 'o' && name.startsWith('operator', i) &&
			!/\w/.test(name[i - 1] || ' ')) {
			i += 7;
			i += operatorLength(name, i + 1);
		} else if (c === '<' || c === '(') {
			open.push({from: i + 1, depth: open.length,
				round: c === '('});
		} else if (c === ')' || (c === '>' && name[i - 1] !== '-')) {
			const list = open.pop();

			if (!list || list.round !== (c === ')'))
				return [];
			list.to = i;
			found.push(list);
		}
	}
	return open.length ? [] : found;
}

// A name with some of its lists cut to an ellipsis.
function cutLists(name, lists) {
	const sorted = [...lists].sort((a, b) => a.from - b.from);
	let text = '', at = 0;

	for (const {from, to} of sorted) {
		if (from < at)
			continue; // in one that is cut already
		text += name.slice(at, from) + ELLIPSIS;
		at = to;
	}
	return text + name.slice(at);
}

// A namespace or a class and the :: behind it.
const SCOPE = /^(?:[\w~$]+|[\w$]+<…>|<…>|\([\w ]+\)|\{[^{}]*\})::(?=.)/;

// The scopes of a name, from the outside, and what is left of it.
function scopesOf(name) {
	const scopes = [];

	for (let found; (found = SCOPE.exec(name)); name = name.slice(found[0].length))
		scopes.push(found[0]);
	return {scopes, rest: name};
}

// A name with fewer and fewer of the scopes within its first one.
function withoutInner(name) {
	const {scopes, rest} = scopesOf(name);

	return scopes.slice(1).map((_, i) => scopes[0] + ELLIPSIS + '::' +
		scopes.slice(i + 2).join('') + rest);
}

const formsOf = new Map(); // of names that were cut

// A name and its shorter forms, the longest first.
function nameForms(name) {
	let forms = formsOf.get(name);

	if (forms)
		return forms;
	const lists = bracketsOf(name).filter(({from, to}) => to - from > 1);
	const templates = lists.filter(({round}) => !round);
	const deepest = Math.max(...templates.map(({depth}) => depth), 0);

	forms = [name];
	for (let depth = deepest; depth >= 0 && templates.length; depth--)
		forms.push(cutLists(name, templates.filter(list =>
			list.depth >= depth)));
	// parameters; what is no list of them is followed by ::
	forms.push(cutLists(name, lists.filter(({round, to}) => !round ||
		!name.startsWith('::', to + 1))));
	forms.push(...withoutInner(forms[forms.length - 1]));
	forms = forms.filter((form, i) => !i || form.length < forms[i - 1].length);
	if (formsOf.size > 20000)
		formsOf.clear();
	formsOf.set(name, forms);
	return forms;
}

// The middle goes where nothing else is left to cut; '' where there is no room.
// LAST: letters behind the scopes, which stay as far as they have room; 0: no scope.
function cutMiddle(name, letters, last) {
	if (letters < 3)
		return '';
	const tail = last ? Math.min(last, Math.floor((letters - 1) * 0.7)) :
		letters - 1 - Math.ceil((letters - 1) * 0.6);
	const head = letters - 1 - tail;

	// (a letter of two halves, as of an emoji, is not cut in two)
	return name.slice(0, head).replace(/[\uD800-\uDBFF]$/, '') + ELLIPSIS +
		(tail ? name.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '') : '');
}

// The longest form of a name for which fits() holds; letters(form) guesses how
// many of its letters have room.
function fitName(name, fits, letters) {
	const forms = nameForms(name);

	for (const form of forms)
		if (fits(form))
			return form;
	// (without the ellipses of scopes, which would be a second cut)
	const {scopes, rest} = scopesOf(forms[forms.length - 1]);
	const end = rest.replace(/^…::/, '');
	const last = (scopes[0] || '') + end;

	for (let count = Math.min(letters(last), last.length - 1); count > 2;
		count--) {
		const cut = cutMiddle(last, count, scopes.length && end.length);

		if (fits(cut))
			return cut;
	}
	return '';
}

// A name in no more than so many letters.
function shortName(name, letters) {
	return name.length <= letters ? name :
		fitName(name, form => form.length <= letters, () => letters) || ELLIPSIS;
}
