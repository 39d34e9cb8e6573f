#!/usr/bin/env python3
"""Opens the page of a trace in headless Chromium, and looks at what its timeline
draws in the boxes of calls.

    boxes.py PAGE FUNCTION TEXT BAD... [= ALWAYS... [/ SOME...]] [PICTURE.png]

The window is that of the first call of FUNCTION: TEXT is drawn in a box. All calls
of the functions BAD whose boxes are drawn, and of no others, are red. In the flame graph the
boxes of ALWAYS are red, as all their calls failed, and those of SOME in part. Prints what is wrong; exits 1 then."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from expect import equal  # noqa: E402

# Texts, and the colour of each box with its function, as they are drawn.
WATCH = '''
(() => {
    const {timeline} = swizzle.charts;
    const box = timeline.box.bind(timeline);
    const text = CanvasRenderingContext2D.prototype.fillText;
    window.drawn = {texts: [], boxes: []};
    timeline.box = (context, x, y, width, fn, label, colour, ...more) => {
        drawn.boxes.push([swizzle.model.catalog.name[fn], colour]);
        box(context, x, y, width, fn, label, colour, ...more);
    };
    CanvasRenderingContext2D.prototype.fillText = function (...all) {
        drawn.texts.push(all[0]);
        return text.apply(this, all);
    };
})()
'''

SHOW = '''
(() => {
    const {model, charts: {timeline}} = swizzle;
    const fn = model.catalog.name.indexOf(%r);
    const thread = model.threads.find(({trace}) => trace);
    const {trace} = thread;
    for (let at = 0; at < trace.count; at++)
        if (thread.nodes.fn[trace.node[at]] === fn) {
            timeline.setWindow(trace.start[at] - model.first,
                trace.end[at] - model.first);
            return true;
        }
    return false;
})()
'''


def is_red(colour):
    hue = float(re.match(r'hsl\((\S+) ', colour).group(1))
    return hue < 4


FLAME = '''
(() => {
    const {flame} = swizzle.charts, {tree, catalog} = swizzle.model;
    const found = {whole: [], part: []};
    for (let i = 1; i < tree.count; i++) {
        const share = tree.fn[i] < 0 ? 0 : flame.failedShare(i);
        if (share)
            found[share === 1 ? 'whole' : 'part'].push(
                catalog.name[tree.fn[i]]);
    }
    const box = flame.box.bind(flame);
    found.drawn = [];
    flame.box = (context, x, y, width, fn, label, colour, ...more) => {
        found.drawn.push([label, colour]);
        box(context, x, y, width, fn, label, colour, ...more);
    };
    swizzle.showChart('flame');
    flame.drawNow();
    return found;
})()
'''


def check_flame(b, always, some):
    """all failed calls are red; where only some failed, a part is"""
    found = b.eval(FLAME)
    equal(sorted(always), sorted(set(found['whole'])), 'functions of which all failed')
    equal(sorted(some), sorted(set(found['part'])), 'functions of which some failed')
    shown = {label for label, _ in found['drawn']}
    equal(sorted(set(always) & shown),
          sorted({label for label, colour in found['drawn'] if colour.startswith('hsl')
                  and is_red(colour)}), 'red boxes of the flame graph')


page, function, text, *bad = sys.argv[1:]
picture = bad.pop() if bad[-1].endswith('.png') else None
always = None
if '=' in bad:
    bad, always = bad[:bad.index('=')], bad[bad.index('=') + 1:]
    always, some = (always[:always.index('/')], always[always.index('/') + 1:]
                    ) if '/' in always else (always, [])
with browser.Browser() as b:
    b.open(page)
    b.settle()
    b.eval(WATCH)
    equal(True, b.eval(SHOW % function), 'a call of ' + function)
    b.wait('drawn.texts.some(text => text.includes(%r))' % text)
    b.eval('drawn.boxes = []')
    b.eval('swizzle.charts.timeline.drawNow()')
    boxes = b.eval('drawn.boxes')
    equal(True, len(boxes) > len(bad), 'boxes')
    equal(sorted(set(bad)), sorted({name for name, colour in boxes if is_red(colour)}),
          'red calls')
    if picture:
        b.screenshot(picture)
    if always is not None:
        check_flame(b, always, some)
    equal([], b.complaints, 'complaints')
sys.exit(1 if expect.failures else 0)
