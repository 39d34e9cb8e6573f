#!/usr/bin/env python3
"""Opens a page of `swizzle-dump -f graph` in headless Chromium, works with it as a
person does, and compares what it shows with csv and json.

    graph.py PAGE CSV JSON LIMIT [PICTURE]

LIMIT is the percentage below which functions are left out. Prints what is wrong;
exits 1 then."""

import csv
import json
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from expect import equal  # noqa: E402


def near(expected, actual, what):
    """Pixels are whole."""
    equal([True] * len(expected), [abs(a - b) <= 2 for a, b in zip(expected, actual)],
          '%s: %r, not %r' % (what, actual, expected))


def plain(text):
    return text.replace('\u202f', ' ').replace('\xa0', ' ')


def main(page, table, graph, limit, picture=None):
    with open(table, newline='') as file:
        rows = list(csv.DictReader(file))
    with open(graph) as file:
        part = json.load(file)['parts'][0]
    total = part['total_ns']
    wanted = {row['function']: row for row in rows
              if int(row['incl_ns']) >= math.floor(limit / 100 * total)}
    names = [function['name'] for function in part['functions']]
    edges = {}
    for edge in part['edges']:
        ends = names[edge['caller']], names[edge['callee']]
        calls, ns = edges.get(ends, (0, 0))
        edges[ends] = calls + edge['calls'], ns + edge['incl_ns']

    with browser.Browser() as b:
        b.open(page, 'window.swizzleGraph')

        def place(name):
            return b.eval('''(() => { const page = swizzleGraph;
                const node = page.graph.nodes.find(n => n.name === %s);
                const box = page.canvas.getBoundingClientRect();
                const [x, y] = page.toScreen(node);
                return [box.left + x, box.top + y] })()''' % json.dumps(name))

        def chosen():
            return b.eval('swizzleGraph.chosen && swizzleGraph.chosen.name')

        shown = b.eval('swizzleGraph.drawn.map(n => [n.name, n.self, n.incl, n.calls,'
                       ' n.radius, n.of.hue, n.module])')
        equal(sorted(wanted), sorted(row[0] for row in shown), 'functions')
        radii = {}
        for name, self_ns, incl, calls, radius, hue, module in shown:
            row = wanted.get(name)
            if not row:
                continue
            equal([int(row['self_ns']), int(row['incl_ns']), int(row['calls']),
                   row['module']], [self_ns, incl, calls, module], name)
            radii[name] = radius, self_ns, module, hue
        largest = max(radii.values(), key=lambda each: each[1])
        for name, (radius, self_ns, module, hue) in radii.items():
            if radius > 4.001:
                equal(round(100 * self_ns / largest[1]),
                      round(100 * radius ** 2 / largest[0] ** 2), 'area of ' + name)
            equal([hue], list({each[3] for each in radii.values()
                               if each[2] == module}), 'one colour of ' + module)
        for caller, callee, calls, ns in b.eval(
                'swizzleGraph.drawnEdges.map(e => [e.from.name, e.to.name, e.calls, e.incl])'):
            equal(edges.get((caller, callee)), (calls, ns), 'calls %s %s' % (caller, callee))
        note = plain(b.eval('document.getElementById("left-out").textContent'))
        equal(True, str(len(rows) - len(wanted)) in note or len(rows) == len(wanted),
              'what is left out: ' + note)
        # boxes of the layout do not lie upon each other
        touching = b.eval('''(() => { const n = swizzleGraph.drawn; let count = 0;
            for (const a of n) for (const c of n) if (a.index < c.index &&
                Math.hypot(a.x - c.x, a.y - c.y) < a.radius + c.radius) count++;
            return count })()''')
        equal(0, touching, 'circles that lie upon each other')

        # a click, a double click
        b.click(*place('middle'))
        equal('middle', chosen(), 'clicked')
        about = plain(b.eval('document.getElementById("about").textContent'))
        equal(True, '%s calls' % wanted['middle']['calls'] in about, 'figures: ' + about)
        equal(True, b.eval('document.getElementById("source").hidden'), 'no source yet')
        b.click(*place('middle'), count=2)
        equal(False, b.eval('document.getElementById("source").hidden'), 'source')
        equal('/* Calls leaf() for each of its rounds.\n *\n'
              ' * This stands above middle(), and is shown. */',
              b.eval('document.getElementById("comment").textContent'), 'comment')
        here = b.eval('document.querySelector(".row.code.here").textContent')
        equal(True, here[:2] in ('15', '16', '17'), 'line of the function: ' + here)
        line = b.eval('''[...document.querySelectorAll(".row.code.calls")].map(row =>
            row.textContent).find(text => text.includes("leaf("))''')
        equal(True, line is not None and str(edges['middle', 'leaf'][0]) in
              line.replace('\u202f', ''), 'costs of a line: %r' % line)
        b.eval('document.querySelector(".row.code.calls").scrollIntoView()')
        b.click_on('.row.code.calls')
        equal('leaf', chosen(), 'a line leads to what it calls')
        equal('// One leaf.\n// It adds up.',
              b.eval('document.getElementById("comment").textContent'), 'lines of a comment')
        if picture:
            b.screenshot(picture)

        # keys
        b.click(*place('middle'))
        b.key('r', 'r')
        equal('main', chosen(), 'R: its caller')
        b.key('c', 'c')
        # (most often middle; what is kept from the processor takes longer)
        equal(max((ns, callee) for (caller, callee), (_, ns) in edges.items()
                  if caller == 'main')[1], chosen(), 'C: its callee')
        before = chosen()
        b.key('ArrowUp')
        equal(True, chosen() != before, 'an arrow')
        b.key('Escape')
        equal(None, chosen(), 'Esc')
        b.key('?', '?')
        equal(False, b.eval('document.getElementById("help").hidden'), 'help')
        b.key('Escape')
        equal(True, b.eval('document.getElementById("help").hidden'), 'no help')
        b.key('/', '/')
        b.type('le')
        equal([name for name in sorted(wanted) if 'le' in name],
              b.eval('[...swizzleGraph.found].map(n => n.name).sort()'), 'found')
        b.key('Enter')
        equal(True, 'le' in (chosen() or ''), 'Enter: one that was found')
        b.key('Escape')

        # zoom and drag
        before = b.eval('swizzleGraph.view.scale')
        x, y = place('leaf')
        b.wheel(x, y, -300)
        equal(True, b.eval('swizzleGraph.view.scale') > before * 1.2, 'the wheel')
        near([x, y], place('leaf'), 'what is below the mouse stays there')
        b.key('0', '0')
        corner = b.eval('''(() => { const box = swizzleGraph.canvas.getBoundingClientRect();
            return [box.right - 30, box.top + 30] })()''')
        x, y = place('leaf')
        b.drag(*corner, corner[0] - 60, corner[1] + 40)
        moved = place('leaf')
        near([x - 60, y + 40], moved, 'all of it is dragged')
        x, y = moved
        b.drag(x, y, x + 50, y - 30)
        b.wait('!swizzleGraph.running')
        moved = place('leaf')
        near([x + 50, y - 30], moved, 'a function is dragged, and held')

        # less of it
        b.eval('''(() => { const limit = document.getElementById("limit");
            limit.value = 90; limit.dispatchEvent(new Event("input")) })()''')
        least = total * 10 ** (-4 + 4 * 0.9)
        equal(sorted(name for name in wanted if int(wanted[name]['incl_ns']) >= least),
              sorted(b.eval('swizzleGraph.drawn.map(n => n.name)')), 'a higher limit')
        b.resize(700, 600)
        b.settle()
        equal(True, b.eval('document.documentElement.scrollWidth <= innerWidth'), 'narrow')
        equal([], b.complaints, 'complaints')
        equal([], [url for url in b.requests if not url.startswith(('file:', 'data:'))],
              'requests')
    return expect.failures


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:4], float(sys.argv[4]), *sys.argv[5:]) > 0)
