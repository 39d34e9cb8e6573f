"""For readers with narrow windows, screen readers and keyboards."""

import collections
import re

from checks.tables import same_tables
from expect import equal, fail
from profile_page import (
    choose, in_window, listed, page_table, show, unfold_all)


def name_room(page, selector):
    """How many letters of a name a list has room for."""
    return page.eval("document.querySelector('%s [data-key=name]')"
                     ".clientWidth / swizzle.letter" % selector)


def headings(page):
    """of the columns that have room"""
    return page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                     ".filter(cell => cell.offsetWidth).map(cell =>"
                     " cell.textContent)")


def check_widths(page, profile):
    """names have room, and everything can be reached, in a narrow window, too"""
    show(page, 'functions')
    choose(page, 'leaf')
    equal(True, name_room(page, '#functions') >= 28, 'room for names')
    equal(True, name_room(page, '#callers') >= 18, 'room for callers')
    page.drag(*page.center('#splitter-details'), 500, 600)
    equal(True, name_room(page, '#callers') >= 40, 'room after a drag')
    equal(True, name_room(page, '#functions') >= 16, 'names before figures')
    equal(['Self', 'Inclusive', 'Function'], headings(page), 'what stays')
    page.drag(*page.center('#splitter-details'), 927, 600)
    equal(True, len(headings(page)) >= 8, 'headings, wide again')
    page.resize(800, 600)
    page.settle()
    equal(800, page.eval('document.documentElement.scrollWidth'), 'width')
    equal(True, name_room(page, '#functions') >= 28, 'room in 800 pixels')
    for selector in ('#total', '#calls', '#warnings', '#query', '#help-open',
                     '[data-list=notes]', '[data-list=details]'):
        equal(True, in_window(page, selector), selector + ' is in the window')
    edges = profile.edges()
    page.click_on('[data-list=details]')
    equal({caller: to['leaf'] for caller, to in edges.items() if 'leaf' in to},
          listed(page, '#callers'), 'callers in a narrow window')
    equal(False, in_window(page, '#functions'), 'the table lies below it')
    show(page, 'functions')
    calls = sum(row[0] for row in page_table(page).values())
    equal(False, in_window(page, '#threads'), 'threads before the click')
    page.click_on('#side-open')
    equal(True, in_window(page, '#threads'), 'threads after it')
    page.click_on('[data-thread="1"]')
    equal(True, sum(row[0] for row in page_table(page).values()) < calls,
          'without a thread')
    page.click_on('[data-thread="1"]')
    page.key('Escape')
    equal(False, in_window(page, '#threads'), 'threads after Esc')
    # as narrow as a telephone: nothing is cut off, nor lies over other things
    page.resize(400, 800)
    page.settle()
    equal(400, page.eval('document.documentElement.scrollWidth'), 'width')
    for selector in ('#total', '#calls', '#warnings', '#query', '#theme',
                     '#help-open', '#zoom-reset', '[data-chart=sandwich]',
                     '[data-list=notes]', '[data-list=details]'):
        equal(True, in_window(page, selector), selector + ' at 400 pixels')
    for name in ('functions', 'down', 'up'):
        show(page, name)
        equal(True, name_room(page, '#' + name) >= 20, name + ' at 400 pixels')
        equal(0, page.eval('''(() => {
            const grid = document.querySelector('#%s .grid');
            return grid.scrollWidth - grid.clientWidth; })()''' % name),
              'pixels that are cut off ' + name)
    page.click_on('[data-list=details]')
    page.resize(1280, 800)
    page.settle()
    equal(True, in_window(page, '#functions'), 'the table, wide again')
    equal(True, in_window(page, '#callers'), 'callers beside it')
    same_tables(profile.table(), page_table(page), 'table, wide again')


def check_figures_fit(page, profile):
    """no figure is cut off where there are many calls"""
    page.click_on('#functions .row[data-index="0"]')
    for name in ('functions', 'down', 'up'):
        show(page, name)
        cut = page.eval('''[...document.querySelectorAll(
            '#%s .row .cell.right, #details .row .cell.right')].filter(cell =>
            cell.scrollWidth > cell.clientWidth).map(cell =>
            cell.textContent)''' % name)
        equal([], cut, 'figures cut off, ' + name)
    equal(True, page.eval('swizzle.model.mostCalls') > 1e6, 'many calls')
    show(page, 'functions')


def luminance(colour):
    """WCAG 2, of #rrggbb"""
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else
                        ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


