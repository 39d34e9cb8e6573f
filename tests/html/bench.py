#!/usr/bin/env python3
"""How long a page takes to open in headless Chromium, and to draw, and what
memory it has: bench.py PAGE"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

TIMED = '''(() => {
    const begin = performance.now();
    %s;
    return performance.now() - begin;
    })()'''


def main():
    if not browser.find():
        sys.exit('needs chromium, which is not there')
    with browser.Browser(1440, 900) as page:
        begin = time.monotonic()
        page.open(sys.argv[1])
        page.settle()
        opened = time.monotonic() - begin
        events = page.eval('swizzle.model.threads.reduce('
                           '(sum, thread) => sum + thread.events, 0)')
        print('%d events: first picture after %.2f s, %.0f MB of memory' % (
            events, opened, page.heap() / 1e6))
        print('a picture of all takes %.1f ms' % page.eval(
            TIMED % 'swizzle.chart.drawNow()'))
        print('counting all of it anew %.0f ms' % page.eval(
            TIMED % 'swizzle.command({key: "r", target: document.body})'))


main()
