// The head of the page: the command, and what was counted.

class Header {
	constructor(app) {
		this.app = app;
		this.show();
	}

	show() {
		const {app} = this;
		const {model} = app;
		const [first] = model.profiles;
		const command = commandOf(first);
		const chips = [];

		document.title = command ? `${command} – swizzle` : 'swizzle';
		$('command').textContent = command + (model.comparison ?
			` compared with ${commandOf(model.profiles[
				model.comparison.firstOld])}` :
			model.profiles.length > 1 ?
			` and ${plural(model.profiles.length - 1, 'other process')
				.replace('processs', 'processes')}` : '');
		$('command').title = $('command').textContent;
		chips.push(make('span', {class: 'chip', id: 'total'}));
		chips.push(make('span', {class: 'chip', id: 'calls'}));
		if (model.comparison)
			chips.push(model.comparison.chip());
		if (model.sampled)
			chips.push(make('span', {class: 'chip warn',
				title: 'Only some calls were timed: times are ' +
					'estimates'}, 'sampled'));
		const warnings = app.notes.warnings();

		chips.push(make('button', {
			class: 'chip' + (warnings ? ' warn' : ''), id: 'warnings',
			title: 'What it could not see',
			onclick: () => app.showList('notes'),
		}, warnings ? `⚠ ${plural(warnings, 'note')}` : 'nothing lost'));
		$('chips').replaceChildren(...chips);
		this.showTotals();
	}

	showTotals() {
		const {model} = this.app;
		const counted = model.countedThreads().length;
		const hooks = Math.max(0,
			model.raw - model.ran - model.waiting);
		const known = model.holdsSamples ? ['', ''] :
			model.description.boundNs ? [', sampled', ''] :
			model.description.compensated ?
				[`, after ${duration(hooks)} of hooks`,
					`, without the ${grouped(hooks)} ns that the ` +
					'hooks took'] :
				[', with hooks', ', with the cost of the hooks'];

		$('total').textContent = duration(model.total) +
			(model.timeKind === 'waiting' ? ' of waiting' :
				model.timeKind === 'both' ? ', running or waiting,' :
					model.holdsSamples ? ' of processor time' :
						model.knowsWaiting ? ' running' +
							(model.unknown() ? ' or unknown' : '') : '') +
			(model.comparison ? model.comparison.runsText() :
				model.description.boundNs ? '' :
				' in ' + (counted === model.threads.length ?
					plural(counted, 'thread') :
					`${counted} of ${plural(
						model.threads.length, 'thread')}`)) +
			known[0];
		$('total').title = grouped(model.total) + ' ns' + known[1];
		$('calls').textContent = plural(model.calls, model.one);
	}
}
