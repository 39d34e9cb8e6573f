#!/usr/bin/env python3
"""Opens pages of `swizzle-dump -f html` in headless Chromium, works with them
as a person does, and compares what they show with the other formats.

    check.py DUMP PROFILE [--OPTION...] WHAT... [: PROFILE ...]

with WHAT one of the functions below, and OPTIONs for all that DUMP makes. What
follows a colon is another page, in the same browser.
Prints what is wrong; exits 1 then."""

import collections
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

OUTSIDE = '[outside]'
failures = 0
current = ''


def fail(message):
    global failures
    failures += 1
    print('%s: %s' % (current, message))


def equal(expected, actual, what):
    if expected != actual:
        fail('%s: expected %r, got %r' % (what, expected, actual))


def close(expected, actual, slack, what):
    if abs(expected - actual) > slack:
        fail('%s: expected %r, got %r' % (what, expected, actual))


# ---- what other formats say ----

class Profile:
    def __init__(self, dump, path, options=()):
        self.dump, self.path, self.options = dump, path, options

    def dumped(self, *options):
        done = subprocess.run([self.dump, '-q', *options, self.path],
                              stdout=subprocess.PIPE, timeout=120, check=True)
        return done.stdout

    def run(self, *options):
        return self.dumped(*self.options, *options)

    def info(self):
        """-f info, which takes none of the options"""
        return self.dumped('-f', 'info').decode('utf-8', 'replace')

    def page(self, directory, *options):
        path = os.path.join(directory, 'page.html')
        self.run('-f', 'html', '-o', path, *options)
        return path

    def table(self, *options):
        """{(name, module): [calls, self, inclusive]} of -f text"""
        rows, names = {}, 0
        # errors: as a browser decodes them
        for line in self.run('-f', 'text', *options).decode(
                'utf-8', 'replace').splitlines():
            if line.startswith('#'):
                continue
            if re.match(r' *(calls|samples) .*function  module$', line):
                names = len(line.split()) - 2
                continue
            parts = line.split(None, names)
            name, module = parts[names].rsplit('  ', 1)
            rows[name, '' if module == '-' else module] = [
                int(part) for part in parts[:3]]
        return rows

    def total(self, *options):
        """(ns, threads, ns of hooks or None) of the heading of -f text"""
        text = self.run('-f', 'text', *options).decode('utf-8', 'replace')
        found = re.search(r'^# total (\d+) ns in (\d+) threads?'
                          r'(?:, after (\d+) ns of hooks)?;', text, re.M)
        return tuple(part and int(part) for part in found.groups())

    def extremes(self, *options):
        """{(name, module): longest} of -f csv"""
        rows = csv.reader(self.run('-f', 'csv', *options).decode(
            'utf-8', 'replace').splitlines()[1:])
        return {(row[6], '' if row[7] == '-' else row[7]): int(row[4])
                for row in rows}

    def threads(self):
        """[(tid, name)] of -f info"""
        text = self.info()
        block = text[text.index('  tid  '):].split('\n\n')[0]
        return [tuple(line.split()[:2]) for line in
                block.splitlines()[1:] if re.match(r' +\d', line)]

    def edges(self, *options):
        """{caller: {callee: [calls, inclusive]}} of -f callgrind, by name"""
        edges = collections.defaultdict(lambda: collections.defaultdict(
            lambda: [0, 0]))
        names, caller, callee, calls = {}, None, None, None
        for line in self.run('-o', '-', *options).decode(
                'utf-8', 'replace').splitlines():
            name = re.match(r'(c?fn)=\((\d+)\)(?: (.*))?$', line)
            if name:
                if name[3] is not None:
                    names[name[2]] = name[3]
                if name[1] == 'fn':
                    caller = names[name[2]]
                else:
                    callee = names[name[2]]
            elif line.startswith('calls='):
                calls = int(line[6:].split()[0])
            elif calls is not None:
                entry = edges[caller][callee]
                entry[0] += calls
                entry[1] += int(line.split()[1])
                calls = None
        return edges


# ---- what the page says ----

