"""The heat map of ranks."""

import csv

from expect import close, equal, fail
from other_formats import OUTSIDE
from profile_page import ROWS, number, show


def check_ranks(page, profile):
    """the heat map has the figures of --by rank"""
    expected = {}
    for row in csv.DictReader(profile.run('-f', 'csv', '--by', 'rank')
                              .decode().splitlines()):
        if row['function'] != OUTSIDE:
            expected[row['function']] = [
                int(row['self_min_ns']), int(row['self_mean_ns']),
                int(row['self_max_ns']), int(row['self_max_rank'])]
    show(page, 'ranks')
    actual = {}
    for row in page.eval(ROWS % '#ranks'):
        actual[row['name']] = [number(row['title'][i]) for i in range(3)] + [
            number(row['text'][4])]
    if len(actual) < 3:
        fail('few rows: %r' % actual)
    for name, figures in actual.items():
        # the page rounds the mean
        for i, figure in enumerate(figures):
            close(expected[name][i], figure, 1 if i == 1 else 0, name)
    cells = page.eval("""document.querySelector('#ranks .row .ranks i')
                      .style.background""")
    equal(4, cells.count('%') // 2, 'cells of ' + cells)
    spot = page.center('#ranks .row .ranks i')
    page.move(spot[0] + 1, spot[1])
    title = page.eval("document.querySelector('#ranks .row .ranks').title")
    if not title.startswith('rank 2: '):
        fail('under the mouse: %r' % title)
    page.click_on('#ranks [data-key=name] button')
    names = page.eval("swizzle.ranks.list.rows.map(row =>"
                      " swizzle.model.catalog.name[row.fn])")
    equal(sorted(names), names, 'sorted by name')
