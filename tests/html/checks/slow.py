"""Slow calls that were kept (--slow): why each was slow, as --why says it."""

import json
import re
import shlex
import subprocess

from expect import close, equal, fail
from profile_page import choose, number

# [time, text] of each cause
CAUSES = """[...document.querySelectorAll('.why-causes .why-cause')].map(row =>
    [row.querySelector('.why-share').textContent,
     row.querySelector('.why-text').firstChild.textContent])"""

# [function, share of the width, row, kind, numbers of causes] of each box
BOXES = """[...document.querySelectorAll('%s .why-box')].map(box => [
    box.querySelector('span').textContent, parseFloat(box.style.width) / 100,
    parseFloat(box.style.top) / 18,
    ['more', 'same', 'gone'].find(kind => box.classList.contains(kind)),
    [...box.querySelectorAll('.why-number')].map(each => Number(each.textContent))])"""


def path_of(tree, at):
    path = []
    while at is not None:
        path.append(tree[at]['function'])
        at = tree[at]['parent']
    return tuple(reversed(path))


def check_tree(page, selector, call, others, causes, extra):
    """the boxes of a call are those of its tree; others: the other call's nodes"""
    tree = call['tree']
    wanted = []
    for at, node in enumerate(tree):
        path = path_of(tree, at)
        share = node['ns'] / call['ns']
        other = others.get(path)
        if causes is None:
            more = other and other['ns'] - node['ns'] >= extra / 100
            kind = 'gone' if not other else 'more' if more else 'same'
        else:
            more = node['ns'] - (other['ns'] if other else 0)
            kind = 'more' if more >= extra / 100 else 'same'
        if share >= 0.003:
            wanted.append((node['function'], len(path) - 1, kind,
                           [] if causes is None else
                           [i + 1 for i, cause in enumerate(causes)
                            if cause.get('node') == at]))
    shown = page.eval(BOXES % selector)
    equal(sorted(wanted), sorted((name, row, kind, numbers)
                                 for name, share, row, kind, numbers in shown
                                 if share >= 0.003), 'boxes of ' + selector)
    equal([1.0], [share for _, share, row, *_ in shown if row == 0], 'the call')


def check_why(page, profile, why):
    """one call"""
    extra = why['extra_ns']
    causes = [cause for cause in why['causes']
              if cause['extra_ns'] >= extra // 100][:8]
    shown = page.eval(CAUSES)
    equal([cause['text'].replace(' us', ' \u00b5s') for cause in causes],
          [text for _, text in shown], 'causes')
    for (share, _), cause in zip(shown, causes):
        close(100 * cause['extra_ns'] / extra,
              float(share.replace('\u202f%', '')), 0.06 if '.' in share else 0.6,
              'share')
    slow, ordinary = why['slow'], why['ordinary']
    nodes = [{path_of(call['tree'], at): node
              for at, node in enumerate(call['tree'])}
             for call in (slow, ordinary)]
    check_tree(page, '#why-slow', slow, nodes[1], causes, extra)
    check_tree(page, '#why-ordinary', ordinary, nodes[0], None, extra)
    # the command shows the same
    command = shlex.split(page.eval(
        "document.querySelector('.why-command code').textContent"))
    equal('swizzle-dump', command[0], 'command')
    text = subprocess.run([profile.dump, '-q', *command[1:]], check=True,
                          stdout=subprocess.PIPE, timeout=120).stdout.decode()
    for cause in causes:
        equal(True, cause['text'] in text, 'on the terminal: ' + cause['text'])


def check_explained(page, profile):
    """a slow call of the details leads to what made it slow"""
    choose(page, 'handle')
    buttons = page.eval("[...document.querySelectorAll('.slowest button')]"
                        ".map(button => button.title)")
    equal(5, len(buttons), 'slow calls')
    page.click_on('.slowest button:nth-of-type(2)')
    page.wait("!document.querySelector('#why').hidden")
    calls = page.eval("document.querySelectorAll('.why-others button').length")
    equal(True, calls >= 15, '%d calls' % calls)
    found = set()
    for call in range(1, calls + 1):
        page.eval("document.querySelectorAll('.why-others button')[%d].click()"
                  % (call - 1))
        page.settle()
        equal('%d:handle' % call, page.eval('swizzle.why.key'), 'call')
        why = json.loads(profile.run('--why', 'handle', '--json', '--call',
                                     str(call)))
        check_why(page, profile, why)
        found |= {(cause['cause'], cause.get('function'))
                  for cause in why['causes']
                  if cause['extra_ns'] > why['extra_ns'] / 5}
    for wanted in (('ran longer', 'compute'), ('went round more often', 'search')):
        equal(True, wanted in found, '%s of %s' % wanted)


def check_explained_places(page, profile):
    """the view of a slow call fits, zooms, leads to the timeline, and is closed"""
    choose(page, 'handle')
    for width, beside in ((400, False), (1024, True), (1920, True)):
        page.resize(width, 900)
        for dark in (False, True):
            page.dark(dark)
            page.eval('swizzle.why.showKey("1:handle")')
            page.settle()
            equal(0, page.eval(
                "[...document.querySelectorAll('#why, #why *')].filter(each =>"
                " each.getBoundingClientRect().right > innerWidth + 1).length"),
                  'what is cut off at %d' % width)
            tops = page.eval("[...document.querySelectorAll('#why figure')]"
                             ".map(each => each.getBoundingClientRect().top)")
            equal([2, beside], [len(tops), tops[0] == tops[-1]],
                  'flame graphs beside each other at %d' % width)
            equal([True], page.eval(
                "[...new Set([...document.querySelectorAll('body > header, main')]"
                ".map(each => each.inert))]"),
                  'what is behind it')
    page.dark(False)
    page.resize(1280, 800)
    # to the first cause, and back
    page.click_on('.why-causes button')
    page.settle()
    node = page.eval('swizzle.why.zoomed')
    equal(True, node > 0, 'zoomed to a cause')
    equal(1, page.eval(BOXES % '#why-slow')[0][1], 'width of what is around')
    page.click_on('#why-slow .why-box')
    page.settle()
    equal(0, page.eval('swizzle.why.zoomed'), 'zoomed back')
    # the address brings it back
    hash_ = page.eval('location.hash')
    equal(True, 'why=1%3Ahandle' in hash_, hash_)
    page.key('Escape')
    page.settle()
    equal([True, False], page.eval(
        "[document.querySelector('#why').hidden,"
        " document.querySelector('main').inert]"), 'after Escape')
    page.eval('history.back()')
    page.wait("!document.querySelector('#why').hidden")
    at = page.eval("document.querySelector('#why figcaption .dim').textContent")
    start = float(re.search(r'at ([\d.]+) s', at)[1]) * 1e9
    page.click_on('#why figcaption button')
    page.wait("document.querySelector('#why').hidden &&"
              " swizzle.chartName === 'timeline'")
    page.settle()
    low, high = page.eval('[swizzle.chart.from + swizzle.model.first,'
                          ' swizzle.chart.to + swizzle.model.first]')
    if not low <= start <= high:
        fail('the timeline shows %d to %d, not %d' % (low, high, start))
    # a function of which none was kept leads to the timeline itself
    choose(page, 'compute')
    page.click_on('.slowest button')
    page.settle()
    equal(True, page.eval("document.querySelector('#why').hidden"),
          'no view of compute')
    equal(True, number(page.eval("document.querySelector('.slowest button')"
                                 ".textContent")) > 0, 'slowest of compute')
