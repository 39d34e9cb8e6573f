// Notes about what was recorded, how, and what the profile could not see.

// How much a note changes what one concludes: the most important come first.
const LOST = 0;    // something that was to be recorded is not there
const WAITS = 1;   // times with waiting in them
const TIMES = 2;   // times that are not to be trusted
const MEANING = 3; // what times and counts are of
const LEFT_OUT = 4; // what was left out on purpose, or could not be had
const PARTS = 5;   // of some calls
const DETAIL = 6;

// Fewer samples say little about shares.
const FEW_SAMPLES = 100;

// Sentences about one profile, by importance; `bad` ones mean that something is
// missing.
function remarks(profile, description, threads) {
	const list = [];

	findRemarks(profile, description, threads,
		(importance, bad, sentence) => list.push({importance, bad, sentence}));
	return list.sort((a, b) => a.importance - b.importance);
}

function findRemarks(profile, description, threads, say) {
	const cost = (profile.costInsidePs +
		profile.costOutsidePs) / 1000;
	const calls = threads.reduce((sum, {rows}) => sum +
		rows.calls.reduce((part, count) => part + count, 0), 0);
	const refused = profile.modules.reduce((sum, module) => sum +
		module.refused.reduce((part, [, count]) => part + count, 0), 0);
	const patched = profile.modules.reduce((sum, module) => sum +
		module.patched, 0);
	const left = profile.modules.filter(isLeftOut);

	if (profile.missingBytes)
		say(LOST, true, `The file is cut off: ${grouped(profile.missingBytes)} ` +
			'bytes are missing.');
	if (profile.badChunks || profile.droppedContexts)
		say(LOST, true, 'The file is damaged: ' +
			plural(profile.badChunks, 'bad chunk') + ', ' +
			plural(profile.droppedContexts, 'context') + ' left out.');
	if (profile.repairedContexts)
		say(TIMES, true, `The times of ${plural(profile.repairedContexts,
			'context')} were torn by a kill, a jump or a signal, and repaired.`);
	if (profile.incomplete)
		say(LOST, true, `The profile is incomplete: ${profile.incomplete}. ` +
			'Calls of then and later may be missing.');
	if (profile.lostCalls)
		say(LOST, true, plural(profile.lostCalls, 'call') + ' ' +
			(profile.lostCalls === 1 ? 'was' : 'were') +
			' not recorded' + (profile.incomplete ? '.' :
			': no memory, or threads that share their state.'));
	if (description.flowDoubts && profile === description.profiles[0])
		say(DETAIL, false, `What woke what: ${description.flowDoubts}.`);
	if (profile.lostMarks)
		say(PARTS, true, plural(profile.lostMarks, 'mark') + ' or spans had no ' +
			'room in the profile.');
	const withoutRanks = threads.reduce((sum, thread) =>
		sum + (thread.withoutRanks || 0), 0);

	if (withoutRanks)
		say(PARTS, false, 'Times by rank: the page has no room for those of ' +
			`${plural(withoutRanks, 'function')} with the least time. ` +
			'swizzle-dump -f csv --by rank has all.');
	if (profile.foldedCalls)
		say(weight(profile.foldedCalls, calls), true, plural(profile.foldedCalls, 'call') +
			(profile.foldedCalls === 1 ? ' has' : ' have') +
			' no exact context, as the memory bound was reached. ' +
			'In the trees they are below “[unknown caller]”, with ' +
			'times that are also in their callers’.');
	if (profile.foldedRecursion)
		say(weight(profile.foldedRecursion, calls), true, plural(profile.foldedRecursion, 'recursive call') +
			(profile.foldedRecursion === 1 ? ' goes' : ' go') +
			' on in a context further up (--recursion). In the trees ' +
			'and flame graphs they have no time of their own, and ' +
			'functions between them may have less inclusive time ' +
			'than in the lists.');
	if (profile.notShown)
		say(weight(profile.notShown, calls), false, plural(profile.notShown,
			profile.holdsSamples ? 'sample' : 'call') +
			(profile.notShown === 1 ? ' is' : ' are') +
			' not shown. Their time is their callers’.');
	if (!profile.clockKnown)
		say(TIMES, true, 'The clock was not calibrated: times are in ticks.');
	if (profile.sampled)
		say(TIMES, true, 'Timing was sampled: counts are exact, times are ' +
			'estimates; ± is the standard error of self time. There ' +
			'are no shortest and longest calls.');
	if (!profile.ended)
		say(LOST, true, 'The process did not end in order, or had not yet: ' +
			'calls that were open are taken to end at the last ' +
			'event of their thread.');
	if (profile.forked)
		say(DETAIL, false, 'The process began by fork in a profiled one; frames ' +
			'that were open then count no call here.');
	if (profile.traced)
		traceRemarks(profile, threads, say);
	if (profile.filtered)
		say(LEFT_OUT, true, 'Filters were in force: functions were left out on ' +
			'request.');
	if (refused)
		say(LEFT_OUT, true, `${grouped(refused)} of ${grouped(refused + patched)} ` +
			'functions were not hooked, for the reasons below. ' +
			(description.boundNs ? '' : 'Their time is in their ' +
			'callers’ self time.'));
	if (profile.holdsSamples) {
		sampleRemarks(profile, say);
		return;
	}
	if (left.length && !description.boundNs)
		say(LEFT_OUT, false, 'Not in scope: ' + left.map(module =>
			baseName(module.path)).join(', ') + '. The time in them ' +
			'is in their callers’ self time.');
	if (description.boundNs) {
		say(MEANING, false, 'Counts are exact. Times are processor time, by ' +
			plural(description.samples, 'sample') + '. What no ' +
			'sample hit took less than ' +
			duration(description.boundNs) + '. “–”: calls that were ' +
			'not counted.');
		if (description.countingNs)
			say(TIMES, false, duration(description.countingNs) + ' went ' +
				'into counting calls, and are left out. Up to ' +
				duration(description.unsureCountingNs) + ' of short ' +
				'calls may be more of it.');
		sampleLosses(description, description.cutStacks, say);
		return;
	}
	say(MEANING, false, description.compensated ?
		`What the hooks cost, ${cost.toFixed(2)} ns a call, was measured ` +
		'at the start and has been subtracted.' :
		`What the hooks cost, ${cost.toFixed(2)} ns a call, is in the ` +
		'times: it was not subtracted.');
	const sumOf = of => threads.reduce((sum, thread) => sum + of(thread), 0);
	const ran = sumOf(thread => thread.totalNs);
	const waited = sumOf(({rows}) => rows.waiting ?
		rows.waitingSelf.reduce((sum, ns) => sum + ns, 0) : 0);

	if (description.compensated &&
		sumOf(thread => thread.rawNs) - ran - waited > ran)
		say(TIMES, true, 'Hooks took more time than the program: times of short ' +
			'functions are rough. True times: swizzle-run -m both');
	if (profile.traced && description.compensated)
		say(DETAIL, false, 'The ruler, the length of a range and where boxes ' +
			'begin and end are as they were recorded, with what the ' +
			'hooks took.');
	const unknown = sumOf(thread => thread.unknownNs || 0);

	if (unknown * 100 > ran)
		say(TIMES, false, `Self has ${duration(unknown)} in which threads ran or ` +
			'waited, it is not known which: a process was killed, or still runs.');
	const apart = threads.some(({rows}) => rows.waiting);

	say(apart ? MEANING : WAITS, false, (apart ? 'Running and waiting are apart. ' :
		'Times are wall-clock time, waiting included. ') +
		'[outside] is the time outside of all hooked functions.');
}

