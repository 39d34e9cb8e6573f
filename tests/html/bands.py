#!/usr/bin/env python3
"""Opens the page of a trace in headless Chromium, and compares the bands of its
timeline with what the program has printed.

    bands.py DUMP PROFILE CONFIG LINES

LINES is a file of what the band of printed lines has, a line each, with "|" in
place of newlines. Of CONFIG a function `step` has the band "steps" and is green,
and a function `log_message` the prefix "> " and is magenta.
Prints what is wrong; exits 1 then."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from bubble_shown import SHOWN  # noqa: E402
from expect import equal, fail  # noqa: E402
from profile_page import check_quiet, pixel  # noqa: E402

dump, profile, config, lines = sys.argv[1:]

BANDS = '''swizzle.charts.timeline.bands.bands.map(band => [band.name,
    band.calls.map(({thread, node, text}) => [swizzle.model.catalog.name[
        thread.nodes.fn[node]], text])])'''

# Boxes in bands: their place in the window, function and text.
IN_BANDS = '''(() => {
    const {timeline} = swizzle.charts, {model} = swizzle;
    const r = timeline.canvas.getBoundingClientRect();
    return timeline.boxes.filter(({item}) => item.call).map(box => ({
        x: r.x + box.x, y: r.y + box.y, width: box.width, height: box.height,
        name: model.catalog.name[box.fn], text: box.item.call.text,
        start: box.item.call.start}));
    })()'''


def check_lines(page, bands):
    """the band has what was printed, in the order of time"""
    with open(lines, encoding='utf-8') as file:
        expected = [line.rstrip('\n') for line in file]
    equal(expected, [text.replace('\n', '|') for _, text in bands['printed']],
          'printed lines')


def check_steps(bands):
    """a band of the configuration has its calls"""
    equal(['step'] * 4, [name for name, _ in bands['steps']], 'steps')


def check_flag(page):
    """a flag tells the line, and a click leads to the call that printed it"""
    start = next(box['start'] for box in page.eval(IN_BANDS) if box['text'])
    # (others may be as near as a pixel)
    page.eval('swizzle.chart.setWindow(%r - swizzle.model.first - 1000,'
              ' %r - swizzle.model.first + 1000)' % (start, start))
    page.settle()
    flag = next(box for box in page.eval(IN_BANDS)
                if box['text'] and box['start'] == start)
    x, y = flag['x'] + 1, flag['y'] + flag['height'] / 2
    page.move(x, y)
    tip = page.eval("document.querySelector('#tip').innerText")
    for part in (flag['text'], 'printed by ' + flag['name']):
        if part not in tip:
            fail('no %r in the tooltip %r' % (part, tip))
    page.click(x, y)
    page.wait('swizzle.bubble.item && !swizzle.bubble.reading')
    about = page.eval(SHOWN)
    equal(flag['name'], about and about['title'], 'title')
    equal('"%s"' % flag['text'], about['values']['Arguments'][-1][1], 'its text')
    page.key('Escape')
    page.key('0')


def check_box(page):
    """so does one on a box"""
    box = max((box for box in page.eval(IN_BANDS) if box['name'] == 'step'),
              key=lambda box: box['width'])
    page.click(box['x'] + box['width'] / 2, box['y'] + box['height'] / 2)
    page.wait('swizzle.bubble.item && !swizzle.bubble.reading')
    about = page.eval(SHOWN)
    equal('step', about and about['title'], 'title')
    equal('n', about['values']['Arguments'][0][0], 'an argument')
    page.key('Escape')
    page.key('Escape')


def check_looks(page):
    """calls have the colours and prefixes of the configuration"""
    page.move(5, 5)
    for name, least, most in (('step', (0, 2), 1), ('log_message', (1,), 0)):
        page.eval('swizzle.chart.reveal(swizzle.model.catalog.name'
                  '.indexOf(%r))' % name)
        page.settle()
        # (a flag of a printed line is no box)
        box = [box for box in page.eval(IN_BANDS)
               if box['name'] == name and not box['text']][0]
        colour = pixel(page, box['x'] + box['width'] / 2, box['y'] + 3)
        if not all(colour[most] > colour[other] + 20 for other in least):
            fail('%s is %r' % (name, colour))
    equal('> log_message', page.eval('swizzle.label(swizzle.model.catalog.name'
                                     ".indexOf('log_message'))"), 'label')


def main():
    with tempfile.TemporaryDirectory() as directory:
        html = os.path.join(directory, 'page.html')
        subprocess.run([dump, '-q', '-f', 'html', '--config', config, '-o', html,
                        profile], timeout=120, check=True)
        with browser.Browser(1400, 900) as page:
            page.open(html)
            page.settle()
            bands = dict(page.eval(BANDS))
            for what, arguments in ((check_lines, (page, bands)),
                                    (check_steps, (bands,)),
                                    (check_flag, (page,)), (check_box, (page,)),
                                    (check_looks, (page,))):
                expect.current = what.__doc__
                what(*arguments)
            check_quiet(page, html)
    return 1 if expect.failures else 0


sys.exit(main())
