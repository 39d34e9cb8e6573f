// Tabs, of charts and of lists.

// One of its list is chosen; only that one is reached by Tab.
function markTab(tab, chosen, panel) {
	tab.id = 'tab-' + (tab.dataset.chart || tab.dataset.list);
	tab.setAttribute('aria-selected', chosen);
	tab.setAttribute('aria-controls', panel);
	tab.tabIndex = chosen ? 0 : -1;
	if (chosen && tab.dataset.list)
		$(panel).setAttribute('aria-labelledby', tab.id);
}

// Arrows go from tab to tab.
function wireTabs(root) {
	root.addEventListener('keydown', event => {
		const tabs = [...root.querySelectorAll('[role=tab]')].filter(tab =>
			!tab.hidden);
		const at = tabs.indexOf(event.target);
		const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0,
			End: tabs.length - 1}[event.key];

		if (at < 0 || to === undefined)
			return;
		const tab = tabs[(to + tabs.length) % tabs.length];

		tab.click();
		tab.focus();
		event.preventDefault();
		event.stopPropagation();
	});
}