# Rows of a list, scrolled from top to bottom: for each its cells' texts and
# titles, the function's name first.
ROWS = '''
(async () => {
	const body = document.querySelector('%s .body'), rows = new Map();
	for (body.scrollTop = 0;; body.scrollTop += body.clientHeight) {
		await new Promise(done => requestAnimationFrame(() =>
			setTimeout(done, 0)));
		for (const row of body.querySelectorAll('.row')) {
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
		if (body.scrollTop + body.clientHeight >= body.scrollHeight - 1)
			break;
	}
	body.scrollTop = 0;
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


def check_header(page, profile, where=(), slack=0):
    """the header and the threads have the totals of -f text"""
    ns, count, hooks = profile.total(*where)
    text = page.eval("document.querySelector('#total').textContent")
    title = page.eval("document.querySelector('#total').title")
    found = re.search(r' in (?:(\d+) of )?(\d+) threads?,', text)
    if not found:
        fail('the header says %r' % text)
        return
    equal(count, int(found[1] or found[2]), 'threads in ' + text)
    figures = [number(part) for part in re.findall(r'[\d\u202f]+', title)]
    close(ns, figures[0], slack, 'total')
    if hooks is None:
        equal(True, text.endswith(', with hooks'), 'told: with hooks')
    else:
        close(hooks, figures[1], slack + 1, 'ns of hooks')
    there = page_threads(page)
    equal({tid for tid, _ in profile.threads()}, set(there), 'threads')
    for tid, shown in there.items():
        ns, count, hooks = profile.total('--tid', tid, *where)
        equal(count, int(shown is not None), 'whether %s is there' % tid)
        if shown:
            close(ns, shown[0], slack, 'time of thread ' + tid)
            close(hooks or 0, shown[1], slack + 1, 'hooks of ' + tid)
    close(figures[0], sum(shown[0] for shown in there.values() if shown),
          len(there), 'sum of the threads')


def listed(page, selector):
    """{name: [calls, inclusive]} of the callers or callees"""
    rows = collections.defaultdict(lambda: [0, 0])
    for row in page.eval(ROWS % selector):
        rows[row['name']][0] += number(row['text'][0])
        rows[row['name']][1] += number(row['title'][1])
    return dict(rows)


def same_tables(expected, actual, what):
    for key in sorted(set(expected) | set(actual)):
        if expected.get(key) != actual.get(key):
            equal(expected.get(key), actual.get(key),
                  '%s, %s' % (what, ' of '.join(key)))


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


# ---- the checks ----

def check_quiet(page, path):
    """nothing is fetched and nothing goes wrong"""
    # (a page is loaded again where that is checked)
    equal({'file://' + os.path.abspath(path)},
          {url.split('#')[0] for url in page.requests}, 'requests')
    equal([], page.complaints, 'complaints')


def check_table(page, profile):
    """the table has the figures of -f text"""
    show(page, 'functions')
    same_tables(profile.table(), page_table(page), 'table')


def check_sorting(page, profile):
    """a click on a heading sorts the table"""
    show(page, 'functions')
    rows = profile.table()
    for key, column, in (('calls', 0), ('incl', 2), ('self', 1)):
        page.click_on('#functions .head [data-key=%s]' % key)
        values = [row[column] for row in page_table(page).values()]
        equal(sorted((row[column] for row in rows.values()), reverse=True),
              values, 'order by ' + key)
    page.click_on('#functions .head [data-key=name]')
    names = [key[0] for key in page_table(page)]
    equal(sorted(names, key=lambda name: name.encode('utf-16-be')), names,
          'order by name')
    page.click_on('#functions .head [data-key=self]')


def check_neighbours(page, profile):
    """a click on a row shows callers and callees with the right figures"""
    edges = profile.edges()
    for name in ('twice', 'leaf', 'thrower', 'fib', 'call_names'):
        choose(page, name)
        equal(name, page.eval("document.querySelector('#details h3')"
                              ".textContent"), 'chosen')
        callers = {caller: to[name] for caller, to in edges.items()
                   if name in to}
        equal({n: v for n, v in callers.items()}, listed(page, '#callers'),
              'callers of ' + name)
        equal(dict(edges[name]), listed(page, '#callees'),
              'callees of ' + name)
    choose(page, 'leaf')
    page.click_on('#callers .row')
    chosen = page.eval("document.querySelector('#details h3').textContent")
    times = {caller: to['leaf'][1] for caller, to in edges.items()
             if 'leaf' in to}
    # two may have the same time
    equal(max(times.values()), times.get(chosen),
          'the time of the caller that was clicked, ' + chosen)


def check_lines(page, profile):
    """calls are shown at their source lines"""
    source = open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               '../targets/pages.cc')).read().splitlines()
    here = [1 + number for number, line in enumerate(source)
            if 'leaf(n)' in line or 'leaf(n + 1)' in line]
    choose(page, 'leaf')
    titles = page.eval("[...document.querySelectorAll('#callers .place')]"
                       ".map(place => place.title).join('\\n')")
    lines = {int(line) for line in re.findall(r'pages\.cc:(\d+)', titles)}
    # the definition of leaf() itself has no call
    equal({line for line in here if 'int leaf' not in source[line - 1]},
          lines, 'lines that call leaf')


def source_of_pages():
    path = os.path.realpath(os.path.join(os.path.dirname(
        os.path.abspath(__file__)), '../targets/pages.cc'))
    return path, open(path).read().splitlines()


def source_rows(page):
    """{line: (calls, ns, text)} of the source that is shown"""
    rows = {}
    for row in page.eval('''
            (async () => {
            const body = document.querySelector('#source .body');
            const rows = new Map();
            for (body.scrollTop = 0;; body.scrollTop += body.clientHeight) {
                await new Promise(done => requestAnimationFrame(() =>
                    setTimeout(done, 0)));
                for (const row of body.querySelectorAll('.row'))
                    rows.set(Number(row.dataset.index),
                        [...row.querySelectorAll('.cell')].map(cell =>
                            [cell.textContent, cell.title]));
                if (body.scrollTop + body.clientHeight >=
                    body.scrollHeight - 1)
                    break;
            }
            return [...rows.values()];
            })()'''):
        rows[number(row[0][0])] = (number(row[1][0]), number(row[2][1]),
                                   row[4][0])
    return rows


def check_source(page, profile):
    """the source of what is chosen, with its calls at their lines"""
    path, source = source_of_pages()
    edges = profile.edges()
    choose(page, 'main')
    page.click_on('#details .to-source')
    about = page.eval("document.querySelector('#source .about').innerText")
    equal(True, about.startswith(path + ':'), 'the path in ' + about)
    begin = int(about.split(':')[1].split()[0])
    equal('int main(int argc, char **argv)', source[begin - 2], 'its line')
    equal(True, page.eval("document.querySelector('#source .here').innerText")
          .startswith('%d\n' % begin), 'the line that is marked')
    equal(True, in_window(page, '#source .here'), 'it can be seen')
    rows = source_rows(page)
    for line, (calls, ns, text) in rows.items():
        if line:
            equal(source[line - 1], text, 'line %d' % line)
    equal(len(source), max(rows), 'last line')
    # what lies in the loop is counted there
    line = 1 + next(i for i, text in enumerate(source)
                    if i > begin and 'twice(i);' in text)
    equal(tuple(edges['main']['twice']), rows[line][:2], 'calls of twice')
    page.eval("document.querySelector('#source .body').scrollTop = 18 * %d"
              % (line - 3))
    page.settle()
    page.click_on('#source .row.calls[data-index="%d"]' % (line - 1))
    equal('twice', page.eval("document.querySelector('#details h3')"
                             ".textContent"), 'the callee that was clicked')
    rows = source_rows(page)
    calls = sum(row[0] for row in rows.values())
    equal(edges['twice']['leaf'][0], calls, 'calls that twice makes')
    ns = sum(row[1] for row in rows.values())
    equal(edges['twice']['leaf'][1], ns, 'their time')
    show(page, 'functions')
    page.key('5')
    equal(True, in_window(page, '#source'), 'after the key')
    show(page, 'functions')


def said_of_source(page, name):
    choose(page, name)
    show(page, 'source')
    page.settle()
    return page.eval("document.querySelector('#source .about b')"
                     "?.textContent || ''")


def check_nosource(page, profile):
    """what is left out on request is told"""
    equal(True, '--no-source' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, 'left out (--no-source)' in text, 'in the notes')


def check_lostsource(page, profile):
    """a source that is not there is told of"""
    equal(True, 'not found' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')


def check_binarysource(page, profile):
    """one that is no text has no lines"""
    equal(True, 'no text' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')


def check_longsource(page, profile):
    """of a long and newer file only the functions' lines are in the page"""
    _, source = source_of_pages()
    equal(True, 'changed after' in said_of_source(page, 'main'), 'said')
    rows = source_rows(page)
    shown = [line for line in rows if line]
    equal(True, max(shown) < 1000, 'last line')
    known = [line for line in shown if line <= len(source)]
    equal(True, len(known) > 40, 'lines of functions')
    for line in known:
        equal(source[line - 1], rows[line][2], 'line %d' % line)
    equal(True, 'not in this page' in rows[0][2], 'the gap is told')


def check_search(page, profile):
    """a search marks what it finds, in the table and in the chart"""
    choose(page, 'catcher')
    page.key('f')
    (x, y), other = inside(page, 'catcher'), inside(page, 'right')
    plain, unmarked = pixel(page, x, y), pixel(page, *other)
    search_for(page, 'catch')
    names = {key[0] for key in page_table(page)}
    equal({key[0] for key in profile.table() if 'catch' in key[0].lower()},
          names, 'found')
    if plain == pixel(page, x, y):
        fail('the box of what was found has the colour that it had')
    if unmarked == pixel(page, *other):
        fail('the box of what was not found is not fainter')
    page.key('Escape')
    equal(plain, pixel(page, x, y), 'colour after the search')
    page.key('0')
    search_for(page, 'libnames.so:')
    equal({key for key in profile.table() if key[1] == 'libnames.so'},
          set(page_table(page)), 'found by module')
    page.key('Enter')
    if not page.eval('swizzle.model.selected >= 0'):
        fail('Enter chooses nothing')
    page.key('Escape')
    page.key('Escape')
    page.key('0')


def check_chart(page, profile):
    """boxes can be clicked and zoomed to, and tell their figures"""
    rows = profile.table()
    whole = window(page)
    equal(sum(row[1] for row in rows.values()), whole[1], 'extent')
    box = boxes(page, 'main')[0]
    x, y = box['x'] + box['width'] / 2, box['y'] + 9
    page.move(x, y)
    tip = page.eval("document.querySelector('#tip').innerText")
    for part in ('main', 'pages', 'calls\n1', 'mean'):
        if part not in tip:
            fail('no %r in the tooltip %r' % (part, tip))
    page.click(x, y)
    equal('main', page.eval("document.querySelector('#details h3')"
                            ".textContent"), 'the box that was clicked')
    page.click(x, y, 2)
    start, end = window(page)
    inclusive = rows['main', 'pages'][2]
    close(inclusive, end - start, 2, 'window after a double click')
    page.key('w')
    if not window(page)[1] - window(page)[0] < end - start:
        fail('W does not zoom in')
    page.key('s')
    page.key('s')
    if not window(page)[1] - window(page)[0] > end - start:
        fail('S does not zoom out')
    page.key('0')
    equal(whole, window(page), 'window after 0')
    middle = page.center('#chart')
    page.wheel(*middle, -240)
    page.wheel(*middle, -240)
    start, end = window(page)
    if not end - start < 0.5 * whole[1]:
        fail('the wheel does not zoom')
    page.key('d')
    if not window(page)[0] > start and window(page)[1] > end:
        fail('D does not go right')
    page.key('a')
    close(start, window(page)[0], 1e-3 * whole[1], 'window after A')
    page.drag(x, y, x + 50, y)
    if not window(page)[0] < start:
        fail('a drag does not pan')
    page.key('0')
    middle = page.center('#map')
    page.drag(middle[0], middle[1], middle[0] + 100, middle[1])
    close(whole[1] / 2, window(page)[0], 0.01 * whole[1],
          'window after a drag over the overview')
    page.key('0')


def check_threads(page, profile):
    """a thread that is hidden counts nowhere"""
    threads = profile.threads()
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for tid, name in threads:
        if name == 'left':
            continue
        for key, row in profile.table('--tid', tid).items():
            for i, value in enumerate(row):
                sums[key][i] += value
    equal(3, len(threads), 'threads')
    page.click_on('[data-chart=flame]')
    page.key('0')
    index = [name for _, name in threads].index('left')
    page.click_on('[data-thread="%d"]' % index)
    same_tables(dict(sums), page_table(page), 'without a thread')
    equal(sum(row[1] for row in sums.values()), window(page)[1],
          'extent without a thread')
    equal([], boxes(page, 'left'), 'boxes of what only that thread called')
    choose(page, 'twice')
    equal({'main'}, set(listed(page, '#callers')), 'callers without it')
    page.click_on('[data-thread="%d"]' % index)
    same_tables(profile.table(), page_table(page), 'with it again')


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


def check_down(page, profile):
    """the top-down tree has each function's calls and self time"""
    show(page, 'down')
    rows = page.eval(ROWS % '#down')
    equal('all threads', rows[0]['name'], 'root')
    # unfolded by a click
    at = [row['name'].split()[0] for row in rows].index('left')
    equal(['all threads', 'left'], [rows[0]['name'], rows[at]['name'].split()[0]],
          'rows')
    page.eval('swizzle.down.list.reveal(%d)' % at)
    page.settle()
    page.click_on('#down .row[data-index="%d"] .fold' % at)
    after = page.eval(ROWS % '#down')
    equal([rows[at]['level'] + 1, 'left'],
          [after[at + 1]['level'], after[at + 1]['name']], 'what is inside')
    unfold_all(page, 'down')
    sums = collections.defaultdict(lambda: [0, 0])
    for row in page.eval(ROWS % '#down'):
        sums[row['name']][0] += number(row['text'][3])
        sums[row['name']][1] += number(row['title'][2])
    for (name, _), row in profile.table().items():
        if name in (OUTSIDE, ) or name.startswith('sub_'):
            continue
        equal(row[0], sums[name][0], 'calls of ' + name)
        # each context's time is rounded by itself
        close(row[1], sums[name][1], 50, 'self time of ' + name)
    total = sum(row[1] for row in profile.table().values())
    close(total, sum(value[1] for value in sums.values()), 0, 'all self time')


def check_up(page, profile):
    """the bottom-up tree divides a function's calls among its callers"""
    show(page, 'up')
    edges = profile.edges()
    for name in ('leaf', 'twice', 'fib'):
        search_for(page, name)
        at = [row['name'] for row in page.eval(ROWS % '#up')].index(name)
        page.eval('swizzle.up.list.reveal(%d)' % at)
        page.settle()
        page.click_on('#up .row[data-index="%d"] .fold' % at)
        rows = page.eval(ROWS % '#up')[at:]
        callers = {}
        for row in rows[1:]:
            if row['level'] == 0:
                break
            if row['level'] == 1:
                callers[row['name']] = number(row['text'][2])
        equal({caller: to[name][0] for caller, to in edges.items()
               if name in to}, callers, 'callers of ' + name)
        page.key('Escape')


def drawn(page):
    """[(row from the top, function, ns)] of the boxes of an inverted graph or a
    sandwich."""
    return [(row, name, ns) for row, name, ns in page.eval('''
        swizzle.chart.boxes.filter(box => box.fn >= 0).map(box => [
            swizzle.chart.row(box.item), swizzle.model.catalog.name[box.fn],
            box.item.time])''')]


def check_inverted(page, profile):
    """the inverted graph divides all self time among functions and callers"""
    page.click_on('[data-chart=inverted]')
    page.key('0')
    rows = profile.table()
    total = sum(row[1] for row in rows.values())
    equal(total, window(page)[1], 'extent')
    # a box of each function that is wide enough, right below the root
    self = {name: row[1] for (name, _), row in rows.items()}
    shown = {name: ns for row, name, ns in drawn(page) if row == 1}
    wide = {name for name, ns in self.items() if ns > total / 200}
    equal(set(), wide - set(shown), 'functions without a box')
    # (one that waited for a processor may leave no other)
    equal(True, len(wide) > 0, 'some are wide')
    for name, ns in shown.items():
        close(self[name], ns, 50, 'time of ' + name)
    # a double click on leaf: its callers alone, in the parts of its time
    choose(page, 'leaf')
    page.key('f')
    x, y = inside(page, 'leaf')
    page.click(x, y, 2)
    start, end = window(page)
    leaf = self['leaf']
    close(leaf, end - start, 50, 'window of leaf')
    callers = {name for row, name, _ in drawn(page) if row == 2}
    expected = {caller for caller, to in profile.edges().items()
                if 'leaf' in to}
    equal(set(), callers - expected, 'boxes of what does not call leaf')
    equal(True, 'twice' in callers, 'a box of twice, which calls leaf')
    time = sum(ns for row, _, ns in drawn(page) if row == 2)
    close(leaf, time, leaf / 50, 'time of the callers')
    x, y = inside(page, 'twice')
    page.move(x, y)
    tip = page.eval("document.querySelector('#tip').innerText")
    equal(True, 'of leaf, called from here' in tip, 'told in the tip')
    page.key('Escape')
    page.key('0')
    page.click_on('[data-chart=flame]')


def check_sandwich(page, profile):
    """the sandwich has the chosen function's callers above it, callees below"""
    if page.eval('swizzle.model.selected >= 0'):
        page.key('Escape')
    page.click_on('[data-chart=sandwich]')
    equal(0, page.eval('swizzle.chart.boxes.length'), 'boxes before a choice')
    edges = profile.edges()
    table = {name: row for (name, _), row in profile.table().items()}
    for name, above, below in (('twice', {'main', 'left'}, 'leaf'),
                               ('catcher', {'right'}, 'thrower')):
        choose(page, name)
        page.settle()
        found = drawn(page)
        # (the middle is a box of either half)
        middle = {row for row, other, _ in found if other == name}
        equal(1, len(middle), 'rows of ' + name)
        middle = middle.pop()
        close(table[name][2], window(page)[1], 50, 'inclusive time of ' + name)
        callers = {other: ns for row, other, ns in found if row == middle - 1}
        callees = {other for row, other, _ in found if row == middle + 1}
        equal(True, callers.keys() <= above and len(callers) > 0,
              'callers %s of %s' % (set(callers), name))
        equal(True, callees <= set(edges[name]) and below in callees,
              'callees %s of %s' % (callees, name))
        for caller, ns in callers.items():
            close(edges[caller][name][1], ns, 50, '%s in %s' % (name, caller))
    # a click on a caller puts that in the middle, one beside the boxes nothing
    box = boxes(page, 'right')[0]
    page.click(box['x'] + box['width'] / 2, box['y'] + 9)
    equal('right', page.eval("document.querySelector('#details h3')"
                             ".textContent"), 'in the middle')
    close(table['right'][2], window(page)[1], 50, 'inclusive time of right')
    chart = page.eval("(() => { const r = swizzle.chart.canvas"
                      ".getBoundingClientRect(); return [r.x, r.bottom] })()")
    page.click(chart[0] + 20, chart[1] - 4)
    equal('right', page.eval("document.querySelector('#details h3')"
                             ".textContent"), 'still in the middle')
    page.key('Escape')
    equal(0, page.eval('swizzle.chart.boxes.length'), 'boxes after Escape')
    page.click_on('[data-chart=flame]')


def check_names(page, profile):
    """names are cut from the inside and whole on hover"""
    for name, letters, expected in (
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             53, 'std::vector<std::map<\u2026>, std::allocator<\u2026> >::at(int)'),
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             30, 'std::vector<\u2026>::at(int)'),
            ('std::vector<std::map<int, char>, std::allocator<int> >::at(int)',
             20, '\u2026::vector<\u2026>::at(\u2026)'),
            ('operator<< <char>(int)', 20, 'operator<< <\u2026>(int)'),
            ('Foo::operator()(int) const', 24, 'Foo::operator()(\u2026) const'),
            ('a_long_name_in_c', 10, 'a_long\u2026n_c'),
            ('short', 5, 'short')):
        equal(expected, page.eval('swizzle.shortName(%r, %d)' % (
            name, letters)), 'name in %d letters' % letters)
    shown = page.eval('''(() => {
        const cell = document.createElement('span');
        swizzle.putFunction(cell, %d, 120);
        const name = cell.querySelector('.name');
        return [name.textContent, name.title.split('\\n')[0]]; })()''' %
                      page.eval('swizzle.model.catalog.name.indexOf('
                                "'</script><script>hacked=1</script>')"))
    equal('</script><script>hacked=1</script>', shown[1], 'name on hover')
    equal(True, '\u2026' in shown[0] and len(shown[0]) < 20,
          'cut to %r' % shown[0])


def shown_state(page):
    """What a reader sees of it."""
    return page.eval('''({
        chart: document.querySelector('[data-chart][aria-selected=true]')
            .dataset.chart,
        list: document.querySelector('[data-list][aria-selected=true]')
            .dataset.list,
        name: document.querySelector('#details h3')?.textContent || '',
        threads: [...document.querySelectorAll('#threads input')]
            .map(box => box.checked),
        query: document.querySelector('#query').value,
        range: document.querySelector('#range').hidden ? '' :
            document.querySelector('#range').title,
        sort: document.querySelector('#functions .sorted')?.dataset.key || '',
        total: document.querySelector('#total').title,
        rows: document.querySelector('#functions .space').style.height})''')


def reload(page):
    page.eval('window.swizzle = null')
    page.call('Page.reload')
    page.wait('window.swizzle')
    page.settle()


def check_state(page, profile):
    """a reload brings back what was shown, the back button what was before"""
    begin = shown_state(page)
    equal('', page.eval('location.hash'), 'address at first')
    seen = [begin]
    steps = (lambda: page.click_on('[data-chart=inverted]'),
             lambda: page.click_on('#functions .head [data-key=calls]'),
             lambda: page.click_on('#functions .row[data-index="1"]'),
             lambda: page.click_on('[data-thread="1"]'),
             lambda: page.click_on('[data-list=up]'),
             lambda: page.click_on('[data-chart=timeline]'),
             lambda: page.key('r'),
             lambda: page.click_on('[data-chart=sandwich]'))
    for step in steps:
        step()
        page.settle()
        seen.append(shown_state(page))
        if seen[-1] == seen[-2]:
            fail('nothing has changed: %r' % seen[-1])
    reload(page)
    equal(seen[-1], shown_state(page), 'after a reload')
    for state in reversed(seen[:-1]):
        address = page.eval('location.hash')
        page.eval('history.back()')
        page.wait('location.hash !== %r' % address)
        page.settle()
        equal(state, shown_state(page), 'after a step back')
    page.eval('history.forward()')
    page.wait('location.hash')
    page.settle()
    equal(seen[1], shown_state(page), 'after a step forward')
    search_for(page, 'leaf')
    page.wait("location.hash.includes('leaf')")
    found = shown_state(page)
    reload(page)
    equal(found, shown_state(page), 'a search after a reload')
    # one that means nothing here is as none
    page.eval("location.hash = 'chart=none&list=x&function=a:b&threads=&"
              "range=5&sort=share'")
    page.settle()
    equal(begin, shown_state(page), 'with an address that means nothing')


def check_notes(page, profile):
    """what the profile could not see is told"""
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    info = profile.info()
    for line in info[info.index('module  '):].splitlines():
        reason = re.match(r'    (.*?)  +(\d+)$', line)
        if reason and not re.search(re.escape(reason[1]) + r'\s+' + reason[2],
                                    text):
            fail('not told: ' + line.strip())
    left = re.search(r'not in scope: (.*)', info)
    if left and left[1] not in text:
        fail('not told: ' + left[0])
    show(page, 'functions')


def check_hostile(page, profile):
    """names that look like markup are text"""
    names = {key[0] for key in page_table(page)}
    for name in ('</script><script>hacked=1</script>',
                 '<img src=x onerror=hacked=2>', "'quoted' & ${hacked=3}",
                 'größe_数', 'invalid_\ufffd\ufffd_bytes'):
        if name not in names:
            fail('no row of ' + name)
        else:
            choose(page, name)
            equal(name, page.eval("document.querySelector('#details h3')"
                                  ".textContent"), 'chosen')
    equal('undefined', page.eval('typeof hacked'), 'a script that ran')
    equal(0, page.eval("document.querySelectorAll('img, b b').length"),
          'elements that names have made')
    if not page.eval("[...document.querySelectorAll('#threads .name')].some("
                     "name => name.textContent === '<b>right')"):
        fail('the name of the thread is not shown as it is')


def check_themes(page, profile):
    """dark or light, as the system says or the reader wants"""
    def back():
        return page.eval('getComputedStyle(document.body).backgroundColor')
    light = back()
    page.dark(True)
    dark = back()
    if light == dark:
        fail('dark is light')
    page.key('t')
    equal(light, back(), 'after T')
    page.dark(False)
    page.key('?')
    if 'zoom' not in page.eval("document.querySelector('#help').innerText"):
        fail('? shows no help')
    page.key('Escape')


def check_sampled(page, profile):
    """estimates have their standard error"""
    errors = {}
    for line in profile.run('-f', 'text').decode().splitlines():
        parts = line.split()
        if line.startswith('#') or not parts[0].isdigit():
            continue
        errors[parts[4]] = int(parts[3])
    shown = {}
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.dataset.key)")
    for row in page.eval(ROWS % '#functions'):
        shown[row['name']] = number(row['title'][heads.index('error')])
    equal(set(errors), set(shown), 'functions')
    for name, error in errors.items():
        close(error, shown.get(name, 0), 1, 'standard error of ' + name)
    if not any(errors.values()):
        fail('no function has a standard error')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    if 'estimates' not in text:
        fail('not told that times are estimates')


def check_samples(page, profile):
    """samples are not called calls, and have no mean"""
    check_table(page, profile)
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.textContent)")
    equal(['Samples', 'Self', '%', 'Inclusive', '%'], heads[:5], 'columns')
    ns, count, _ = profile.total()
    taken = int(re.search(r'^samples: (\d+)', profile.info(), re.M)[1])
    equal(True, taken > 20, '%d samples' % taken)
    equal(taken, number(page.eval(
        "document.querySelector('#calls').textContent")), 'samples')
    equal(ns, number(page.eval("document.querySelector('#total').title")),
          'total')
    for selector in ('#top', '#lists', '#side'):
        text = page.eval("document.querySelector('%s').innerText" % selector)
        if re.search(r'\bcalls?\b|hooks|Mean', text):
            fail('calls, hooks or means in %s: %r' % (selector, text))
    # all samples lie in some context
    show(page, 'down')
    unfold_all(page, 'down')
    rows = page.eval(ROWS % '#down')
    equal(taken, sum(number(row['text'][3]) for row in rows),
          'samples in the tree')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, re.search(r'%d samples, not calls' % taken,
                          text.replace('\u202f', '')) is not None,
          'told in the notes')
    equal(False, 'hook' in text.lower(), 'hooks told of')
    show(page, 'functions')


def check_folded(page, profile):
    """contexts that were folded are told of, and counted"""
    check_table(page, profile)
    info = profile.info()
    folded = re.search(r'^folded calls: (\d+)', info, re.M)[1]
    equal(True, int(folded) > 0, 'some calls are folded')
    page.click_on('#warnings')
    text = page.eval("document.querySelector('#notes').innerText")
    sentence = re.search(r'([\d\u202f]+) calls? (has|have) no exact context',
                         text)
    if not sentence:
        fail('not told')
    else:
        equal(int(folded), number(sentence[1]), 'folded calls')


def head(page, tid):
    """Where the head of a thread's lane is."""
    return page.eval('''(() => {
        const {chart} = swizzle;
        const r = chart.canvas.getBoundingClientRect();
        let y = 22 - chart.scroll;
        for (const thread of chart.lanes()) {
            if (thread.tid === %s)
                return [r.x + 40, r.y + y + 8];
            y += chart.laneHeight(thread);
        }
        })()''' % tid)


def fold(page, tid, folded):
    """Folds a thread's lane, or unfolds it."""
    index = page.eval('swizzle.model.threads.find(thread =>'
                      ' thread.tid === %s).index' % tid)
    if page.eval('swizzle.chart.folded.has(%d)' % index) != folded:
        page.click(*head(page, tid))


def check_timeline(page, profile):
    """the timeline has a lane for each thread, and boxes for the calls"""
    page.click_on('[data-chart=timeline]')
    tids = {name: tid for tid, name in profile.threads()}
    extent = window(page)[1]
    # room for all lanes
    for tid in tids.values():
        fold(page, tid, True)
    fold(page, tids['left'], False)
    choose(page, 'left')
    page.key('f')
    box = boxes(page, 'left')
    equal(1, len(box), 'activations of left')
    x, y = box[0]['x'] + box[0]['width'] / 2, box[0]['y'] + 9
    page.move(x, y)
    tip = page.eval("document.querySelector('#tip').innerText")
    for part in ('left', 'this call', tids['left']):
        if part not in tip:
            fail('no %r in the tooltip %r' % (part, tip))
    page.click(x, y, 2)
    start, end = window(page)
    raw = profile.table('--no-compensate')['left', 'pages'][2]
    close(raw, end - start, 1, 'window after a double click')
    # the calls in it, in the row below
    found = boxes(page, 'twice')
    if not 1 <= len(found) <= 100:
        fail('%d boxes of twice, which is called 100 times' % len(found))
    tops = {box['y'] for box in found}
    equal({boxes(page, 'left')[0]['y'] + 19}, tops, 'row of what it calls')
    page.key('Escape')
    page.key('0')
    equal([0, extent], window(page), 'window after 0')
    choose(page, 'right')
    page.key('f')
    fold(page, tids['<b>right'], True)
    low = boxes(page, 'right')[0]['height']
    fold(page, tids['<b>right'], False)
    high = boxes(page, 'right')[0]['height']
    if not low < high:
        fail('a box in a folded lane is %s high, in another %s' % (low, high))
    page.key('e')
    equal(high, boxes(page, 'right')[0]['height'], 'height after E')
    page.key('e')
    equal(low, boxes(page, 'right')[0]['height'], 'height after E again')
    page.key('Escape')
    page.key('0')


def range_of(start, end):
    return ('--from', '%.9f' % (max(start, 0) / 1e9), '--to',
            '%.9f' % (end / 1e9))


def between(least, actual, most, what):
    """The page has whole ns where a trace has ticks: an event that is as far
    from a range's border as that may be on either side of it."""
    if not least <= actual <= most:
        fail('%s: expected %s to %s, got %s' % (what, least, most, actual))


def check_callers(page, least, most, where):
    choose(page, 'leaf')
    actual = {name: row[0] for name, row in listed(page, '#callers').items()}
    for caller in set(most) | set(actual):
        between(least[caller].get('leaf', [0])[0] if caller in least else 0,
                actual.get(caller, 0),
                most[caller].get('leaf', [0])[0] if caller in most else 0,
                'calls of leaf by %s, %s' % (caller, where))


def check_range(page, profile):
    """what is counted in a range of time is what happened in it"""
    page.click_on('[data-chart=timeline]')
    chosen = page.eval("(() => { const r = swizzle.chart.canvas"
                       ".getBoundingClientRect();"
                       " return [r.x, r.y, r.width]; })()")
    x, y, width = chosen
    tid = {name: tid for tid, name in profile.threads()}['left']
    choose(page, 'left')
    page.key('f')
    page.key('Escape')
    checked = 0
    # rounding; and hooks of a call that begins at the border
    slack = 8 if '--no-compensate' in profile.options else 60
    for low, high, shift in ((0.3, 0.5, False), (0.45, 0.9, True),
                             (0.02, 0.98, False)):
        page.drag(x + low * width, y + (60 if shift else 8),
                  x + high * width, y + (60 if shift else 8), shift)
        title = page.eval("document.querySelector('#range').title")
        equal(width, page.eval('swizzle.chart.view().width'),
              'width of the chart')
        start, end = [number(part) for part in title.split(' to ')]
        span = window(page)[1] - window(page)[0]
        close((high - low) * span, end - start, 0.01 * span, 'length')
        where = range_of(start, end)
        narrow, wide = range_of(start + 1, end - 1), range_of(start - 1,
                                                              end + 1)
        expected = profile.table(*where)
        least, most = profile.table(*narrow), profile.table(*wide)
        actual = page_table(page)
        calls = 0
        for key in set(most) | set(actual):
            one = expected.get(key, [0, 0, 0])
            other = actual.get(key, [0, 0, 0])
            calls += one[0]
            between(least.get(key, [0])[0], other[0],
                    most.get(key, [0])[0],
                    'calls of %s, %s' % (key[0], where))
            for i, what in ((1, 'self'), (2, 'inclusive')):
                # rounding, by thread and function
                close(one[i], other[i], slack, '%s time of %s, %s' % (
                    what, key[0], where))
        check_header(page, profile, where, slack * len(expected))
        # the beginning of left is in the first range
        equal(True, calls > 0 or shift, 'some calls in the range')
        # (a thread may have waited for a processor all the range long)
        if any(key[0] == 'leaf' and row[0] for key, row in least.items()):
            checked += 1
            check_callers(page, profile.edges(*narrow), profile.edges(*wide),
                          where)
        page.key('Escape')
    equal(True, checked > 0, 'a range with calls of leaf')
    whole = profile.table()
    page.click_on('#range-clear')
    same_tables(whole, page_table(page), 'the whole trace again')
    check_header(page, profile)
    # one thread of the range
    page.key('r')
    threads = [name for _, name in profile.threads()]
    for index, name in enumerate(threads):
        if name != 'left':
            page.click_on('[data-thread="%d"]' % index)
    title = page.eval("document.querySelector('#range').title")
    start, end = [number(part) for part in title.split(' to ')]
    least = profile.table('--tid', tid, *range_of(start + 1, end - 1))
    most = profile.table('--tid', tid, *range_of(start - 1, end + 1))
    actual = page_table(page)
    for key in set(most) | set(actual):
        between(least.get(key, [0])[0], actual.get(key, [0])[0],
                most.get(key, [0])[0], 'calls of %s in one thread' % key[0])
    page.key('Escape')
    page.click_on('#threads-all')
    page.key('0')
    same_tables(whole, page_table(page), 'everything again')


def check_whole(page, profile):
    """what the events add up to is what the profile says"""
    page.click_on('[data-chart=timeline]')
    page.key('r')
    table, counted = profile.table(), page_table(page)
    expected = {key: row[0] for key, row in table.items() if row[0]}
    actual = {key: row[0] for key, row in counted.items() if row[0]}
    same_tables(expected, actual, 'calls by events')
    # (what is left out has hooks that the page knows nothing of)
    filtered = any(option.startswith(('--notrace', '--hide'))
                   for option in profile.options)
    longest, shown = profile.extremes(), page_extremes(page)
    for key in () if filtered else expected:
        # an estimate by the inclusive time, which is off by as much; below a
        # folded call it is one by contexts, of which the page has merged some
        if abs(table[key][2] - counted[key][2]) <= 8:
            close(longest[key], shown.get(key, 0), 8 + longest[key] // 1000,
                  'longest call of ' + key[0])
        between(0, shown.get(key, 0), counted[key][2] + 1,
                'longest call of ' + key[0])
    page.key('Escape')
    equal(longest, page_extremes(page), 'longest calls')


def check_tips(page, profile):
    """a box tells its time with and without what the hooks took"""
    page.click_on('[data-chart=timeline]')
    for name in ('main', 'left'):
        choose(page, name)
        page.key('f')
        box = boxes(page, name)[0]
        page.move(box['x'] + box['width'] / 2, box['y'] + 4)
        tip = page.eval("document.querySelector('#tip').innerText")
        rows = dict(re.findall(r'^(.+)\n(.+)$', tip[tip.index('thread\n'):],
                               re.M))
        # one call: what the table has
        for row, options in (('time', ()),
                             ('time with hooks', ('--no-compensate',))):
            ns = profile.table(*options)[name, 'pages'][2]
            value, unit = rows[row].split('\u202f')
            value = float(value) * {'s': 1e9, 'ms': 1e6, '\xb5s': 1e3,
                                    'ns': 1}[unit]
            close(ns, value, ns / 500, '%s of %s' % (row, name))
        page.key('Escape')
    page.key('0')


def check_waiting(page, profile):
    """the table has the waiting of csv"""
    show(page, 'functions')
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.dataset.key)")
    if 'waiting' not in heads:
        fail('no column')
        return
    shown = {row['name']: number(row['title'][heads.index('waiting')])
             for row in page.eval(ROWS % '#functions')}
    rows = csv.DictReader(profile.run('-f', 'csv').decode().splitlines())
    wanted = {row['function']: int(row['incl_waiting_ns']) for row in rows}
    if not wanted.get('rest', 0) > 5e8:
        fail('rest() does not wait: %s' % wanted)
    equal(wanted, shown, 'waiting')


def check_off(page, profile):
    """when threads did not run is hatched, and told under the mouse"""
    info = profile.info()
    block = info[info.index('context switches'):].split('\n\n')[0]
    wanted = {line.split()[0]: int(line.split()[3])
              for line in block.splitlines()[2:]}
    shown = dict(page.eval("swizzle.model.threads.map(({tid, off}) =>"
                           " [String(tid), off.before[off.count]])"))
    equal(sorted(wanted), sorted(shown), 'threads')
    for tid, ns in wanted.items():
        close(ns, shown.get(tid, 0), 1000, 'time off of %s' % tid)
    page.click_on('[data-chart=timeline]')
    choose(page, 'rest')
    page.key('f')
    box = boxes(page, 'rest')[0]
    y = box['y'] + box['height'] / 2
    below, names = ({tuple(pixel(page, box['x'] + box['width'] * 0.6 + x, at))
                     for x in range(12)} for at in (y + box['height'] / 2 - 4, y))
    if len(below) < 2:
        fail('rest() is not hatched: %s' % below)
    if len(names) > 1:
        fail('names in rest() are hatched: %s' % names)
    page.move(box['x'] + box['width'] / 2, y)
    tip = page.eval("document.querySelector('#tip').innerText")
    found = re.search(r'did not run\n.*, ([0-9.]+)', tip)
    if not found or not 95 <= float(found[1]) <= 100:
        fail('rest() did not run: %r' % tip)
    page.key('Escape')
    page.key('0')


def check_untraced(page, profile):
    """time of which there are no events is no function's"""
    page.click_on('[data-chart=timeline]')
    equal(None, {name: row for (name, _), row in page_table(page).items()}
          .get('[not traced]'), 'row where all is counted')
    page.key('r')
    expected, actual = profile.table('--from', '0'), page_table(page)
    equal(set(expected), set(actual), 'rows')
    for key, row in expected.items():
        equal(row[0], actual.get(key, [0])[0], 'calls of ' + key[0])
        for i, what in ((1, 'self'), (2, 'inclusive')):
            close(row[i], actual.get(key, row)[i], 8, '%s time of %s' % (
                what, key[0]))
    equal(True, expected['[not traced]', ''][1] > 0, 'some time')
    check_header(page, profile, ('--from', '0'), 8)
    box = boxes(page, '[not traced]')
    equal(1, len(box), 'boxes of it')
    modules = page.eval("document.querySelector('#modules').innerText")
    equal(True, '[not traced]' in modules, 'told beside the modules')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, 'not traced' in text, 'told in the notes')
    page.key('Escape')
    show(page, 'functions')


def check_merged(page, profile):
    """several processes are one page, no wider than the window"""
    check_table(page, profile)
    about = page.eval("document.querySelector('#command').textContent")
    if 'and 1 other process' not in about:
        fail('no other process in %r' % about)
    wide, room = page.eval('[document.documentElement.scrollWidth,'
                           ' innerWidth]')
    equal(room, max(wide, room), 'width')
    right = page.eval("document.querySelector('#help-open')"
                      ".getBoundingClientRect().right")
    equal(True, right <= room, 'the header fits')


def check_flows(page, profile):
    """lines lead from what woke a call to it, while the mouse is over it"""
    wanted = collections.Counter(
        event['name'] for event in
        json.loads(profile.run('-f', 'chrome', '-o', '-'))['traceEvents']
        if event['ph'] == 's')
    shown = collections.Counter(page.eval(
        'swizzle.model.flows.byThread.flat().filter(end => end.wakes)'
        '.map(end => end.name)'))
    equal(wanted, shown, 'flows')
    equal(True, page.eval('swizzle.model.flows.byThread.flat().every('
                          'end => end.other.wakes !== end.wakes &&'
                          ' (end.wakes ? end.time <= end.other.time : true))'),
          'ends that belong together')
    page.click_on('[data-chart=timeline]')
    choose(page, 'read')
    page.key('f')
    box = boxes(page, 'read')[0]
    x, y = box['x'] + box['width'] / 2, box['y'] + box['height'] / 2
    equal(0, page.eval('swizzle.chart.lines.length'), 'lines before')
    page.move(x, y)
    page.settle()
    tip = page.eval("document.querySelector('#tip').innerText")
    if not re.search(r'woken by\nsend in flows \d+ \(flows\)', tip):
        fail('not told of who woke it: %r' % tip)
    lines = page.eval('swizzle.chart.lines')
    equal(1, len(lines), 'lines')
    # the line comes from another lane, and ends where the call does
    corner = page.eval('(() => { const r = swizzle.chart.canvas'
                       '.getBoundingClientRect(); return [r.x, r.y]; })()')
    close(box['x'] + box['width'], lines[0][1]['x'] + corner[0], 3, 'its end')
    close(y, lines[0][1]['y'] + corner[1], 3, 'its height')
    equal(True, abs(lines[0][0]['y'] - lines[0][1]['y']) > 19, 'another lane')
    at = lines[0][1]['x'] + corner[0] - 5, lines[0][1]['y'] + corner[1]
    there = pixel(page, *at)
    page.move(corner[0] + 3, corner[1] + 8)
    page.settle()
    equal(0, page.eval('swizzle.chart.lines.length'), 'lines behind')
    if pixel(page, *at) == there:
        fail('no line is drawn')
    page.key('Escape')
    page.key('0')


def check_ranks(page, profile):
    """the heat map has the figures of --by rank"""
    expected = {}
    for row in csv.DictReader(profile.run('-f', 'csv', '--by', 'rank')
                              .decode().splitlines()):
        if row['function'] != OUTSIDE:
            expected[row['function']] = [
                int(row['self_min_ns']), int(row['self_mean_ns']),
                int(row['self_max_ns']), int(row['self_max_rank'])]
    show(page, 'ranks')
    actual = {}
    for row in page.eval(ROWS % '#ranks'):
        actual[row['name']] = [number(row['title'][i]) for i in range(3)] + [
            number(row['text'][4])]
    if len(actual) < 3:
        fail('few rows: %r' % actual)
    for name, figures in actual.items():
        # the page rounds the mean
        for i, figure in enumerate(figures):
            close(expected[name][i], figure, 1 if i == 1 else 0, name)
    cells = page.eval("""document.querySelector('#ranks .row .ranks i')
                      .style.background""")
    equal(4, cells.count('%') // 2, 'cells of ' + cells)
    spot = page.center('#ranks .row .ranks i')
    page.move(spot[0] + 1, spot[1])
    title = page.eval("document.querySelector('#ranks .row .ranks').title")
    if not title.startswith('rank 2: '):
        fail('under the mouse: %r' % title)
    page.click_on('#ranks [data-key=name] button')
    names = page.eval("swizzle.ranks.list.rows.map(row =>"
                      " swizzle.model.catalog.name[row.fn])")
    equal(sorted(names), names, 'sorted by name')


def in_window(page, selector):
    """Whether an element can be seen and lies in the window."""
    return page.eval('''(() => {
        const r = document.querySelector(%r).getBoundingClientRect();
        return r.width > 0 && r.left >= 0 && r.right <= innerWidth &&
            r.top >= 0 && r.bottom <= innerHeight; })()''' % selector)


def name_room(page, selector):
    """How many letters of a name a list has room for."""
    return page.eval("document.querySelector('%s [data-key=name]')"
                     ".clientWidth / swizzle.letter" % selector)


def check_widths(page, profile):
    """names have room, and everything can be reached, in a narrow window, too"""
    show(page, 'functions')
    choose(page, 'leaf')
    equal(True, name_room(page, '#functions') >= 28, 'room for names')
    equal(True, name_room(page, '#callers') >= 18, 'room for callers')
    page.drag(*page.center('#splitter-details'), 500, 600)
    equal(True, name_room(page, '#callers') >= 40, 'room after a drag')
    page.resize(800, 600)
    page.settle()
    equal(800, page.eval('document.documentElement.scrollWidth'), 'width')
    equal(True, name_room(page, '#functions') >= 28, 'room in 800 pixels')
    for selector in ('#total', '#calls', '#warnings', '#query', '#help-open',
                     '[data-list=notes]', '[data-list=details]'):
        equal(True, in_window(page, selector), selector + ' is in the window')
    edges = profile.edges()
    page.click_on('[data-list=details]')
    equal({caller: to['leaf'] for caller, to in edges.items() if 'leaf' in to},
          listed(page, '#callers'), 'callers in a narrow window')
    equal(False, in_window(page, '#functions'), 'the table lies below it')
    show(page, 'functions')
    calls = sum(row[0] for row in page_table(page).values())
    equal(False, in_window(page, '#threads'), 'threads before the click')
    page.click_on('#side-open')
    equal(True, in_window(page, '#threads'), 'threads after it')
    page.click_on('[data-thread="1"]')
    equal(True, sum(row[0] for row in page_table(page).values()) < calls,
          'without a thread')
    page.click_on('[data-thread="1"]')
    page.key('Escape')
    equal(False, in_window(page, '#threads'), 'threads after Esc')
    page.click_on('[data-list=details]')
    page.resize(1280, 800)
    page.settle()
    equal(True, in_window(page, '#functions'), 'the table, wide again')
    equal(True, in_window(page, '#callers'), 'callers beside it')
    same_tables(profile.table(), page_table(page), 'table, wide again')


NAMED = ('button', 'tab', 'tabpanel', 'checkbox', 'combobox', 'searchbox',
         'textbox', 'grid', 'treegrid', 'separator', 'application', 'dialog',
         'columnheader', 'region', 'complementary', 'group', 'tablist')


def check_roles(page, profile):
    """a screen reader is told what everything is"""
    show(page, 'functions')
    for chart in ('flame', 'inverted', 'sandwich'):
        page.click_on('[data-chart=%s]' % chart)
        equal(True, ('application', chart.replace('flame', 'flame graph')
                     .capitalize()) in [node[:2] for node in page.accessible()],
              'the chart %s by name' % chart)
    choose(page, 'leaf')
    tree = page.accessible()
    for role, name, _ in tree:
        if role in NAMED and not name.strip():
            fail('a %s without a name' % role)
    by_role = collections.defaultdict(list)
    for role, name, about in tree:
        by_role[role].append((name, about))
    equal({'Charts', 'Lists'}, {name for name, _ in by_role['tablist']},
          'lists of tabs')
    chosen = [name for name, about in by_role['tab'] if about.get('selected')]
    equal(['Sandwich', 'Functions'], chosen, 'tabs that are chosen')
    equal({'Functions', 'Callers', 'Callees'},
          {name for name, _ in by_role['grid']}, 'tables')
    heads = [name for name, _ in by_role['columnheader']]
    for name in ('Calls', 'Self', 'Share of self time', 'Inclusive',
                 'Function'):
        equal(True, name in heads, 'heading ' + name)
    equal(True, len(by_role['row']) > 10, 'rows')
    equal(3, len([name for name, _ in by_role['checkbox']
                  if re.search(r'\d+', name)]), 'threads to choose from')
    equal({'Height of the chart', 'Width of the lists'},
          {name for name, _ in by_role['separator']}, 'bars')
    show(page, 'down')
    unfold_all(page, 'down')
    page.eval('swizzle.down.fold(1)')
    tree = page.accessible()
    equal(['Top-down'], [name for role, name, _ in tree
                         if role == 'treegrid'], 'tree')
    levels = {about.get('level') for role, _, about in tree if role == 'row'}
    equal(True, {1, 2, 3} <= levels, 'levels %r' % levels)
    opened = {about.get('expanded') for role, _, about in tree
              if role == 'row'}
    equal(True, {True, False} <= opened, 'open and folded rows')
    page.key('Escape')
    page.click_on('[data-chart=flame]')
    show(page, 'functions')


FOCUSED = """(() => {
    const it = document.activeElement;
    return it.id || it.dataset.thread && 'thread ' + it.dataset.thread ||
        it.getAttribute('aria-label') || it.textContent.trim(); })()"""


def tab_to(page, name):
    """Until something has the focus."""
    for _ in range(80):
        if page.eval(FOCUSED) == name:
            return True
        page.key('Tab')
    fail('Tab does not lead to %s' % name)
    return False


def check_keyboard(page, profile):
    """everything can be done without a mouse"""
    show(page, 'functions')
    page.click_on('[data-chart=flame]')
    page.key('0')
    choose(page, 'leaf')
    wanted = set(page.eval("""[...document.querySelectorAll(
        'button, input, select, [tabindex="0"]')].filter(it =>
        it.offsetParent && !it.disabled && it.tabIndex >= 0).map(it => {
            it.focus();
            return %s; })""" % FOCUSED))
    equal(True, len(wanted) > 20, 'there are controls: %r' % wanted)
    page.eval('document.activeElement.blur()')
    seen = set()
    for _ in range(80):
        page.key('Tab')
        seen.add(page.eval(FOCUSED))
    equal(set(), wanted - seen, 'what Tab does not lead to')
    # tabs by arrows
    page.eval("document.querySelector('#tab-flame').focus()")
    page.key('ArrowRight')
    equal('inverted', page.eval('swizzle.chartName'), 'chart after →')
    equal('tab-inverted', page.eval(FOCUSED), 'focus after →')
    page.key('ArrowLeft')
    equal('flame', page.eval('swizzle.chartName'), 'chart after ←')
    # boxes by arrows
    if tab_to(page, 'chart'):
        page.key('ArrowDown')
        before = page.eval("document.querySelector('#live').textContent")
        for _ in range(3):
            page.key('ArrowDown')
        after = page.eval("document.querySelector('#live').textContent")
        equal(True, before != after and ', ' in after, 'told: ' + after)
        page.key('Enter')
        name = page.eval("document.querySelector('#details h3').textContent")
        equal(name, after.split(', ')[0], 'the box of Enter')
    # rows by arrows
    if tab_to(page, 'Functions'):
        for key in ('Home', 'ArrowDown', 'ArrowDown'):
            page.key(key)
        rows = page.eval('swizzle.table.list.rows')
        equal(rows[2], page.eval('swizzle.model.selected'), 'third row')
        active = page.eval("document.getElementById(document.activeElement"
                           ".getAttribute('aria-activedescendant'))"
                           ".dataset.index")
        equal('2', active, 'the active row')
        page.key('End')
        equal(rows[-1], page.eval('swizzle.model.selected'), 'last row')
    choose(page, 'leaf')
    if tab_to(page, 'Callers'):
        page.key('ArrowDown')
        wanted = page.eval("document.querySelector('#callers .row.active "
                           ".name').title.split('\\n')[0]")
        page.key('Enter')
        equal(wanted, page.eval("document.querySelector('#details h3')"
                                ".textContent"), 'the caller of Enter')
    # a heading sorts, a thread goes, a bar moves
    if tab_to(page, 'Calls'):
        page.key('Enter')
        equal('calls', page.eval('swizzle.table.sort'), 'sorted')
        page.eval("swizzle.table.setSort('self', false)")
    if tab_to(page, 'splitter'):
        height = page.eval("document.querySelector('#stage').clientHeight")
        page.key('ArrowDown')
        equal(True, page.eval("document.querySelector('#stage')"
                              ".clientHeight") > height, 'a higher chart')
        page.key('ArrowUp')
    if tab_to(page, 'theme'):
        page.key('?')
        equal('help', page.eval(FOCUSED), 'focus in the help')
        page.key('Escape')
        equal('theme', page.eval(FOCUSED), 'focus after it')
    show(page, 'down')
    page.eval("document.querySelector('#down .grid').focus()")
    page.key('Home')
    count = page.eval('swizzle.down.list.rows.length')
    page.key('ArrowLeft')
    equal(1, page.eval('swizzle.down.list.rows.length'), 'rows after ←')
    page.key('ArrowRight')
    equal(True, 1 < page.eval('swizzle.down.list.rows.length') <= count,
          'rows after →')
    show(page, 'functions')
    page.key('Escape')


def check_one_list(page):
    """of the lists one can be seen"""
    names = ('functions', 'down', 'up', 'ranks', 'source', 'notes')
    shown = [name for name in names
             if page.eval("document.querySelector('#%s').offsetHeight > 0"
                          % name)]
    equal([page.eval('swizzle.listName')], shown, 'lists that can be seen')


def check_low(page, profile):
    """a folded lane has names where its window has few rows"""
    page.click_on('[data-chart=timeline]')
    tids = {name: tid for tid, name in profile.threads()}
    for tid in tids.values():
        fold(page, tid, True)
    lane = ("swizzle.chart.lanes().find(thread => thread.tid === %s)"
            % tids['<b>right'])
    page.eval("""(() => {
        const {chart} = swizzle, {trace} = %s;
        // within a call of the deepest row
        const at = trace.byDepth[trace.rows[trace.deepest - 1]];
        const from = trace.start[at] - swizzle.model.first;
        const span = trace.end[at] - trace.start[at];
        chart.setWindow(from + span / 4, from + span * 3 / 4);
        })()""" % lane)
    page.settle()
    rows = page.eval('swizzle.chart.rowsOf(%s)' % lane)
    deepest = page.eval('%s.trace.deepest' % lane)
    equal(deepest, rows['last'], 'rows to the deepest one')
    equal(True, rows['first'] > 0, 'some calls are around all of it')
    equal(19, rows['high'], 'height of a row')
    # the last row is drawn where it lies, with its name, and is found there
    name = page.eval("""(() => {
        const {trace, nodes} = %s;
        const at = trace.byDepth[trace.rows[trace.deepest - 1]];
        return swizzle.model.catalog.name[nodes.fn[trace.node[at]]];
        })()""" % lane)
    box = max(boxes(page, name), key=lambda box: box['y'])
    x, y = box['x'] + box['width'] / 2, box['y'] + 9
    page.click(x, y)
    equal(name, page.eval("document.querySelector('#details h3')"
                          ".textContent"), 'the box that was clicked')
    item = page.eval("""(() => {
        const r = swizzle.chart.canvas.getBoundingClientRect();
        const {thread, at} = swizzle.chart.at(%f - r.x, %f - r.y);
        return thread.trace.depth[at]; })()""" % (x, y))
    equal(deepest - 1, item, 'depth of the box that was clicked')
    page.key('Escape')
    page.key('0')
    # all is in view: all rows, which are low
    whole = page.eval('swizzle.chart.rowsOf(%s)' % lane)
    equal([0, deepest], [whole['first'], whole['last']], 'rows of all')
    equal(True, whole['high'] < 19, 'they are low')
    for tid in tids.values():
        fold(page, tid, False)


# Boxes in windows of several widths, wide ones: [name, left, right, row's top].
BOXES = '''(async () => {
    const {chart, model} = swizzle, found = [];
    for (const [from, to] of %s) {
        chart.setWindow(from * chart.extent(), to * chart.extent());
        // once what it needs is there
        for (let i = 0; i < 2; i++) {
            chart.drawNow();
            while (model.threads.some(({trace}) => trace.reading))
                await new Promise(done => setTimeout(done, 5));
        }
        chart.drawNow();
        found.push(chart.boxes.filter(box => box.fn >= 0 && box.width > 40)
            .map(box => [model.catalog.name[box.fn], box.x,
                         box.x + box.width, box.y]));
    }
    chart.setWindow(0, chart.extent());
    return found; })()'''
WINDOWS = [[0, 1], [0.2, 0.6], [0.5, 0.51], [0.4, 0.4001], [0.77, 0.770002]]


def check_parts(page, profile):
    """what is read in parts is what all of it would be"""
    page.click_on('[data-chart=timeline]')
    blocks = page.eval('swizzle.model.threads[0].trace.blocks.length')
    equal(True, blocks >= 4, '%d blocks' % blocks)
    extent = window(page)[1]
    checked = 0
    for low, high in ((0.1, 0.35), (0.3, 0.31), (0.62, 0.97), (0, 1)):
        start, end = int(low * extent), int(high * extent)
        page.eval('swizzle.chart.choose(%d, %d, true)' % (start, end))
        page.settle()
        where = range_of(start, end)
        expected = profile.table(*where)
        least = profile.table(*range_of(start + 1, end - 1))
        most = profile.table(*range_of(start - 1, end + 1))
        actual = page_table(page)
        for key in set(expected) | set(actual):
            one = expected.get(key, [0, 0, 0])
            other = actual.get(key, [0, 0, 0])
            between(least.get(key, [0])[0], other[0],
                    most.get(key, [0])[0],
                    'calls of %s, %s' % (key[0], where))
            for i, what in ((1, 'self'), (2, 'inclusive')):
                close(one[i], other[i], 60 + one[i] / 1e4, '%s time of %s, %s'
                      % (what, key[0], where))
            checked += one[0]
    equal(True, checked > 10000, 'some calls')
    page.key('Escape')
    same_tables(profile.table(), page_table(page), 'the whole trace again')
    # far off: a run where there are many calls, which says how many
    page.settle()
    runs = page.eval("""(() => {
        const {trace} = swizzle.model.threads[0];
        const sum = level => level.calls.reduce((all, calls, i) => all +
            (level.flags[i] & 8 ? calls : 1), 0);
        return trace.levels.map(level => [level.count, sum(level)]); })()""")
    count = page.eval('swizzle.model.threads[0].trace.count')
    for level, (boxes_there, calls) in enumerate(runs):
        equal(count, calls, 'activations in level %d' % level)
        equal(True, boxes_there < count, 'boxes in level %d' % level)
    for part in (1, 0.3, 0.01):
        pixel, drawn, all_pixels = page.eval("""(() => {
            const {chart, model} = swizzle, {trace} = model.threads[0];
            const pixel = %g * chart.extent() / chart.view().width;
            return [pixel, trace.levelFor(pixel).pixel,
                trace.levels.map(level => level.pixel)]; })()""" % part)
        fine = [each for each in all_pixels if each <= pixel]
        equal(max(fine, default=min(all_pixels)), drawn,
              'the level for %g of the time' % part)
    # boxes that are wide are the same as where all is read
    parts = page.eval(BOXES % WINDOWS)
    address = page.eval('location.href')
    page.call('Page.navigate', url='about:blank')
    page.call('Page.navigate', url=address)
    page.wait('window.swizzle')
    equal(False, page.eval('!!swizzle.model.threads[0].trace.large'),
          'all is read')
    page.click_on('[data-chart=timeline]')
    whole = page.eval(BOXES % WINDOWS)
    for at, one, other in zip(WINDOWS, whole, parts):
        equal(True, len(one) > 0, 'boxes in %r' % at)
        names = collections.Counter(box[0] for box in one)
        equal(names, collections.Counter(box[0] for box in other),
              'boxes in %r' % at)
        for expected, actual in zip(one, other):
            for i in (1, 2, 3):
                close(expected[i], actual[i], 0.01, '%s in %r' % (
                    expected[0], at))


def check_absent(page, profile):
    """where events have no room in the page it says so"""
    address = page.eval('location.href')
    path = address[len('file://'):].split('#')[0]
    with open(path) as file:
        text = file.read()
    # all but the first two blocks
    short = re.sub(r'<script [^>]* data-name="events 0 ([2-9]|[0-9]{2,})">'
                   r'[^<]*</script>\n', '', text)
    equal(True, len(short) < len(text), 'blocks were taken out')
    with open(path, 'w') as file:
        file.write(short)
    before = page.before('window.swizzleEager = 0;')
    page.call('Page.navigate', url='about:blank')
    page.call('Page.navigate', url=address)
    page.wait('window.swizzle')
    page.take_back(before)
    page.click_on('[data-chart=timeline]')
    missing, there = page.eval("""(() => {
        const {blocks} = swizzle.model.threads[0].trace;
        const {first} = swizzle.model;
        return [blocks[blocks.length - 1].time - first,
                blocks[1].time - first]; })()""")
    page.eval('swizzle.chart.setWindow(%f, %f)' % (missing - 1, missing + 9))
    page.settle()
    equal(True, page.eval('!!swizzle.chart.coarse'), 'told in the chart')
    whole = page_table(page)
    page.key('r')
    equal(True, page.eval("document.querySelector('#range').textContent")
          .startswith('Not counted'), 'told of the range')
    equal(whole, page_table(page), 'the table of all')
    page.eval('swizzle.chart.setWindow(%f, %f)' % (there - 5000, there + 100))
    page.settle()
    # (what is there may have to be read first)
    page.wait('!swizzle.chart.coarse')
    page.key('r')
    equal(True, page_table(page) != whole, 'a range that is there')
    page.key('Escape')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, 'more events than this page may hold' in text, 'in the notes')
    show(page, 'functions')


def check_page(page, directory, dump, path, words):
    """one page"""
    global current
    options = [word for word in words if word.startswith('--')]
    profile = Profile(dump, path, options)
    html = profile.page(directory)
    page.requests.clear()
    page.complaints.clear()
    words = words[len(options):]
    # as if the trace were too large to be read at once
    large = words[0] == 'large' and page.before('window.swizzleEager = 0;')
    page.open(html)
    if large:
        page.take_back(large)
        words = words[1:]
        equal(True, page.eval('swizzle.model.threads.some(({trace}) =>'
                              ' trace && trace.large)'), 'large traces')
    for what in words:
        check = globals()['check_' + what]
        current = '%s %s, %s' % (os.path.basename(path), ' '.join(options),
                                 check.__doc__.splitlines()[0])
        try:
            check(page, profile)
        except (browser.Error, IndexError, KeyError) as error:
            fail('%s: %s' % (type(error).__name__, error))
    current = '%s, %s' % (os.path.basename(path), check_one_list.__doc__)
    check_one_list(page)
    current = check_quiet.__doc__
    check_quiet(page, html)


def main():
    dump, words = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as directory:
        with browser.Browser() as page:
            while words:
                end = words.index(':') if ':' in words else len(words)
                check_page(page, directory, dump, words[0], words[1:end])
                words = words[end + 1:]
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
