#!/usr/bin/env python3
"""Takes the pictures of the documentation: screenshots.py TRACE-PAGE PROFILE-PAGE
DIRECTORY. The trace is one of python3 with four threads beside the first, the
profile one of swizzle-dump."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402


def choose(page, name):
    page.key('/')
    page.type(name)
    page.key('Enter')
    page.settle()
    page.key('Escape')


def timeline(page):
    """Four threads, one of them unfolded, and a range of time."""
    page.click_on('[data-thread="0"]')
    page.eval("""(() => {
        const {chart, model} = swizzle;
        document.querySelector('#main').style.setProperty('--upper', '66%');
        const lanes = chart.lanes();
        const from = Math.min(...lanes.map(lane => lane.start));
        const to = Math.max(...lanes.map(lane => lane.end));
        chart.foldAll(true);
        const flat = lanes.reduce((a, b) =>
            a.trace.deepest <= b.trace.deepest ? a : b);
        chart.folded.delete(flat.index);
        swizzle.select(model.catalog.name.indexOf('_PyEval_EvalFrameDefault'));
        chart.setWindow(from - model.first, to - model.first);
        const span = chart.span();
        chart.choose(chart.from + 0.07 * span, chart.from + 0.62 * span, true);
        })()""")


def flame(page):
    """A function that was found, with its callers and callees."""
    page.eval("swizzle.select(swizzle.model.catalog.name.indexOf("
              "'swz_html_put_events'))")


def main():
    trace, profile, directory = sys.argv[1:]
    for path, name, dark, prepare in (
            (trace, 'html-timeline.png', True, timeline),
            (profile, 'html-flame.png', False, flame)):
        with browser.Browser(1360, 900, dark=dark) as page:
            page.open(path)
            page.settle()
            prepare(page)
            page.settle()
            page.screenshot(os.path.join(directory, name))


main()
