"""What is counted from events: ranges of time, and all of it."""

import collections

from checks.tables import check_header, same_tables
from expect import between, close, equal
from other_formats import range_of
from profile_page import (
    boxes, choose, listed, number, page_extremes, page_table, show, window)


def same_callers(page, least, most, where):
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
            same_callers(page, profile.edges(*narrow), profile.edges(*wide),
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


def check_sampled_range(page, profile):
    """a range of samples has what the other formats say of it"""
    equal('flame', page.eval('swizzle.chartName'), 'first chart')
    page.click_on('[data-chart=timeline]')
    whole = page_table(page)
    x, y, width = page.eval("(() => { const r = swizzle.chart.canvas"
                            ".getBoundingClientRect();"
                            " return [r.x, r.y, r.width]; })()")
    stages = collections.Counter()
    for low, high in ((0.05, 0.4), (0.3, 0.7), (0.02, 0.99)):
        page.drag(x + low * width, y + 8, x + high * width, y + 8, False)
        title = page.eval("document.querySelector('#range').title")
        where = range_of(*[number(part) for part in title.split(' to ')])
        expected, actual = profile.table(*where), page_table(page)
        equal(set(expected), set(actual), 'functions from %s' % (where,))
        for key, row in expected.items():
            equal(row[0], actual[key][0], 'samples of %s' % key[0])
            for i, what in ((1, 'self'), (2, 'inclusive')):
                # rounded down for each place that was hit
                close(row[i], actual[key][i], 2 + row[0], '%s time of %s' % (
                    what, key[0]))
        total, _, _ = profile.total(*where)
        close(total, number(page.eval("document.querySelector('#total').title")),
              2 + sum(row[0] for row in expected.values()), 'total')
        equal(page.eval('swizzle.model.total'),
              page.eval('swizzle.model.tree.total[0]'), 'the tree has all of it')
        stages.update(name for name, _ in expected)
        page.key('Escape')
    equal(True, 1 <= stages['first'] <= 3 and stages['second'] >= 1,
          'the stages were in these ranges')
    page.click_on('#range-clear')
    same_tables(whole, page_table(page), 'all of the time again')
    text = page.eval("(() => { const {timeline} = swizzle.charts;"
                     " const [thread] = timeline.lanes();"
                     " return JSON.stringify(timeline.describe({thread,"
                     " of: thread.trace, at: 0})); })()")
    equal(True, 'by samples' in text and 'this call' not in text, text)


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


def check_own_work(page, profile):
    """hooking a library that is loaded later is nobody's time"""
    page.click_on('[data-chart=timeline]')
    equal(True, page.eval('swizzle.model.threads.some(({own}) => own.end.some('
                          '(end, i) => end - own.start[i] > 10000))'),
          'there was such work')
    page.key('r')
    expected, actual = profile.table('--from', '0'), page_table(page)
    equal(set(expected), set(actual), 'rows')
    for key, row in expected.items():
        for i, what in ((1, 'self'), (2, 'inclusive')):
            close(row[i], actual.get(key, row)[i], 60, '%s time of %s' % (
                what, key[0]))
    check_header(page, profile, ('--from', '0'), 60)
    page.key('Escape')


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
