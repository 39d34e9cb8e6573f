#!/usr/bin/env python3
"""Opens pages of `swizzle-dump -f calls-html` in headless Chromium, works with them
as a person does, and compares what they show with what the program said.

    calls.py whole PAGE TRUTH [PICTURE]
    calls.py cut PAGE TRUTH MOST
    calls.py index DIRECTORY TRUTH FUNCTION FILES [PICTURE]
    calls.py objects PAGE CALLS [PICTURE]
    calls.py errors PAGE CALLS

CALLS is what -f calls says of the same calls. TRUTH has a line for each call, in
the order in which they began: how deep it was, the call, its result. Prints what
is wrong; exits 1 then."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from expect import equal  # noqa: E402

READY = 'window.swizzleCalls'

# of each call: depth below its thread, text, exceptional, calls left out, and
# how many of it are there
ALL = '''(() => {
    const {calls} = swizzleCalls, all = [];
    for (let i = 0; i < calls.count; i++)
        if (calls.depth[i])
            all.push([calls.depth[i] - 1, calls.name(i) + calls.text(i, 0),
                calls.text(i, 1), calls.flags[i] & 1, calls.inside[i],
                calls.after[i] - i, calls.start[i], calls.time[i]]);
    return all;
})()'''

# the rows that can be seen: texts, and whether they are red
ROWS = '''[...document.querySelectorAll('#calls .row')].map(row => ({
    top: parseFloat(row.style.top),
    text: row.querySelector('.name').textContent,
    bad: Boolean(row.querySelector('.call-result.bad')),
    colour: row.querySelector('.call-result.bad') &&
        getComputedStyle(row.querySelector('.call-result.bad')).color,
})).sort((a, b) => a.top - b.top)'''


def read_truth(path):
    """[(depth, call, result)]"""
    with open(path) as file:
        rows = [line.rstrip('\n').split('\t') for line in file]
    return [(int(depth), call, result) for depth, call, result in rows]


def is_bad(result):
    return result.startswith('!') or re.match(r'= (-|NULL)', result) is not None


def descendants(truth):
    """How many calls are in each."""
    inside = [0] * len(truth)
    open_calls = []
    for i, (depth, _, _) in enumerate(truth):
        del open_calls[depth:]
        for caller in open_calls:
            inside[caller] += 1
        open_calls.append(i)
    return inside


def quiet(b):
    """Nothing was fetched, and nothing went wrong."""
    equal([], [url for url in b.requests if not url.startswith('file:')],
          'requests')
    equal([], b.complaints, 'complaints')


def whole(page, truth, picture=None):
    truth = read_truth(truth)
    bad = [i for i, (_, _, result) in enumerate(truth) if is_bad(result)]
    with browser.Browser() as b:
        b.open(page, READY)
        b.settle()
        got = b.eval(ALL)
        equal(truth, [tuple(row[:3]) for row in got], 'calls')
        equal(bad, [i for i, row in enumerate(got) if row[3]], 'errors')
        for i, row in enumerate(got):
            if row[6] < 0 or row[7] < 0:
                equal('a time', row, 'call %d' % i)
        # what is seen is what there is
        b.key('e', 'e')
        rows = b.eval(ROWS)
        for i, row in enumerate(rows[1:15]):
            depth, call, result = truth[i]
            equal(True, (call + ' ' + result) in row['text'],
                  'row %d: %r' % (i, row['text']))
            equal(is_bad(result), row['bad'], 'row %d is red' % i)
        # only errors, and what is around them
        if bad:
            b.key('x', 'x')
            b.wait('swizzleCalls.matches')
            equal(len(bad), b.eval('swizzleCalls.matches.length'), 'errors')
            shown = [row for row in b.eval(ROWS) if row['bad']]
            equal(min(len(bad), len(shown)), len(shown), 'red rows')
            for row in shown:
                red, green, blue = map(int, re.findall(r'\d+', row['colour'])[:3])
                equal(True, red > 1.3 * green and red > 1.3 * blue,
                      'red, not ' + row['colour'])
            b.key('Escape')
        # search
        word = truth[-1][1]
        b.key('/', '/')
        b.type(word)
        b.wait('swizzleCalls.matches')
        wanted = [i for i, (_, call, result) in enumerate(truth)
                  if word.lower() in (call + ' ' + result).lower()]
        equal(str(len(wanted)), re.sub(r'\s', '', b.eval(
            "document.getElementById('found').textContent")), 'found')
        b.key('Enter')
        chosen = b.eval('swizzleCalls.chosen')
        equal(wanted[0], chosen - 1, 'the first that was found')
        b.key('Escape')
        # from a call to its caller and back, by what is beside it
        deep = max(range(len(truth)), key=lambda i: truth[i][0])
        b.eval('swizzleCalls.choose(%d, true)' % (deep + 1))
        b.settle()
        caller = b.eval('swizzleCalls.calls.parent[%d]' % (deep + 1))
        equal(truth[deep][0] - 1, truth[caller - 1][0], 'depth of the caller')
        b.click_on('#panel .to-call[data-call="%d"]' % caller)
        equal(caller, b.eval('swizzleCalls.chosen'), 'the caller')
        equal(True, b.eval('document.querySelector("#calls .row.selected") !== null'),
              'the caller is in view')
        equal('#call=%d' % caller, b.eval('location.hash'), 'the address')
        b.click_on('#panel .to-call[data-call="%d"]' % (deep + 1))
        equal(deep + 1, b.eval('swizzleCalls.chosen'), 'back again')
        equal(truth[deep][1], b.eval('document.querySelector("#panel h3").textContent'),
              'what is told of it')
        # folding
        b.key('c', 'c')
        few = b.eval('swizzleCalls.list.rows.length')
        b.key('e', 'e')
        equal(len(truth) + b.eval('swizzleCalls.calls.threads.length'),
              b.eval('swizzleCalls.list.rows.length'), 'rows, unfolded')
        equal(True, few < len(truth), 'rows, folded: %d' % few)
        if picture:
            b.screenshot(picture)
        quiet(b)


def cut(page, truth, most):
    truth = read_truth(truth)
    inside = descendants(truth)
    with browser.Browser() as b:
        b.open(page, READY)
        got = b.eval(ALL)
        equal(True, 0 < len(got) <= most, '%d calls' % len(got))
        about = b.eval('swizzleCalls.calls.about')
        equal(len(truth), about['all'], 'calls in all')
        equal(len(truth) - len(got), about['leftOut'] + about['cut'], 'left out')
        # they are there in their order; each says what it lacks
        at = 0
        for row in got:
            while at < len(truth) and truth[at] != tuple(row[:3]):
                at += 1
            if at == len(truth):
                equal('a call of the program', row[:3], 'in order')
                break
            at += 1
        roots = [row for row in got if row[0] == 0]
        wanted = {row[1]: inside[i] for i, row in enumerate(truth) if row[0] == 0}
        equal([wanted[row[1]] for row in roots], [row[4] + row[5] - 1 for row in roots],
              'calls in the outermost, shown or not')
        equal(True, 'not shown' in b.eval('document.body.textContent'), 'said')
        b.eval('swizzleCalls.choose(%d, true)' % (
            1 + next(i for i, row in enumerate(got) if row[4])))
        b.settle()
        equal(True, '--from' in b.eval('document.getElementById("panel").textContent'),
              'how to see them')
        quiet(b)


def index(directory, truth, function, files, picture=None):
    truth = read_truth(truth)
    inside = descendants(truth)
    # the outermost calls of the function
    roots, end = [], 0
    for i, (_, call, result) in enumerate(truth):
        if i >= end and call.startswith(function + '('):
            end = i + 1 + inside[i]
            roots.append(i)
    with browser.Browser() as b:
        b.open(os.path.join(directory, 'index.html'), READY)
        b.settle()
        rows = b.eval('swizzleCalls.all')
        equal([truth[i][1:] for i in roots],
              [(row['call'], row['end']) for row in rows], 'calls')
        equal([1 + inside[i] for i in roots], [row['calls'] for row in rows],
              'calls in them')
        equal([sum(truth[j][1].startswith(function + '(')
                   for j in range(i + 1, i + 1 + inside[i])) for i in roots],
              [row['nested'] for row in rows], 'nested')
        equal([sum(is_bad(truth[j][2]) for j in range(i, i + 1 + inside[i]))
               for i in roots], [row['errors'] for row in rows], 'errors')
        equal([2 if truth[i][2].startswith('!') else int(is_bad(truth[i][2]))
               for i in roots], [row['outcome'] for row in rows], 'outcomes')
        equal(list(range(1, files + 1)) + [0] * (len(roots) - files),
              [row['page'] for row in rows], 'files')
        # sorted by a click
        b.click_on('#calls [data-key=time] button')
        times = b.eval('swizzleCalls.list.rows.map(row => row.time)')
        equal(sorted(times, reverse=True), times, 'the longest first')
        b.click_on('#calls [data-key=time] button')
        equal(sorted(times), b.eval('swizzleCalls.list.rows.map(row => row.time)'),
              'the shortest first')
        equal(files < len(roots), b.eval(
            'document.getElementById("left-out") !== null'), 'without a page')
        if picture:
            b.screenshot(picture)
        # each page is that call, and leads back
        for page in (1, files):
            b.open(os.path.join(directory, '%05d.html' % page), READY)
            b.settle()
            i = roots[page - 1]
            got = b.eval(ALL)
            equal([(depth - truth[i][0], call, result) for depth, call, result
                   in truth[i:i + 1 + inside[i]]], [tuple(row[:3]) for row in got],
                  'page %d' % page)
        b.click_on('#all-calls')
        b.wait('window.swizzleCalls && swizzleCalls.all')
        # a row leads to its page
        b.eval('swizzleCalls.sortBy("number")')
        b.settle()
        b.click_on('#calls .row a')
        b.wait('window.swizzleCalls && swizzleCalls.calls')
        quiet(b)


def objects(page, text, picture=None):
    with open(text) as file:
        lines = [line for line in file if not line.startswith('#')]
    with browser.Browser() as b:
        b.open(page, READY)
        b.key('e', 'e')
        got = b.eval(ALL)
        outs = b.eval('[...Array(swizzleCalls.calls.count).keys()].map(i =>'
                      ' swizzleCalls.calls.text(i, 2))')[1:]
        # the same calls and changes in both
        begins = [line for line in lines if '(this = ' in line]
        equal(len(begins), len(got), 'calls')
        for line, row in zip(begins, got):
            equal(True, row[1] in line, 'call: %r in %r' % (row[1], line))
        ends = ' '.join(lines)
        for out in filter(None, outs):
            equal(True, out in ends, 'end: %r' % out)
        changed = "document.querySelectorAll('#panel .field .changed').length"
        for i, row in enumerate(got):
            if ': ' not in row[1] and ' -> ' not in outs[i]:
                continue
            b.eval('swizzleCalls.choose(%d, true)' % (i + 1))
            b.settle()
            equal((row[1] + outs[i]).count(' -> '), b.eval(changed),
                  'changes of call %d' % i)
        # they stand out
        colours = b.eval("""['.changed', '.field'].map(each => getComputedStyle(
            document.querySelector('#panel ' + each)).backgroundColor)""")
        equal(2, len(set(colours)), 'colours %r' % colours)
        if picture:
            b.screenshot(picture)
        quiet(b)


def errors(page, text):
    """Where errors come from: the same in both."""
    with open(text) as file:
        wanted = [line.rstrip().split('  <- ')[1] for line in file
                  if '  <- ' in line]
    with browser.Browser() as b:
        b.open(page, READY)
        b.key('e', 'e')
        got = b.eval("""[...document.querySelectorAll('#calls .row')].map(row =>
            row.querySelector('.name').textContent.split('  ← ')[1])""")
        equal(sorted(wanted), sorted(filter(None, got)), 'origins of errors')
        quiet(b)


if __name__ == '__main__':
    what, path, truth_path, *rest = sys.argv[1:]
    if what == 'whole':
        whole(path, truth_path, *rest)
    elif what == 'errors':
        errors(path, truth_path)
    elif what == 'objects':
        objects(path, truth_path, *rest)
    elif what == 'cut':
        cut(path, truth_path, int(rest[0]))
    else:
        index(path, truth_path, rest[0], int(rest[1]), *rest[2:])
    sys.exit(expect.failures != 0)
