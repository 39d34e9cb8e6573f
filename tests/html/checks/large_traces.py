"""A trace that is read in parts, and one of which parts are not there."""

import collections
import re

from checks.tables import same_tables
from expect import between, close, equal
from other_formats import range_of
from profile_page import page_table, show, window

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
