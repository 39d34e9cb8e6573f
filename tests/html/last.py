#!/usr/bin/env python3
"""Opens the page of a profile that is no trace in headless Chromium, and compares
the last arguments and results of a function with -f json.

    last.py DUMP PROFILE FUNCTION

Prints what is wrong; exits 1 then."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import expect  # noqa: E402
from expect import equal  # noqa: E402
from profile_page import check_quiet, choose  # noqa: E402

dump, profile, function = sys.argv[1:]

SHOWN = '''[...document.querySelectorAll('#details .last table')].map(table =>
    [table.querySelector('caption').textContent, [...table.querySelectorAll(
        'tbody tr')].map(row => [...row.children].map(cell => cell.textContent))])'''


def between(value):
    low, high = value.get('low'), value.get('high')
    return '' if low is None else low if low == high else f'{low} to {high}'


def expected(part):
    """[caption, rows] of each context"""
    for context in part['values']:
        *callers, name = context['path']
        if name != function:
            continue
        calls = context['calls']
        caption = '%d call%s' % (calls, '' if calls == 1 else 's')
        if callers:
            caption += ', from ' + ' < '.join(reversed(callers))
        rows = [[value['name'] if value in context['arguments'] or
                 value['name'].startswith('*') else '=', value.get('last', '–'),
                 between(value)]
                for value in context['arguments'] + context['results']]
        yield [caption, rows]


def main():
    part, = json.loads(subprocess.run(
        [dump, '-q', '-f', 'json', '-o', '-', profile], stdout=subprocess.PIPE,
        timeout=120, check=True).stdout)['parts']
    with tempfile.TemporaryDirectory() as directory:
        html = os.path.join(directory, 'page.html')
        subprocess.run([dump, '-q', '-f', 'html', '-o', html, profile],
                       timeout=120, check=True)
        with browser.Browser(1400, 900) as page:
            page.open(html)
            page.settle()
            expect.current = 'last values'
            choose(page, function)
            equal(sorted(expected(part)), sorted(page.eval(SHOWN)), function)
            choose(page, '[outside]')
            equal([], page.eval(SHOWN), 'values of [outside]')
            check_quiet(page, html)
    return 1 if expect.failures else 0


sys.exit(main())