TEXTS = ('text', 'dim', 'slower', 'faster', 'bad', 'good', 'warn', 'found-text')
BACKS = ('back', 'raised', 'hover', 'chosen')


def check_contrast(page, profile):
    """texts can be read on all that they stand on, as WCAG 2 AA wants it"""
    for dark in (False, True):
        page.dark(dark)
        colour = {name: page.eval(
            "getComputedStyle(document.documentElement)"
            ".getPropertyValue('--%s').trim()" % name)
            for name in TEXTS + BACKS + ('bar', 'bar2', 'accent', 'warn-back')}
        pairs = [(text, back) for text in TEXTS for back in BACKS]
        # shares lie behind figures, which may be within the noise
        pairs += [(text, bar) for text in ('text', 'dim')
                  for bar in ('bar', 'bar2')]
        pairs += [('accent', back) for back in ('back', 'raised', 'hover')]
        pairs.append(('warn', 'warn-back'))
        for text, back in pairs:
            equal(True, contrast(colour[text], colour[back]) >= 4.5,
                  '%s on %s, dark %s: %.2f' % (text, back, dark, contrast(
                      colour[text], colour[back])))
    page.dark(False)


NAMED = ('button', 'tab', 'tabpanel', 'checkbox', 'combobox', 'searchbox',
         'textbox', 'grid', 'treegrid', 'separator', 'application', 'dialog',
         'columnheader', 'region', 'complementary', 'group', 'tablist')


def check_roles(page, profile):
    """a screen reader is told what everything is"""
    show(page, 'functions')
    for chart in ('flame', 'inverted', 'sandwich'):
        page.click_on('[data-chart=%s]' % chart)
        equal(True, ('application', chart.replace('flame', 'flame graph')
                     .capitalize()) in [node[:2] for node in page.accessible()],
              'the chart %s by name' % chart)
    choose(page, 'leaf')
    tree = page.accessible()
    for role, name, _ in tree:
        if role in NAMED and not name.strip():
            fail('a %s without a name' % role)
    by_role = collections.defaultdict(list)
    for role, name, about in tree:
        by_role[role].append((name, about))
    equal({'Charts', 'Lists'}, {name for name, _ in by_role['tablist']},
          'lists of tabs')
    chosen = [name for name, about in by_role['tab'] if about.get('selected')]
    equal(['Sandwich', 'Functions'], chosen, 'tabs that are chosen')
    equal({'Functions', 'Callers', 'Callees'},
          {name for name, _ in by_role['grid']}, 'tables')
    heads = [name for name, _ in by_role['columnheader']]
    for name in ('Calls', 'Self', 'Share of self time', 'Inclusive',
                 'Function'):
        equal(True, name in heads, 'heading ' + name)
    equal(True, len(by_role['row']) > 10, 'rows')
    equal(3, len([name for name, _ in by_role['checkbox']
                  if re.search(r'\d+', name)]), 'threads to choose from')
    equal({'Height of the chart', 'Width of the lists'},
          {name for name, _ in by_role['separator']}, 'bars')
    equal([(1, page.eval("document.querySelector('#command').textContent"))],
          [(about.get('level'), name) for name, about in by_role['heading']
           if about.get('level') == 1], 'the heading of the page')
    # what scrolls can have the focus, so that keys scroll it
    show(page, 'up')
    scrolling = page.eval('''[...document.querySelectorAll('*')].filter(it =>
        it.scrollHeight > it.clientHeight + 1 && it.offsetParent &&
        getComputedStyle(it).overflowY === 'auto')
        .map(it => [it.className || it.id, it.tabIndex >= 0 ||
            Boolean(it.querySelector('button, input, select'))])''')
    equal(True, ['grid', True] in scrolling, 'lists scroll: %r' % scrolling)
    equal([], [name for name, reached in scrolling if not reached],
          'what scrolls and has no focus')
    show(page, 'down')
    unfold_all(page, 'down')
    page.eval('swizzle.down.fold(1)')
    tree = page.accessible()
    equal(['Top-down'], [name for role, name, _ in tree
                         if role == 'treegrid'], 'tree')
    levels = {about.get('level') for role, _, about in tree if role == 'row'}
    equal(True, {1, 2, 3} <= levels, 'levels %r' % levels)
    opened = {about.get('expanded') for role, _, about in tree
              if role == 'row'}
    equal(True, {True, False} <= opened, 'open and folded rows')
    page.key('Escape')
    page.click_on('[data-chart=flame]')
    show(page, 'functions')


