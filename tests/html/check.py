#!/usr/bin/env python3
"""Opens pages of `swizzle-dump -f html` in headless Chromium, works with them
as a person does, and compares what they show with the other formats.

    check.py DUMP PROFILE [--OPTION...] WHAT... [: PROFILE ...]

with WHAT one of the functions check_WHAT() in checks/, and OPTIONs for all that
DUMP makes. What follows a colon is another page, in the same browser.
Prints what is wrong; exits 1 then."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from checks import (  # noqa: E402
    access, callers, graphs, large_traces, names, notes, ranges, ranks, reader,
    slow, sources, tables, timeline)
from expect import equal, fail  # noqa: E402
from other_formats import Profile  # noqa: E402
from profile_page import check_quiet  # noqa: E402

CHECKS = {name[len('check_'):]: check
          for module in (access, callers, graphs, large_traces, names, notes,
                         ranges, ranks, reader, slow, sources, tables, timeline)
          for name, check in vars(module).items() if name.startswith('check_')}


def check_one_list(page):
    """of the lists one can be seen"""
    names = ('functions', 'down', 'up', 'ranks', 'source', 'notes')
    shown = [name for name in names
             if page.eval("document.querySelector('#%s').offsetHeight > 0"
                          % name)]
    equal([page.eval('swizzle.listName')], shown, 'lists that can be seen')


def check_page(page, directory, dump, path, words):
    """one page"""
    options = [word for word in words if word.startswith('--')]
    profile = Profile(dump, path, options)
    html = profile.page(directory)
    page.requests.clear()
    page.complaints.clear()
    words = words[len(options):]
    # as if the trace were too large to be read at once
    large = words[0] == 'large' and page.before('window.swizzleEager = 0;')
    page.open(html)
    if large:
        page.take_back(large)
        words = words[1:]
        equal(True, page.eval('swizzle.model.threads.some(({trace}) =>'
                              ' trace && trace.large)'), 'large traces')
    told = time.monotonic()

    def tell(what):
        nonlocal told
        now, begun = time.monotonic(), told
        told = now
        if os.environ.get('TEST_TIMES'):
            print('%6d ms  %s of %s' % ((now - begun) * 1000, what, path),
                  file=sys.stderr)

    for what in words:
        check = CHECKS[what]
        expect.current = '%s %s, %s' % (os.path.basename(path),
                                        ' '.join(options),
                                        check.__doc__.splitlines()[0])
        try:
            check(page, profile)
        except (browser.Error, IndexError, KeyError) as error:
            fail('%s: %s' % (type(error).__name__, error))
        tell(what)
    expect.current = '%s, %s' % (os.path.basename(path), check_one_list.__doc__)
    check_one_list(page)
    expect.current = check_quiet.__doc__
    check_quiet(page, html)


def main():
    dump, words = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as directory:
        with browser.Browser() as page:
            while words:
                end = words.index(':') if ':' in words else len(words)
                check_page(page, directory, dump, words[0], words[1:end])
                words = words[end + 1:]
    return 1 if expect.failures else 0


if __name__ == '__main__':
    sys.exit(main())
