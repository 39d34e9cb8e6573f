"""The timeline: lanes, boxes, what is told of them, what woke them."""

import collections
import json
import re

from expect import close, equal, fail
from other_formats import range_of
from profile_page import boxes, choose, pixel, window


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


# [text, left, right] of what the ruler says
RULER = """(() => {
    const {chart} = swizzle, said = [], own = chart.canvas.getContext('2d');
    own.fillText = function (text, x, y) {
        if (y === 11)
            said.push([text, x, x + this.measureText(text).width]);
        CanvasRenderingContext2D.prototype.fillText.call(this, text, x, y);
    };
    chart.drawNow();
    delete own.fillText;
    return said; })()"""


def check_ruler(page, profile):
    """no label of the ruler lies over another one or is cut off"""
    page.click_on('[data-chart=timeline]')
    for width in range(700, 1300, 97):
        page.resize(width, 800)
        page.settle()
        said = sorted(page.eval(RULER), key=lambda label: label[1])
        equal('time with hooks', said[-1][0], 'the last at %d' % width)
        equal(True, len(said) > 2, 'labels: %r' % said)
        edge = page.eval('swizzle.chart.view().width')
        for (text, _, end), (other, start, _) in zip(said, said[1:]):
            equal(True, end <= start, '%s beside %s at %d' % (
                text, other, width))
        equal(True, said[-1][2] <= edge, 'the end at %d' % width)
    page.resize(1280, 800)


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


def check_tips(page, profile):
    """a box tells its time with and without what the hooks took"""
    compare_tips(page, profile, 'pages', ('main', 'left'))


def check_own_tips(page, profile):
    """a box tells its time without swizzle's own work"""
    compare_tips(page, profile, 'late', ('main',))


def compare_tips(page, profile, module, functions):
    page.click_on('[data-chart=timeline]')
    for name in functions:
        choose(page, name)
        page.key('f')
        box = boxes(page, name)[0]
        page.move(box['x'] + box['width'] / 2, box['y'] + 4)
        tip = page.eval("document.querySelector('#tip').innerText")
        rows = dict(re.findall(r'^(.+)\n(.+)$', tip[tip.index('thread\n'):],
                               re.M))
        # one call: what the table has
        for row, column, options in (
                ('time', 2, ()), ('self', 1, ()),
                ('time with hooks', 2, ('--no-compensate',))):
            ns = profile.table(*options)[name, module][column]
            value, unit = rows[row].split(',')[0].split('\u202f')
            value = float(value) * {'s': 1e9, 'ms': 1e6, '\xb5s': 1e3,
                                    'ns': 1}[unit]
            close(ns, value, ns / 500, '%s of %s' % (row, name))
        page.key('Escape')
    page.key('0')


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


CAUSED = '''(() => {
    const {tree, catalog} = swizzle.model, rows = [], paths = [''];
    for (let i = 0; i < tree.count; i++) {
        const name = tree.fn[i] < 0 ? '' : (tree.caused[i] ? '> ' : '') +
            catalog.name[tree.fn[i]];
        if (i)
            paths[i] = [paths[tree.parent[i]], name].filter(Boolean).join(' ');
        rows.push([paths[i], tree.calls[i], tree.self[i]]);
    }
    return rows;
})()'''


def check_causes(page, profile):
    """work for another thread is below what posted it, as --causes has it"""
    page.click_on('[data-chart=flame]')
    before = page.eval('swizzle.model.tree.total[0]')
    page.click_on('#by-cause')
    first, last = page.eval('[swizzle.model.first, swizzle.model.last]')
    for part in (None, (0.3, 0.9)):
        where = ()
        if part:
            start, end = [round((last - first) * share) for share in part]
            page.eval('swizzle.range.set([%d, %d].map(ns => ns + swizzle.model.first))' %
                      (start, end))
            where = range_of(start, end)
        expected, actual = profile.caused(*where), {}
        for path, calls, own in page.eval(CAUSED):
            row = actual.setdefault(path, [0, 0])
            row[0] += calls
            row[1] += own
        # (of what has no time nor calls there may be a row or none)
        expected = {path: row for path, row in expected.items() if any(row)}
        actual = {path: row for path, row in actual.items() if any(row)}
        # (of a program that is held up all of it may be at one end)
        equal(True, bool(part) or any('> ' in path for path in expected),
              'work for others')
        for path in set(expected) | set(actual):
            one, other = expected.get(path, [0, 0]), actual.get(path, [0, 0])
            equal(one[0], other[0], 'calls of %s, %s' % (path, where))
            # rounding, by thread; and hooks at two borders, by thread
            close(one[1], other[1], 200 if part else 8, 'self of %s, %s' % (path, where))
        close(page.eval('swizzle.model.total'), page.eval('swizzle.model.tree.total[0]'),
              60, 'the tree has all of it')
    page.click_on('#by-cause')
    page.eval('swizzle.range.set(null)')
    equal(before, page.eval('swizzle.model.tree.total[0]'), 'total by callers again')


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
    if not re.search(r'woken by\nsend in flows \d+\n', tip):
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