FOCUSED = """(() => {
    const it = document.activeElement;
    return it.id || it.dataset.thread && 'thread ' + it.dataset.thread ||
        it.getAttribute('aria-label') || it.textContent.trim(); })()"""


def tab_to(page, name):
    """Until something has the focus."""
    for _ in range(80):
        if page.eval(FOCUSED) == name:
            return True
        page.key('Tab')
    fail('Tab does not lead to %s' % name)
    return False


def check_keyboard(page, profile):
    """everything can be done without a mouse"""
    show(page, 'functions')
    page.click_on('[data-chart=flame]')
    page.key('0')
    choose(page, 'leaf')
    wanted = set(page.eval("""[...document.querySelectorAll(
        'button, input, select, [tabindex="0"]')].filter(it =>
        it.offsetParent && !it.disabled && it.tabIndex >= 0).map(it => {
            it.focus();
            return %s; })""" % FOCUSED))
    equal(True, len(wanted) > 20, 'there are controls: %r' % wanted)
    page.eval('document.activeElement.blur()')
    seen = set()
    for _ in range(80):
        page.key('Tab')
        seen.add(page.eval(FOCUSED))
    equal(set(), wanted - seen, 'what Tab does not lead to')
    # tabs by arrows
    page.eval("document.querySelector('#tab-flame').focus()")
    page.key('ArrowRight')
    equal('inverted', page.eval('swizzle.chartName'), 'chart after →')
    equal('tab-inverted', page.eval(FOCUSED), 'focus after →')
    page.key('ArrowLeft')
    equal('flame', page.eval('swizzle.chartName'), 'chart after ←')
    # boxes by arrows
    if tab_to(page, 'chart'):
        page.key('ArrowDown')
        before = page.eval("document.querySelector('#live').textContent")
        for _ in range(3):
            page.key('ArrowDown')
        after = page.eval("document.querySelector('#live').textContent")
        equal(True, before != after and ', ' in after, 'told: ' + after)
        page.key('Enter')
        name = page.eval("document.querySelector('#details h3').textContent")
        equal(name, after.split(', ')[0], 'the box of Enter')
    # rows by arrows
    if tab_to(page, 'Functions'):
        for key in ('Home', 'ArrowDown', 'ArrowDown'):
            page.key(key)
        rows = page.eval('swizzle.table.list.rows')
        equal(rows[2], page.eval('swizzle.model.selected'), 'third row')
        active = page.eval("document.getElementById(document.activeElement"
                           ".getAttribute('aria-activedescendant'))"
                           ".dataset.index")
        equal('2', active, 'the active row')
        page.key('End')
        equal(rows[-1], page.eval('swizzle.model.selected'), 'last row')
    choose(page, 'leaf')
    if tab_to(page, 'Callers'):
        page.key('ArrowDown')
        wanted = page.eval("document.querySelector('#callers .row.active "
                           ".name').title.split('\\n')[0]")
        page.key('Enter')
        equal(wanted, page.eval("document.querySelector('#details h3')"
                                ".textContent"), 'the caller of Enter')
    # a heading sorts, a thread goes, a bar moves
    if tab_to(page, 'Calls'):
        page.key('Enter')
        equal('calls', page.eval('swizzle.table.sort'), 'sorted')
        page.eval("swizzle.table.setSort('self', false)")
    if tab_to(page, 'splitter'):
        height = page.eval("document.querySelector('#stage').clientHeight")
        page.key('ArrowDown')
        equal(True, page.eval("document.querySelector('#stage')"
                              ".clientHeight") > height, 'a higher chart')
        page.key('ArrowUp')
    if tab_to(page, 'theme'):
        page.key('?')
        equal('help', page.eval(FOCUSED), 'focus in the help')
        for _ in range(3):
            page.key('Tab')
            equal(False, page.eval('document.activeElement.closest('
                                   '"main, header") !== null'),
                  'the focus left the help')
        page.key('Escape')
        equal('theme', page.eval(FOCUSED), 'focus after it')
    show(page, 'down')
    page.eval("document.querySelector('#down .grid').focus()")
    page.key('Home')
    count = page.eval('swizzle.down.list.rows.length')
    page.key('ArrowLeft')
    equal(1, page.eval('swizzle.down.list.rows.length'), 'rows after ←')
    page.key('ArrowRight')
    equal(True, 1 < page.eval('swizzle.down.list.rows.length') <= count,
          'rows after →')
    show(page, 'functions')
    page.key('Escape')