// One in twenty is more than a detail.
function weight(count, all) {
	return count * 20 >= all ? TIMES : PARTS;
}

function sampleLosses({samples, lostSamples, missedSamples}, cutStacks, say) {
	if (samples < FEW_SAMPLES)
		say(TIMES, true, `${plural(samples, 'sample')}: few, so times are ` +
			'rough. A higher rate (-r) or a longer run has more.');
	if (lostSamples + missedSamples)
		say(weight(lostSamples + missedSamples, samples), true, [[lostSamples, 'lost'], [missedSamples, 'not taken']]
			.filter(([count]) => count).map(([count, how]) =>
				`${plural(count, 'sample')} ${how}`).join(', ') +
			'.');
	if (cutStacks)
		say(weight(cutStacks, samples), true, `The stacks of ${plural(cutStacks, 'sample')} are ` +
			'not whole: they begin below “[unknown caller]”.');
}

function sampleRemarks(profile, say) {
	sampleLosses(profile, profile.cutStacks + profile.brokenStacks, say);
	say(MEANING, false, `${plural(profile.samples, 'sample')}, not calls: nothing was ` +
		'patched. A share of n samples is right to about √n of them.');
	say(MEANING, false, 'Times are processor time. ' + (profile.ofWaiting ?
		'Where threads wait was looked at 100 times a second.' :
		'Who waits was not sampled.'));
	if (profile.untimedSamples)
		say(PARTS, true, plural(profile.untimedSamples, 'sample') + ' had no ' +
			'room with their times: the timeline and ranges of time ' +
			'are without them.');
}

