"""Who calls whom: callers and callees beside the table, and the two trees."""

import collections
import os
import re

from expect import close, equal
from other_formats import OUTSIDE
from profile_page import (
    ROWS, choose, listed, number, search_for, show, unfold_all)


def check_neighbours(page, profile):
    """a click on a row shows callers and callees with the right figures"""
    edges = profile.edges()
    for name in ('twice', 'leaf', 'thrower', 'fib', 'call_names'):
        choose(page, name)
        equal(name, page.eval("document.querySelector('#details h3')"
                              ".textContent"), 'chosen')
        callers = {caller: to[name] for caller, to in edges.items()
                   if name in to}
        equal({n: v for n, v in callers.items()}, listed(page, '#callers'),
              'callers of ' + name)
        equal(dict(edges[name]), listed(page, '#callees'),
              'callees of ' + name)
    choose(page, 'leaf')
    page.click_on('#callers .row')
    chosen = page.eval("document.querySelector('#details h3').textContent")
    times = {caller: to['leaf'][1] for caller, to in edges.items()
             if 'leaf' in to}
    # two may have the same time
    equal(max(times.values()), times.get(chosen),
          'the time of the caller that was clicked, ' + chosen)


def check_lines(page, profile):
    """calls are shown at their source lines"""
    source = open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               '../../targets/pages.cc')).read().splitlines()
    here = [1 + number for number, line in enumerate(source)
            if 'leaf(n)' in line or 'leaf(n + 1)' in line]
    choose(page, 'leaf')
    titles = page.eval("[...document.querySelectorAll('#callers .place')]"
                       ".map(place => place.title).join('\\n')")
    lines = {int(line) for line in re.findall(r'pages\.cc:(\d+)', titles)}
    # the definition of leaf() itself has no call
    equal({line for line in here if 'int leaf' not in source[line - 1]},
          lines, 'lines that call leaf')


def check_many_children(page, profile):
    """a function may call more others than a call has room for arguments"""
    rows = page.eval('''(() => {
        const {down} = swizzle, {source} = down;
        const many = new Array(200000).fill(1);
        down.source = {...source, hasChildren: item => item === 0,
            children: () => many};
        down.update();
        down.fold(0);
        down.unfold(0);
        const {rows} = down.list;
        down.source = source;
        down.update();
        return [rows.length, rows[0].level, rows[200000].level]; })()''')
    equal([200001, 0, 1], rows, 'rows of a tree, first and last level')


def check_down(page, profile):
    """the top-down tree has each function's calls and self time"""
    show(page, 'down')
    rows = page.eval(ROWS % '#down')
    equal('all threads', rows[0]['name'], 'root')
    # unfolded by a click
    at = [row['name'].split()[0] for row in rows].index('left')
    equal(['all threads', 'left'], [rows[0]['name'], rows[at]['name'].split()[0]],
          'rows')
    page.eval('swizzle.down.list.reveal(%d)' % at)
    page.settle()
    page.click_on('#down .row[data-index="%d"] .fold' % at)
    after = page.eval(ROWS % '#down')
    equal([rows[at]['level'] + 1, 'left'],
          [after[at + 1]['level'], after[at + 1]['name']], 'what is inside')
    unfold_all(page, 'down')
    sums = collections.defaultdict(lambda: [0, 0])
    for row in page.eval(ROWS % '#down'):
        sums[row['name']][0] += number(row['text'][3])
        sums[row['name']][1] += number(row['title'][2])
    for (name, _), row in profile.table().items():
        if name in (OUTSIDE, ) or name.startswith('sub_'):
            continue
        equal(row[0], sums[name][0], 'calls of ' + name)
        # each context's time is rounded by itself
        close(row[1], sums[name][1], 50, 'self time of ' + name)
    total = sum(row[1] for row in profile.table().values())
    close(total, sum(value[1] for value in sums.values()), 0, 'all self time')


def check_up(page, profile):
    """the bottom-up tree divides a function's calls among its callers"""
    show(page, 'up')
    edges = profile.edges()
    for name in ('leaf', 'twice', 'fib'):
        search_for(page, name)
        at = [row['name'] for row in page.eval(ROWS % '#up')].index(name)
        page.eval('swizzle.up.list.reveal(%d)' % at)
        page.settle()
        page.click_on('#up .row[data-index="%d"] .fold' % at)
        rows = page.eval(ROWS % '#up')[at:]
        callers = {}
        for row in rows[1:]:
            if row['level'] == 0:
                break
            if row['level'] == 1:
                callers[row['name']] = number(row['text'][2])
        equal({caller: to[name][0] for caller, to in edges.items()
               if name in to}, callers, 'callers of ' + name)
        page.key('Escape')
