#!/usr/bin/env python3
"""How long a page takes to open in headless Chromium, to draw and to scroll, and
what memory it has: bench.py PAGE"""

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

# ms from frame to frame while the window moves, at a zoom
SCROLL = '''(async () => {
    const {chart} = swizzle, frames = [];
    const frame = () => new Promise(requestAnimationFrame);
    chart.setWindow(0.3 * chart.extent(), (0.3 + %g) * chart.extent());
    await frame();
    let last = performance.now();
    for (let i = 0; i < 120; i++) {
        chart.pan(0.02);
        await frame();
        frames.push(performance.now() - last);
        last = performance.now();
    }
    return frames.sort((a, b) => a - b); })()'''


def renderer_bytes(page):
    """(of its own, resident) of the largest renderer of this browser"""
    children, most = {}, (0, 0)
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open('/proc/%s/stat' % pid) as file:
                parent = int(file.read().rsplit(')', 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(pid))
    todo = [page.process.pid]
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        try:
            with open('/proc/%d/smaps_rollup' % pid) as file:
                lines = dict(line.split(':') for line in
                             file.read().splitlines()[1:])
        except OSError:
            continue
        with open('/proc/%d/cmdline' % pid) as file:
            if '--type=renderer' in file.read():
                most = max(most, tuple(
                    1024 * int(lines[key].split()[0])
                    for key in ('Private_Dirty', 'Rss')))
    return most


def main():
    if not browser.find():
        sys.exit('needs chromium, which is not there')
    with browser.Browser(1440, 900) as page:
        def memory():
            page.call('HeapProfiler.collectGarbage')
            return '%.0f MB (resident %.0f MB)' % tuple(
                size / 1e6 for size in renderer_bytes(page))
        begin = time.monotonic()
        page.open(sys.argv[1])
        page.settle()
        opened = time.monotonic() - begin
        events = page.eval('swizzle.model.threads.reduce('
                           '(sum, thread) => sum + thread.events, 0)')
        print('%d events: first picture after %.2f s, memory %s' % (
            events, opened, memory()))
        print('a picture of all takes %.1f ms' % page.eval(
            TIMED % 'swizzle.chart.drawNow()'))
        for part in (1 / 3, 1e-2, 1e-3, 1e-4, 1e-6):
            frames = page.eval(SCROLL % part)
            page.settle()
            print('scrolling a window of %g: %.0f frames a second; of 120, '
                  '%d took more than 33 ms, the longest %.0f' % (
                      part, 1000 * len(frames) / sum(frames),
                      sum(frame > 33.4 for frame in frames), frames[-1]))
        print('memory then %s' % memory())
        page.key('0')
        begin = time.monotonic()
        page.key('r')
        print('counting all of it anew %.2f s, memory %s' % (
            time.monotonic() - begin, memory()))


main()
