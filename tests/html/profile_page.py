"""A page of `swizzle-dump -f html`, used and read as by a person: its tables, lists
and charts."""

import collections
import os
import re

from expect import equal, fail

# Rows of a list, scrolled from top to bottom: for each its cells' texts and
# titles, the function's name first.
ROWS = '''
(async () => {
	const list = document.querySelector('%s .grid'), rows = new Map();
	// (less than its height: that of the head lies over the rows)
	for (list.scrollTop = 0;; list.scrollTop += list.clientHeight / 2) {
		await new Promise(done => requestAnimationFrame(() =>
			setTimeout(done, 0)));
		for (const row of list.querySelectorAll('.row')) {
			const name = row.querySelector('.name, b');
			rows.set(Number(row.dataset.index), {
				// whole, where what is shown is cut
				name: (name.title || name.textContent)
					.split('\\n')[0],
				level: Number(row.dataset.level || 0),
				leaf: !row.querySelector('.fold:not(.leaf)'),
				text: [...row.querySelectorAll('.cell')]
					.map(cell => cell.textContent),
				title: [...row.querySelectorAll('.cell')]
					.map(cell => cell.title),
			});
		}
		if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1)
			break;
	}
	list.scrollTop = 0;
	await new Promise(done => requestAnimationFrame(() =>
		setTimeout(done, 0)));
	return [...rows].sort((a, b) => a[0] - b[0]).map(row => row[1]);
})()
'''


def number(text):
    digits = re.sub(r'[^0-9]', '', text)
    return int(digits) if digits else 0


def page_table(page):
    """As Profile.table(), from the table of functions."""
    rows = {}
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.dataset.key)")
    for row in page.eval(ROWS % '#functions'):
        key = row['name'], row['text'][heads.index('module')]
        rows[key] = [number(row['text'][heads.index('calls')]),
                     number(row['title'][heads.index('self')]),
                     number(row['title'][heads.index('incl')])]
    return rows


def page_extremes(page):
    """As Profile.extremes(), from the table of functions."""
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.dataset.key)")
    return {(row['name'], row['text'][heads.index('module')]):
            number(row['title'][heads.index('max')])
            for row in page.eval(ROWS % '#functions')}


def page_threads(page):
    """{tid: (ns, ns of hooks)} of the list of threads; None: not there"""
    threads = {}
    for tid, title in page.eval("""
            [...document.querySelectorAll('#threads .thread')].map(thread =>
            [thread.querySelector('.dim').textContent, thread.title])"""):
        figures = title[title.rindex(': '):]
        found = re.match(r': ([\d\u202f]+) ns(?:, after ([\d\u202f]+) ns of'
                         r' hooks|, with hooks)$', figures)
        threads[tid] = found and (number(found[1]), number(found[2] or ''))
        if not found and 'not there in this range' not in figures:
            fail('thread %s: %r' % (tid, title))
    return threads


def listed(page, selector):
    """{name: [calls, inclusive]} of the callers or callees"""
    rows = collections.defaultdict(lambda: [0, 0])
    for row in page.eval(ROWS % selector):
        rows[row['name']][0] += number(row['text'][0])
        rows[row['name']][1] += number(row['title'][1])
    return dict(rows)


def search_for(page, text):
    page.key('/')
    page.type(text)


def show(page, name):
    page.click_on('[data-list=%s]' % name)


def choose(page, name):
    """Searches for a function and clicks its row; ends the search."""
    show(page, 'functions')
    search_for(page, name)
    at = page.eval('''(() => {
        for (const row of document.querySelectorAll('#functions .row'))
            if (row.querySelector('.name').title.split('\\n')[0] === %r) {
                const r = row.getBoundingClientRect();
                return [r.x + 300, r.y + r.height / 2];
            }
        })()''' % name)
    if at is None:
        fail('no row of ' + name)
        return
    page.click(*at)
    page.key('Escape')


def unfold_all(page, selector):
    for _ in range(60):
        if not page.eval('''(() => {
                const list = swizzle.%s;
                let any = false;
                for (let i = 0; i < list.list.rows.length; i++) {
                    const row = list.list.rows[i];
                    if (!row.open && list.source.hasChildren(row.item)) {
                        list.unfold(i);
                        any = true;
                    }
                }
                return any; })()''' % selector):
            return


def boxes(page, name):
    """The chart's boxes of a function, in the window, widest first."""
    return page.eval('''(() => {
        const {chart, model} = swizzle;
        const r = chart.canvas.getBoundingClientRect();
        return chart.boxes.filter(box => box.fn >= 0 &&
            model.catalog.name[box.fn] === %r)
            .map(box => ({x: r.x + box.x, y: r.y + box.y,
                          width: box.width, height: box.height}))
            .sort((a, b) => b.width - a.width);
        })()''' % name)


def inside(page, name):
    """A point in the widest box of a function, to the right of its label."""
    box = boxes(page, name)[0]
    return box['x'] + box['width'] - 6, box['y'] + 4


def pixel(page, x, y):
    return page.eval('''(() => {
        const {canvas} = swizzle.chart;
        const r = canvas.getBoundingClientRect();
        const ratio = devicePixelRatio;
        const copy = document.createElement('canvas');
        copy.width = copy.height = 1;
        const context = copy.getContext('2d', {willReadFrequently: true});
        context.drawImage(canvas, -Math.floor((%f - r.x) * ratio),
            -Math.floor((%f - r.y) * ratio));
        return [...context.getImageData(0, 0, 1, 1).data];
        })()''' % (x, y))


def window(page):
    return page.eval('[swizzle.chart.from, swizzle.chart.to]')


def in_window(page, selector):
    """Whether an element can be seen and lies in the window."""
    return page.eval('''(() => {
        const r = document.querySelector(%r).getBoundingClientRect();
        return r.width > 0 && r.left >= 0 && r.right <= innerWidth &&
            r.top >= 0 && r.bottom <= innerHeight; })()''' % selector)


def check_quiet(page, path):
    """nothing is fetched and nothing goes wrong"""
    # (a page is loaded again where that is checked)
    equal({'file://' + os.path.abspath(path)},
          {url.split('#')[0] for url in page.requests}, 'requests')
    equal([], page.complaints, 'complaints')
