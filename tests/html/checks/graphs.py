"""The flame graph, the inverted one and the sandwich."""

from expect import close, equal, fail
from profile_page import boxes, choose, inside, window


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
    page.eval('swizzle.select(-1)')
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
    equal(page.eval('swizzle.model.catalog.name[swizzle.firstChoice]'),
          page.eval("document.querySelector('#details h3').textContent"),
          'chosen after Escape')
    page.click_on('[data-chart=flame]')
