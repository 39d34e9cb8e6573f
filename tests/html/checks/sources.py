"""The source beside a function, and why it may not be there."""

import os

from expect import equal
from profile_page import choose, in_window, number, show


def source_of_pages():
    path = os.path.realpath(os.path.join(os.path.dirname(
        os.path.abspath(__file__)), '../../targets/pages.cc'))
    return path, open(path).read().splitlines()


def source_rows(page):
    """{line: (calls, ns, text)} of the source that is shown"""
    rows = {}
    for row in page.eval('''
            (async () => {
            const list = document.querySelector('#source .grid');
            const rows = new Map();
            for (list.scrollTop = 0;; list.scrollTop += list.clientHeight / 2) {
                await new Promise(done => requestAnimationFrame(() =>
                    setTimeout(done, 0)));
                for (const row of list.querySelectorAll('.row'))
                    rows.set(Number(row.dataset.index),
                        [...row.querySelectorAll('.cell')].map(cell =>
                            [cell.textContent, cell.title]));
                if (list.scrollTop + list.clientHeight >=
                    list.scrollHeight - 1)
                    break;
            }
            return [...rows.values()];
            })()'''):
        rows[number(row[0][0])] = (number(row[1][0]), number(row[2][1]),
                                   row[4][0])
    return rows


def check_source(page, profile):
    """the source of what is chosen, with its calls at their lines"""
    path, source = source_of_pages()
    edges = profile.edges()
    choose(page, 'main')
    page.click_on('#details .to-source')
    about = page.eval("document.querySelector('#source .about').innerText")
    equal(True, about.startswith(path + ':'), 'the path in ' + about)
    begin = int(about.split(':')[1].split()[0])
    equal('int main(int argc, char **argv)', source[begin - 2], 'its line')
    equal(True, page.eval("document.querySelector('#source .here').innerText")
          .startswith('%d\n' % begin), 'the line that is marked')
    equal(True, in_window(page, '#source .here'), 'it can be seen')
    rows = source_rows(page)
    for line, (calls, ns, text) in rows.items():
        if line:
            equal(source[line - 1], text, 'line %d' % line)
    equal(len(source), max(rows), 'last line')
    # what lies in the loop is counted there
    line = 1 + next(i for i, text in enumerate(source)
                    if i > begin and 'twice(i);' in text)
    equal(tuple(edges['main']['twice']), rows[line][:2], 'calls of twice')
    page.eval("document.querySelector('#source .grid').scrollTop = 18 * %d"
              % (line - 3))
    page.settle()
    page.click_on('#source .row.calls[data-index="%d"]' % (line - 1))
    equal('twice', page.eval("document.querySelector('#details h3')"
                             ".textContent"), 'the callee that was clicked')
    rows = source_rows(page)
    calls = sum(row[0] for row in rows.values())
    equal(edges['twice']['leaf'][0], calls, 'calls that twice makes')
    ns = sum(row[1] for row in rows.values())
    equal(edges['twice']['leaf'][1], ns, 'their time')
    show(page, 'functions')
    page.key('5')
    equal(True, in_window(page, '#source'), 'after the key')
    show(page, 'functions')


def said_of_source(page, name):
    choose(page, name)
    show(page, 'source')
    page.settle()
    return page.eval("document.querySelector('#source .about b')"
                     "?.textContent || ''")


def check_nosource(page, profile):
    """what is left out on request is told"""
    equal(True, '--no-source' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')
    show(page, 'notes')
    text = page.eval("document.querySelector('#notes').innerText")
    equal(True, 'left out (--no-source)' in text, 'in the notes')


def check_lostsource(page, profile):
    """a source that is not there is told of"""
    equal(True, 'not found' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')


def check_binarysource(page, profile):
    """one that is no text has no lines"""
    equal(True, 'no text' in said_of_source(page, 'main'), 'said why')
    equal({}, source_rows(page), 'lines')


def check_longsource(page, profile):
    """of a long and newer file only the functions' lines are in the page"""
    _, source = source_of_pages()
    equal(True, 'changed after' in said_of_source(page, 'main'), 'said')
    rows = source_rows(page)
    shown = [line for line in rows if line]
    equal(True, max(shown) < 1000, 'last line')
    known = [line for line in shown if line <= len(source)]
    equal(True, len(known) > 40, 'lines of functions')
    for line in known:
        equal(source[line - 1], rows[line][2], 'line %d' % line)
    equal(True, 'not in this page' in rows[0][2], 'the gap is told')
