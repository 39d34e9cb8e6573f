"""What a reader has chosen: the state of the page in its address, the colours."""

from expect import close, equal, fail
from profile_page import search_for


def shown_state(page):
    """What a reader sees of it."""
    return page.eval('''({
        chart: document.querySelector('[data-chart][aria-selected=true]')
            .dataset.chart,
        list: document.querySelector('[data-list][aria-selected=true]')
            .dataset.list,
        name: document.querySelector('#details h3')?.textContent || '',
        threads: [...document.querySelectorAll('#threads input')]
            .map(box => box.checked),
        query: document.querySelector('#query').value,
        range: document.querySelector('#range').hidden ? '' :
            document.querySelector('#range').title,
        sort: document.querySelector('#functions .sorted')?.dataset.key || '',
        total: document.querySelector('#total').title,
        rows: document.querySelector('#functions .body').style.height})''')


# of the chart, and what its boxes say
VIEW = '''[[swizzle.chart.from, swizzle.chart.to],
    ['#with-module', '#by-thread'].map(box =>
        document.querySelector(box).checked)]'''


def reload(page):
    page.eval('window.swizzle = null')
    page.call('Page.reload')
    page.wait('window.swizzle')
    page.settle()


def check_state(page, profile):
    """a reload brings back what was shown, the back button what was before"""
    begin = shown_state(page)
    equal('', page.eval('location.hash'), 'address at first')
    seen = [begin]
    steps = (lambda: page.click_on('[data-chart=inverted]'),
             lambda: page.click_on('#functions .head [data-key=calls]'),
             lambda: page.click_on('#functions .row[data-index="1"]'),
             lambda: page.click_on('[data-thread="1"]'),
             lambda: page.click_on('[data-list=up]'),
             lambda: page.click_on('[data-chart=timeline]'),
             lambda: page.key('r'),
             lambda: page.click_on('[data-chart=sandwich]'))
    for step in steps:
        step()
        page.settle()
        seen.append(shown_state(page))
        if seen[-1] == seen[-2]:
            fail('nothing has changed: %r' % seen[-1])
    reload(page)
    equal(seen[-1], shown_state(page), 'after a reload')
    for state in reversed(seen[:-1]):
        address = page.eval('location.hash')
        page.eval('history.back()')
        page.wait('location.hash !== %r' % address)
        page.settle()
        equal(state, shown_state(page), 'after a step back')
    page.eval('history.forward()')
    page.wait('location.hash')
    page.settle()
    equal(seen[1], shown_state(page), 'after a step forward')
    page.click_on('[data-chart=timeline]')
    page.key('w')
    page.click_on('#with-module')
    page.click_on('#by-thread')
    page.wait("location.hash.includes('window=') &&"
              " location.hash.includes('labels=modules-merged')")
    zoomed, labels = page.eval(VIEW)
    equal(True, zoomed[1] - zoomed[0] < page.eval('swizzle.chart.extent()'),
          'zoomed in')
    reload(page)
    view = page.eval(VIEW)
    for before, after in zip(zoomed, view[0]):
        close(before, after, 0.001, 'window after a reload')
    equal(labels, view[1], 'labels after a reload')
    for box in ('#with-module', '#by-thread'):
        page.click_on(box)
    page.key('0')
    page.wait("!location.hash.includes('window=')")
    search_for(page, 'leaf')
    page.wait("location.hash.includes('leaf')")
    found = shown_state(page)
    reload(page)
    equal(found, shown_state(page), 'a search after a reload')
    # one that means nothing here is as none
    page.eval("location.hash = 'chart=none&list=x&function=a:b&threads=&"
              "range=5&sort=share'")
    page.settle()
    equal(begin, shown_state(page), 'with an address that means nothing')


def check_themes(page, profile):
    """dark or light, as the system says or the reader wants"""
    def back():
        return page.eval('getComputedStyle(document.body).backgroundColor')
    light = back()
    page.dark(True)
    dark = back()
    if light == dark:
        fail('dark is light')
    page.key('t')
    equal(light, back(), 'after T')
    page.dark(False)
    page.key('?')
    if 'zoom' not in page.eval("document.querySelector('#help').innerText"):
        fail('? shows no help')
    page.key('Escape')


# what a chart says with its next picture
SAID = """(() => {
    const {chart} = swizzle, said = [], own = chart.canvas.getContext('2d');
    own.fillText = text => said.push(text);
    chart.drawNow();
    delete own.fillText;
    return said.join(' '); })()"""


def check_empty(page, profile):
    """where there is nothing to see it says why"""
    def empty(name):
        return page.eval("document.querySelector('#%s .empty').innerText" % name)
    for name in ('functions', 'up'):
        page.click_on('[data-list=%s]' % name)
        equal('', empty(name), 'said beside rows of ' + name)
        search_for(page, 'zzzz')
        equal(True, 'zzzz' in empty(name), 'why %s is empty' % name)
        page.key('Escape')
        equal('', empty(name), 'said after the search')
    page.click_on('[data-list=functions]')
    page.eval('swizzle.select(-1)')
    page.click_on('[data-chart=sandwich]')
    equal(True, 'Choose a function' in page.eval(SAID), 'in the sandwich')
    page.click_on('#threads-none')
    for chart in ('flame', 'inverted', 'sandwich'):
        page.click_on('[data-chart=%s]' % chart)
        equal('No thread is chosen.', page.eval(SAID), 'in ' + chart)
    equal('No thread is chosen.', empty('functions'), 'in the table')
    page.click_on('#threads-all')
    page.click_on('[data-chart=flame]')
    equal(False, 'No thread' in page.eval(SAID), 'with threads')
