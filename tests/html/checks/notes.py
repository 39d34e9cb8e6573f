"""What the profile could not see, estimates, and whose it is."""

import json
import re

from checks.tables import check_table
from expect import close, equal, fail
from profile_page import ROWS, number, show, unfold_all


def check_notes(page, profile):
    """what the profile could not see is told"""
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    info = profile.info()
    for line in info[info.index('module  '):].splitlines():
        reason = re.match(r'    (.*?)  +(\d+)$', line)
        if reason and not re.search(re.escape(reason[1]) + r'\s+' + reason[2],
                                    text):
            fail('not told: ' + line.strip())
    left = re.search(r'not in scope: (.*)', info)
    if left and left[1] not in text:
        fail('not told: ' + left[0])
    order = page.eval("[...document.querySelectorAll('#notes [data-importance]')]"
                      ".map(item => Number(item.dataset.importance))")
    equal(sorted(order), order, 'notes by importance')
    equal(True, len(order) > 2, '%d notes' % len(order))
    show(page, 'functions')


def check_folded(page, profile):
    """contexts that were folded are told of, and counted"""
    check_table(page, profile)
    info = profile.info()
    folded = re.search(r'^folded calls: (\d+)', info, re.M)[1]
    equal(True, int(folded) > 0, 'some calls are folded')
    page.click_on('#warnings')
    text = page.eval("document.querySelector('#notes').innerText")
    sentence = re.search(r'([\d\u202f]+) calls? (has|have) no exact context',
                         text)
    if not sentence:
        fail('not told')
    else:
        equal(int(folded), number(sentence[1]), 'folded calls')


def check_counting(page, profile):
    """what counting took is told as json has it"""
    joined = json.loads(profile.run('-f', 'json'))['parts'][0]['joined']
    equal([joined['counting_ns'], joined['unsure_counting_ns']],
          page.eval('[swizzle.model.description.countingNs,'
                    ' swizzle.model.description.unsureCountingNs]'), 'counting')
    show(page, 'notes')
    equal(True, joined['counting_ns'] > 0, 'there is some')
    equal(True, 'went into counting calls' in
          page.eval("document.querySelector('#notes').innerText"), 'told')
    show(page, 'functions')


def check_merged(page, profile):
    """several processes are one page, no wider than the window"""
    check_table(page, profile)
    about = page.eval("document.querySelector('#command').textContent")
    if 'and 1 other process' not in about:
        fail('no other process in %r' % about)
    wide, room = page.eval('[document.documentElement.scrollWidth,'
                           ' innerWidth]')
    equal(room, max(wide, room), 'width')
    right = page.eval("document.querySelector('#help-open')"
                      ".getBoundingClientRect().right")
    equal(True, right <= room, 'the header fits')
    # threads are below their process, whose box takes all of them
    boxes = ('[...document.querySelectorAll("#threads [data-thread]")]'
             '.map(box => box.checked)')
    counts = page.eval('swizzle.model.profiles.map((_, i) => swizzle.model.threads'
                       '.filter(({profile}) => profile === i).length)')
    several = [i for i, count in enumerate(counts) if count > 1]
    equal(True, len(several) > 0, 'a process with threads: %s' % counts)
    equal(several, page.eval('[...document.querySelectorAll("#threads summary'
                             ' [data-process]")].map(box =>'
                             ' Number(box.dataset.process))'), 'processes')
    total = page.eval('swizzle.model.total')
    page.click_on('[data-process="%d"]' % several[0])
    equal(counts[several[0]], page.eval(boxes).count(False), 'threads left out')
    equal(True, page.eval('swizzle.model.total') < total, 'less time counts')
    page.click_on('#threads .threads [data-thread]')
    equal(True, page.eval('document.querySelector("[data-process=\\"%d\\"]")'
                          '.indeterminate' % several[0]), 'some of its threads')
    page.click_on('[data-process="%d"]' % several[0])
    equal(total, page.eval('swizzle.model.total'), 'all counts again')


def check_sampled(page, profile):
    """estimates have their standard error"""
    errors = {}
    for line in profile.run('-f', 'text').decode().splitlines():
        parts = line.split()
        if line.startswith('#') or not parts[0].isdigit():
            continue
        errors[parts[4]] = int(parts[3])
    shown = {}
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.dataset.key)")
    for row in page.eval(ROWS % '#functions'):
        shown[row['name']] = number(row['title'][heads.index('error')])
    equal(set(errors), set(shown), 'functions')
    for name, error in errors.items():
        close(error, shown.get(name, 0), 1, 'standard error of ' + name)
    if not any(errors.values()):
        fail('no function has a standard error')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    if 'estimates' not in text:
        fail('not told that times are estimates')


def check_samples(page, profile):
    """samples are not called calls, and have no mean"""
    check_table(page, profile)
    heads = page.eval("[...document.querySelectorAll('#functions .head .cell')]"
                      ".map(cell => cell.textContent)")
    equal(['Samples', 'Self', '±', '%', 'Inclusive', '%'], heads[:6], 'columns')
    ns, count, _ = profile.total()
    taken = int(re.search(r'^samples: (\d+)', profile.info(), re.M)[1])
    equal(True, taken > 20, '%d samples' % taken)
    equal(taken, number(page.eval(
        "document.querySelector('#calls').textContent")), 'samples')
    equal(ns, number(page.eval("document.querySelector('#total').title")),
          'total')
    for selector in ('#top', '#lists', '#side'):
        text = page.eval("document.querySelector('%s').innerText" % selector)
        if re.search(r'\bcalls?\b|hooks|Mean', text):
            fail('calls, hooks or means in %s: %r' % (selector, text))
    # all samples lie in some context
    show(page, 'down')
    unfold_all(page, 'down')
    rows = page.eval(ROWS % '#down')
    equal(taken, sum(number(row['text'][3]) for row in rows),
          'samples in the tree')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, re.search(r'%d samples, not calls' % taken,
                          text.replace('\u202f', '')) is not None,
          'told in the notes')
    equal(False, 'hook' in text.lower(), 'hooks told of')
    show(page, 'functions')
