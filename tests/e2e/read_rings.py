"""Reads a picture of swizzle-dump -f rings back.

read_rings.py calls SVG           its calls, but main, as the program says them
read_rings.py colours SVG TRUTH   that colours and sets of callees go together
read_rings.py paths SVG FUNCTION  the paths of a function's calls in their order
read_rings.py chrome SVG CHROME   that the times are those of -f chrome
read_rings.py sum SVG             functions and the calls that are drawn or counted
"""

import json
import math
import re
import sys
import xml.etree.ElementTree as tree

what, path = sys.argv[1:3]
root = tree.parse(path).getroot()
SVG = '{http://www.w3.org/2000/svg}'
begin, end = int(root.get('data-begin')), int(root.get('data-end'))


def angle(x, y):
    """From the top, clockwise, as a part of the circle."""
    return math.atan2(x, -y) / (2 * math.pi) % 1


calls = []  # (function, element)
functions = [g for g in root.iter(SVG + 'g') if g.get('class') == 'function']
assert functions
for group in functions:
    for element in group.iter(SVG + 'path'):
        assert element.get('class') == 'call'
        first, last = (int(element.get('data-' + k)) for k in ('from', 'to'))
        assert begin <= first <= last <= end, (first, last)
        # what is drawn is what is said: a move, then an arc to where it ends
        m = re.match(r'M(\S+) (\S+)A(\S+) \S+ 0 ([01]) 1 (\S+) (\S+)L',
                     element.get('d'))
        x0, y0, radius, large, x1, y1 = map(float, m.groups())
        part = (last - first) / (end - begin)
        assert abs((angle(x0, y0) - (first - begin) / (end - begin) + 0.5) % 1 - 0.5) < 1e-3
        if 1 / 360 < part < 0.999:
            assert abs((angle(x1, y1) - (last - begin) / (end - begin) + 0.5) % 1 - 0.5) < 1e-3
            assert (part > 0.5) == (large == 1) or abs(part - 0.5) < 1e-3
        calls.append((group.get('data-name'), element, radius))

if what == 'calls':
    # deeper is thicker
    by_depth = sorted((int(e.get('data-depth')), r) for _, e, r in calls)
    for (d0, r0), (d1, r1) in zip(by_depth, by_depth[1:]):
        assert (r0 < r1) == (d0 < d1) and r0 <= r1
    for name, element, _ in sorted(calls, key=lambda c: int(c[1].get('data-from'))):
        if name == 'main':
            continue
        assert element.get('data-calls') == '1'
        callees = re.search(r'calls (.*)', element.find(SVG + 'title').text)[1]
        callees = [] if callees == 'nothing' else callees.split(', ')
        print(name, element.get('data-from'), element.get('data-to'),
              element.get('data-depth'),
              ''.join(c + ' ' for c in ('left', 'right', 'deep') if c in callees) + '.')
elif what == 'colours':
    truth = {}
    for line in open(sys.argv[3]):
        name, first, _, _, callees = line.rstrip('\n').split(' ', 4)
        truth[name, first] = callees
    colours = {}
    for name, element, _ in calls:
        if name != 'main':
            colours.setdefault((name, truth[name, element.get('data-from')]),
                               set()).add(element.get('fill'))
    assert all(len(c) == 1 for c in colours.values()), colours
    of_work = [c for (name, _), c in colours.items() if name == 'work']
    assert len(set(map(tuple, of_work))) == len(of_work), colours
    print(len(of_work))
elif what == 'paths':
    for name, element, _ in sorted(calls, key=lambda c: int(c[1].get('data-from'))):
        if name == sys.argv[3]:
            print(element.find(SVG + 'title').text.split('inside, ')[1])
elif what == 'chrome':
    wanted, stack = [], []
    for event in json.load(open(sys.argv[3]))['traceEvents']:
        if event['ph'] == 'B':
            stack.append(event)
        elif event['ph'] == 'E':
            opened = stack.pop()
            wanted.append((opened['name'], round(opened['ts'] * 1000),
                           round(event['ts'] * 1000)))
    got = [(name, int(e.get('data-from')), int(e.get('data-to')))
           for name, e, _ in calls]
    assert sorted(got) == sorted(wanted), (got, wanted)
    print(len(got))
elif what == 'sum':
    for group in functions:
        drawn = sum(int(e.get('data-calls')) for e in group.iter(SVG + 'path'))
        drawn += int(group.get('data-left-out'))
        assert drawn == int(group.get('data-calls')), group.get('data-name')
        print(group.get('data-name'), drawn)
