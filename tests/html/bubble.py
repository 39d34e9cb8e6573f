#!/usr/bin/env python3
"""Opens the page of a trace with arguments and results in headless Chromium, and
compares what it tells of its calls with -f chrome.

    bubble.py DUMP PROFILE [large]

large: as if the trace were too large to be read at once.
Prints what is wrong; exits 1 then."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from bubble_shown import SHOWN  # noqa: E402
from expect import equal, fail  # noqa: E402
from profile_page import check_quiet  # noqa: E402

dump, profile = sys.argv[1:3]
is_large = 'large' in sys.argv[3:]


def dumped(form, *options):
    return subprocess.run([dump, '-q', '-f', form, *options, '-o', '-', profile],
                          stdout=subprocess.PIPE, timeout=120, check=True).stdout


def calls_of_chrome():
    """{tid: [[name, depth, values at its begin, at its end]]}"""
    threads, stacks = {}, {}
    pairs = json.loads(dumped('chrome'), object_pairs_hook=lambda pairs: pairs)
    for event in map(dict, dict(pairs)['traceEvents']):
        if event['ph'] not in 'BE':
            continue
        stack = stacks.setdefault(event['tid'], [])
        values = [list(pair) for pair in event.get('args', [])
                  if pair[0] != 'ended by']
        if event['ph'] == 'B':
            call = [event['name'], len(stack), values, []]
            threads.setdefault(event['tid'], []).append(call)
            stack.append(call)
        else:
            stack.pop()[3] = values
    return threads


# All calls of the page, with what it finds of each.
CALLS = '''
(async () => {
    const {model} = swizzle, {timeline} = swizzle.charts, threads = {};
    for (const thread of model.threads.filter(({trace}) => trace)) {
        const {trace} = thread;
        const of = trace.large ? (await trace.read(0,
            trace.blocks.length - 1)).finish() : trace;
        const calls = threads[thread.tid] = [];
        for (let at = 0; at < of.count; at++) {
            const values = await swizzle.bubble.valuesOf({thread, of, at});
            calls.push([model.catalog.name[timeline.fnOf({thread, of, at})],
                of.depth[at], values.entry || [], values.back || []]);
        }
    }
    return threads;
})()
'''

# When a call begins and ends.
TIMES = '''
(async () => {
    const {trace} = swizzle.model.threads.find(({tid}) => tid === %d), at = %d;
    const of = trace.large ? (await trace.read(0,
        trace.blocks.length - 1)).finish() : trace;
    return [of.start[at], of.end[at]];
})()
'''

BOX = '''
    const {chart, model} = swizzle, tid = %d, start = %r, name = %r;
    const box = chart.boxes.find(({item, fn}) => item.at >= 0 &&
        item.thread.tid === tid && item.of.start[item.at] === start &&
        model.catalog.name[fn] === name);
    const r = chart.canvas.getBoundingClientRect();
'''
INTO_VIEW = '(() => {' + BOX + 'chart.keepInView(box); })()'
PLACE = '(() => {' + BOX + '''
    return [r.x + box.x + Math.min(box.width / 2, 300),
        r.y + box.y + box.height / 2]; })()'''


def shown(page):
    page.wait('!swizzle.bubble.reading')
    return page.eval(SHOWN)


def line(name, entry):
    return name + ('(%s)' % ', '.join(' = '.join(value) for value in entry)
                   if entry else '')


def check_all(page, threads):
    """the page knows the values of each call"""
    got = page.eval(CALLS)
    equal({str(tid): len(calls) for tid, calls in threads.items()},
          {tid: len(calls) for tid, calls in got.items()}, 'calls')
    valued = 0
    for tid, calls in threads.items():
        for expected, mine in zip(calls, got.get(str(tid), [])):
            valued += bool(expected[2])
            if expected != mine:
                fail('%r, not %r' % (mine, expected))
    if valued < 2:
        fail('there is nothing to see')


def check_click(page, threads):
    """a click on a call tells of it"""
    tid, calls = max(threads.items(), key=lambda item: len(item[1]))
    # a call that has both, and others around it: in the midst, if there is one
    wanted = [i for i, call in enumerate(calls)
              if call[2] and call[3] and call[1]]
    at = wanted[len(wanted) // 2]
    name, depth, entry, back = calls[at]
    around = []
    for other in reversed(calls[:at]):
        if other[1] == depth - 1 - len(around):
            around.append(line(other[0], other[2]))
    start, end = page.eval(TIMES % (tid, at))
    # (all other lanes may leave no room for this one)
    page.eval('swizzle.side.setShown(swizzle.model.threads, false)')
    page.eval('(() => { swizzle.model.threads.find(({tid}) => tid === %d).shown = true;'
              ' swizzle.threadsChanged(); swizzle.charts.timeline.foldAll(false);'
              ' })()' % tid)
    page.eval('swizzle.chart.setWindow(%r - swizzle.model.first,'
              ' %r - swizzle.model.first)' % (start, end))
    page.settle()
    page.eval(INTO_VIEW % (tid, start, name))
    page.settle()
    x, y = page.eval(PLACE % (tid, start, name))
    page.click(x, y)
    about = shown(page)
    equal(name, about and about['title'], 'title')
    equal(entry, about['values'].get('Arguments'), 'arguments')
    result = [['ended by' if key == 'exception' else '=', value]
              for key, value in back if not key.startswith('*')]
    equal(result[:1], about['values'].get('Result'), 'result')
    equal(around, about['frames'], 'who called it')
    if 'time' not in about['rows']:
        fail('no duration: %r' % about['rows'])
    # within the window, and over what was clicked no longer than asked for
    place = page.eval('''(() => { const r = document.querySelector('#bubble')
        .getBoundingClientRect(); return [r.left, r.top, innerWidth - r.right,
        innerHeight - r.bottom]; })()''')
    equal(True, min(place) >= 0, 'in the window: %r' % place)
    page.key('Escape')
    equal(None, page.eval(SHOWN), 'the bubble after Escape')
    # (what was chosen stays so until the next Escape)
    equal(name, page.eval("document.querySelector('#details h3').textContent"),
          'the choice after Escape')
    return name, entry, tid, start


def check_keys(page, name, entry, tid, start):
    """the keyboard opens it, walks up the stack and closes it"""
    page.eval("document.querySelector('#chart').focus()")
    page.key('ArrowDown')
    for _ in range(30):
        if page.eval('(() => { const {cursor} = swizzle.chart; return cursor &&'
                     ' cursor.at >= 0 && cursor.thread.tid === %d &&'
                     ' cursor.of.start[cursor.at] === %r &&'
                     ' swizzle.model.catalog.name[swizzle.chart.fnOf(cursor)] === %r;'
                     ' })()' % (tid, start, name)):
            break
        page.key('ArrowDown')
    page.key('Enter')
    about = shown(page)
    equal(name, about and about['title'], 'title after Enter')
    equal(entry, about['values'].get('Arguments'), 'arguments after Enter')
    equal('bubble', page.eval('document.activeElement.id'), 'focus')
    caller = about['frames'][0].split('(')[0]
    for _ in range(2): # over the button that closes it
        page.key('Tab')
    page.key('Enter')
    about = shown(page)
    equal(caller, about and about['title'], 'title of the caller')
    page.key('Escape')
    equal(None, page.eval(SHOWN), 'the bubble after Escape')
    equal('chart', page.eval('document.activeElement.id'), 'focus after it')
    page.key('Escape')


def main():
    threads = calls_of_chrome()
    with tempfile.TemporaryDirectory() as directory:
        html = os.path.join(directory, 'page.html')
        subprocess.run([dump, '-q', '-f', 'html', '-o', html, profile],
                       timeout=120, check=True)
        with browser.Browser(1400, 900) as page:
            if is_large:
                page.before('window.swizzleEager = 0;')
            page.open(html)
            page.settle()
            equal(is_large, page.eval('swizzle.model.threads.some(({trace}) =>'
                                      ' Boolean(trace && trace.large))'),
                  'a large trace')
            for what in (check_all, check_click):
                expect.current = what.__doc__
                found = what(page, threads)
            expect.current = check_keys.__doc__
            check_keys(page, *found)
            check_quiet(page, html)
    return 1 if expect.failures else 0


sys.exit(main())