function traceRemarks(profile, threads, say) {
	const sum = key => threads.reduce((all, thread) => all + thread[key], 0);
	const untraced = sum('untraced'), left = sum('shortCalls');

	if (profile.ring)
		say(LEFT_OUT, true, 'Of the trace only the newest events were kept. In the ' +
			'timeline and in ranges of time what came before is ' +
			'“[not traced]”; without a range all figures are ' +
			'complete.');
	if (untraced)
		say(LOST, true, `${plural(untraced, 'event')} had no room in the trace ` +
			'and are missing. In the timeline and in ranges of time ' +
			'calls that were open end at the last event that there ' +
			'is, and the rest is “[not traced]”; without a range all ' +
			'figures are complete.');
	const cut = sum('cutValues');

	const banded = sum('cutBanded');

	if (banded)
		say(PARTS, true, `${plural(banded, 'call')} had no room in the bands of ` +
			'the timeline: a thread has 100,000 there.');
	if (cut)
		say(PARTS, true, 'Arguments and results had no room in this page at ' +
			`${grouped(cut)} beginnings and ends of calls. For them: swizzle-dump -f html ` +
			'--from TIME --to TIME.');
	const blocks = threads.flatMap(({trace}) =>
		trace && trace.large ? trace.blocks : []);
	const absent = blocks.filter(({there}) => !there);

	if (absent.length)
		say(LOST, true, 'The trace has more events than this page may hold: the ' +
			`last ${percent(absent.length, blocks.length)} are not in ` +
			'it. There the timeline is as coarse as from afar, and ' +
			'ranges of time are not counted. For them: swizzle-dump -f ' +
			'html --from TIME --to TIME.');
	if (left)
		say(LEFT_OUT, true, `${plural(left, 'call')} shorter than ` +
			`${duration(profile.minNs)} ${left === 1 ? 'is' : 'are'} ` +
			'missing in the timeline, as was asked for; all other ' +
			'figures are complete.');
}

// How many source files the page has, and why not the others.
function sourceRemark(sources) {
	const all = [...sources.values()];
	const count = (...states) => all.filter(({state}) =>
		states.includes(state)).length;
	const why = [[count(2), 'not found'], [count(3), 'no text'],
		[count(4), 'no room (1 MiB for all)'],
		[count(5), 'left out (--no-source)']];

	return `${count(SOURCE_WHOLE)} of ` +
		`${plural(all.length, 'file')} whole, ` +
		`${count(SOURCE_PARTS)} in part` +
		why.filter(([n]) => n).map(([n, text]) =>
			`, ${grouped(n)} ${text}`).join('') + '.';
}

function isLeftOut(module) {
	return !module.inScope && !module.patched && !module.filtered &&
		!module.refused.length;
}

class Notes {
	constructor(app) {
		this.app = app;
	}

	// Warnings of what goes beyond the limits that every profile has.
	warnings() {
		const {profiles, description} = this.app.model;
		const joined = (description.lostSamples +
			description.missedSamples > 0) + (description.cutStacks > 0) +
			(description.boundNs > 0 &&
				description.samples < FEW_SAMPLES);

		return profiles.reduce((sum, p) => sum + (p.missingBytes > 0) +
			(p.badChunks + p.droppedContexts > 0) +
			(p.repairedContexts > 0) + (p.lostCalls > 0) +
			(p.incomplete ? 1 : 0) +
			(p.foldedCalls > 0) + (p.foldedRecursion > 0) +
			(p.lostSamples + p.missedSamples > 0) +
			(p.cutStacks + p.brokenStacks > 0) +
			(p.holdsSamples && p.samples < FEW_SAMPLES) +
			!p.clockKnown + p.sampled + !p.ended +
			p.filtered + p.ring, joined) + this.app.model.threads.some(
			thread => thread.untraced || thread.shortCalls ||
				thread.trace && thread.trace.missing ||
				thread.cutValues || thread.cutBanded);
	}

