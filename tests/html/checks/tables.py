"""The header, the list of threads and the table of functions, against -f text."""

import collections
import csv
import re

from expect import close, equal, fail
from profile_page import (
    ROWS, boxes, choose, inside, listed, number, page_table, page_threads,
    pixel, search_for, show, window)


def same_tables(expected, actual, what):
    for key in sorted(set(expected) | set(actual)):
        if expected.get(key) != actual.get(key):
            equal(expected.get(key), actual.get(key),
                  '%s, %s' % (what, ' of '.join(key)))


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


def check_call_times(page, profile):
    """the bars and percentiles of a function's call times"""
    wanted = {row['function']: row for row in profile.csv() if row['timed_calls']}
    equal(True, len(wanted) > 1, 'functions with times')
    for name, row in wanted.items():
        choose(page, name)
        shown = page.eval("""[...document.querySelectorAll('#details dl > div')]
            .map(({title, children: [what, value]}) =>
            [what.textContent, value.title])""")
        shown = {what: number(title) for what, title in shown
                 if title.endswith(' ns')}
        for which, column in (('p50', 'p50_ns'), ('p90', 'p90_ns'),
                              ('p99', 'p99_ns'), ('p99.9', 'p999_ns')):
            close(int(row[column]), shown.get(which, -1), 1,
                  '%s of %s' % (which, name))
        bars = page.eval("""[...document.querySelectorAll('.call-times > *')]
            .map(bar => bar.title)""")
        equal(int(row['timed_calls']), sum(number(title.split(' call')[0])
                                           for title in bars), 'calls of ' + name)
        slowest = page.eval("""[...document.querySelectorAll('.slowest button')]
            .map(button => button.title)""")
        found = [re.match(r'(\S+)(?:\s(\S+))? at \S+ s in ', title).groups()
                 for title in slowest]
        listed = [line.split()[:3] for line in profile.run(
            '--calls-of', name, '-n', '5').decode().splitlines()
            if re.match(r' *\d', line)]
        equal(len(listed), max(len(found), 1), 'slowest calls of ' + name)
        # (of calls that took the same another one may be listed)
        for (time, unit), (_, wanted_time, wanted_unit) in zip(found, listed):
            equal(wanted_unit.replace('us', '\u00b5s'), unit or 'ns', 'unit of ' + name)
            close(float(wanted_time), float(time),
                  max(0.006 * float(time), 1 if wanted_unit == 'ns' else 0),
                  'a slowest call of ' + name)
    page.click_on('[data-chart=flame]')
    name = max(wanted, key=lambda name: int(wanted[name]['timed_calls']))
    choose(page, name)
    page.eval("document.querySelector('.call-times > .some:last-child').click()")
    page.wait("swizzle.chartName === 'timeline'")
    page.settle()
    start, low, high = page.eval(
        '[swizzle.chart.revealed.start - swizzle.model.first,'
        ' swizzle.chart.from, swizzle.chart.to]')
    equal(True, low <= start <= high, 'the longest call is in view')
