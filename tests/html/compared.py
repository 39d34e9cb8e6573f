#!/usr/bin/env python3
"""Opens the page of a comparison in headless Chromium, and compares what it
shows with -f csv and -f json of the same runs.

    compared.py DUMP WHAT OLD... -- NEW...

WHAT is what has become of most of the time: slower, faster, noise or unknown.
Prints what is wrong; exits 1 then."""

import collections
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from expect import equal, fail  # noqa: E402
from profile_page import check_quiet, inside, pixel  # noqa: E402

dump, what, *sides = sys.argv[1:]
page = browser.Browser(1500, 900)


def run(form, *options):
    return subprocess.run([dump, '-q', '-f', form, *options, '--diff', *sides],
                          stdout=subprocess.PIPE, timeout=120, check=True).stdout


def rows_of_csv():
    """{(name, module): [figures of FIELDS]}, [change] of the same"""
    rows, changes = collections.defaultdict(list), {}
    for row in csv.DictReader(io.StringIO(run('csv').decode())):
        key = row['function'], row['module']
        rows[key].append([int(row[field] or 0) for field in FIELDS.split()])
        changes[key] = row['change']
    return {key: sorted(list_) for key, list_ in rows.items()}, changes


FIELDS = ('calls_old calls_new calls_noise self_old_ns self_new_ns self_noise_ns '
          'incl_old_ns incl_new_ns incl_noise_ns')


def check_figures(rows, changes):
    """the page's figures are those of csv"""
    found = collections.defaultdict(list)
    for name, module, kind, *figures in page.eval('''(() => {
            const {model} = swizzle, s = model.sums;
            return model.functions.map(fn => [model.catalog.name[fn],
                model.moduleName(fn) || '-', model.comparison.kindName(fn),
                s.oldCalls[fn], s.calls[fn], s.noiseCalls[fn],
                s.oldSelf[fn], s.self[fn], s.noiseSelf[fn],
                s.oldIncl[fn], s.incl[fn], s.noiseIncl[fn]]);
            })()'''):
        found[name, module].append(figures)
        if len(rows.get((name, module), [])) == 1:
            equal(changes[name, module], kind, 'change of ' + name)
    equal(rows, {key: sorted(list_) for key, list_ in found.items()}, 'figures')


def shown_rows():
    """{name: (classes, self title, text of the change)}, in their order"""
    return {name: rest for name, *rest in page.eval('''(() => {
        const heads = [...document.querySelectorAll('#functions .head .cell')]
            .map(cell => cell.dataset.key);
        return [...document.querySelectorAll('#functions .row')].sort((a, b) =>
            a.dataset.index - b.dataset.index).map(row => {
            const cell = key => row.children[heads.indexOf(key)];
            return [swizzle.model.catalog.name[row.dataset.fn],
                row.className, cell('self').title, cell('change').textContent,
                cell('change').className];
        });
        })()''')}


def check_rows(rows, changes):
    """the table: order, greyed rows, signs, the old figures on hover"""
    shown = shown_rows()
    seen_noise = False
    if len(shown) < 3:
        fail('%d rows' % len(shown))
    for name, (classes, title, text, colour) in shown.items():
        keys = [key for key in rows if key[0] == name]
        if len(keys) != 1 or len(rows[keys[0]]) != 1:
            continue
        figures, change = rows[keys[0]][0], changes[keys[0]]
        old, new, noise = figures[3:6]
        equal('+' if new > old else '−' if new < old else '±', text[0],
              'sign of ' + name)
        equal(abs(new - old) > noise, 'slower' in colour or 'faster' in colour,
              'colour of the change of ' + name)
        if 'self: ' not in title or '→' not in title:
            fail('hover of %s: %r' % (name, title))
        grey = 'noise' in classes.split()
        if change not in ('new', 'gone'):
            equal(change == 'noise', grey, 'grey: ' + name)
        if seen_noise and not grey:
            fail('%s is below the noise' % name)
        seen_noise |= grey


def check_trees(rows):
    """contexts and calls: the sums of the old figures"""
    data = json.loads(run('json'))['parts'][0]
    equal([data['total_ns'], data['old']['total_ns']],
          page.eval('[swizzle.model.tree.total[0], swizzle.model.tree.oldTotal[0]]'),
          'totals')
    old = collections.Counter()
    for edge in data['edges']:
        old[data['functions'][edge['callee']]['name']] += edge['old_incl_ns']
    found = page.eval('''(() => {
        const {model} = swizzle, sums = {};
        for (const fn of model.functions) {
            const name = model.catalog.name[fn];
            sums[name] = (sums[name] || 0) + model.neighbours(fn, false)
                .reduce((sum, entry) => sum + entry.oldIncl, 0);
        }
        return sums;
        })()''')
    equal({name: ns for name, ns in old.items() if ns},
          {name: ns for name, ns in found.items() if ns}, 'old calls')
    if len(old) < 3:
        fail('%d functions are called' % len(old))


def is_of(colour, kind):
    red, green, blue = colour[:3]
    return {'slower': red > green + 25 and red > blue + 25,
            'faster': blue > red + 25 and blue > green + 25}.get(
                kind, max(colour[:3]) - min(colour[:3]) < 25)


def check_colours(name, expected):
    """boxes: orange, blue or grey, in light and dark; what is said on hover"""
    colours = []
    for dark in (False, True):
        page.dark(dark)
        page.settle()
        x, y = inside(page, name)
        colours.append(pixel(page, x, y))
        if not is_of(colours[-1], expected):
            fail('%s is %s, dark %s: %r' % (name, expected, dark, colours[-1]))
        page.move(x, y)
        page.settle()
        tip = page.eval("document.querySelector('#tip').innerText")
        if 'old → new' not in tip or 'inclusive' not in tip:
            fail('tip of %s: %r' % (name, tip))
    page.dark(False)
    if colours[0] == colours[1]:
        fail('as dark as light')


def check_texts():
    """the legend, the verdict"""
    legend = page.eval("document.querySelector('#legend').innerText")
    verdict = page.eval("document.querySelector('#verdict').innerText")
    equal(what != 'unknown', 'within the noise' in legend, 'legend ' + legend)
    expected = {'noise': 'no change beyond the noise',
                'unknown': 'noise unknown'}.get(what, what)
    if not verdict.endswith(': ' + expected):
        fail('verdict: %r' % verdict)


def main():
    rows, changes = rows_of_csv()
    with tempfile.TemporaryDirectory() as directory, page:
        html = os.path.join(directory, 'page.html')
        run('html', '-o', html)
        page.open(html)
        page.settle()
        check_figures(rows, changes)
        check_rows(rows, changes)
        check_trees(rows)
        check_texts()
        if what != 'unknown':
            longest = max((key for key in rows if key[0] != '[outside]'),
                          key=lambda key: rows[key][0][4])
            equal(what, changes[longest], 'change of ' + longest[0])
            check_colours(longest[0], what)
        for name in ('down', 'up', 'notes', 'functions'):
            page.eval("swizzle.showList('%s')" % name)
            page.settle()
        if what == 'slower':
            page.eval("swizzle.showList('down')")
            page.settle()
            equal(True, page.eval("document.querySelectorAll("
                                  "'#down .cell.slower').length") > 1,
                  'red in the tree')
        for name in ('inverted', 'sandwich', 'flame'):
            page.eval("swizzle.showChart('%s')" % name)
            page.settle()
        check_quiet(page, html)
    return 1 if expect.failures else 0


sys.exit(main())