	show() {
		const {model} = this.app;

		$('notes').replaceChildren(...this.advice(),
			...model.profiles.map(profile =>
				this.profile(profile)));
	}

	// Advice that would give the report more names.
	advice() {
		const {advice} = this.app.model.description;

		return advice.length ? [make('article', {},
			make('ul', {class: 'remarks'}, ...advice.map(sentence =>
				make('li', {}, sentence + '.'))))] : [];
	}

	profile(profile) {
		const {model} = this.app;
		const index = model.profiles.indexOf(profile);
		const facts = make('dl', {});
		const add = (name, value) => facts.append(pair(name, value));

		add('Command', commandOf(profile));
		add('Executable', profile.executable || '–');
		add('Directory', profile.directory || '–');
		add('Process', `${profile.pid}, child of ${profile.parent}`);
		add('Started', new Date(profile.startedMs).toLocaleString());
		add('Duration', (profile.endKnown ? '' : '≥ ') + duration(profile.durationNs) +
			(profile.holdsSamples ? '' : ', with hooks'));
		add('Clock', profile.clockKnown ?
			`${(profile.clockKHz / 1e6).toFixed(3)} GHz` : 'not known');
		if (model.comparison)
			add('Compared', index < model.comparison.firstOld ? 'new' :
				'old');
		else if (!model.description.boundNs)
			add('Threads', grouped(model.threads.filter(thread =>
				thread.profile === index).length));
		add('File', profile.file);
		add('Made by', model.description.creator);
		if (model.sources.size && !index)
			add('Source', sourceRemark(model.sources));
		return make('article', {},
			make('ul', {class: 'remarks'},
				...remarks(profile, model.description,
					model.threads.filter(thread =>
						thread.profile === index)).map(remark =>
					make('li', {class: remark.bad ? 'bad' : '',
						'data-importance': remark.importance},
					remark.sentence))),
			facts, ...this.marks(profile), this.modules(profile));
	}

	// The moments that the program has named.
	marks({marks, markCount}) {
		const list = make('ol', {class: 'marks'});

		for (const [ns, tid, text] of marks)
			list.append(make('li', {}, `${duration(ns)}, ` +
				`${tid ? `thread ${tid}` : 'all threads'}: ${text}`));
		if (markCount > marks.length)
			list.append(make('li', {},
				`… ${grouped(markCount - marks.length)} more`));
		return marks.length ? [make('details', {},
			make('summary', {}, plural(markCount, 'mark')), list)] : [];
	}

	modules(profile) {
		const body = make('tbody', {});
		// (samples patch nothing)
		const titles = profile.holdsSamples ? ['Functions'] :
			['Functions', 'Hooked', 'Refused', 'Filtered'];
		const figures = (...values) => values.map(value =>
			make('td', {class: 'right'}, value));

		for (const module of profile.modules) {
			if (isLeftOut(module))
				continue;
			const refused = module.refused.reduce((sum, [, count]) =>
				sum + count, 0);

			body.append(make('tr', {},
				make('td', {}, module.path + (module.late ?
					' (loaded later)' : '')),
				...figures(...[grouped(module.patched + refused +
					module.filtered), grouped(module.patched),
				grouped(refused), module.filtered ?
					grouped(module.filtered) : '']
					.slice(0, titles.length))));
			for (const [reason, count] of module.refused)
				body.append(make('tr', {class: 'reason'},
					make('td', {}, reason),
					...figures('', '', grouped(count), '')));
		}
		return make('table', {},
			make('thead', {}, make('tr', {},
				make('th', {}, 'Module'),
				...titles.map(title => make('th', {class: 'right'},
						title)))),
			body);
	}
}

function commandOf(profile) {
	return profile.arguments.length ? profile.arguments.join(' ') :
		profile.executable;
}
