#!/usr/bin/env python3
"""Loads a file into speedscope (the npm package's page, in headless Chromium)
by its own importer, has it saved again by speedscope itself, and prints what
was saved, by function:

    speedscope_import.py PAGE FILE

    profiles NUMBER TYPES UNITS
    weight TOTAL
    function CALLS SELF INCLUSIVE NAME       (tabs between)

CALLS are the frames that were opened (what lasts no time is not saved),
INCLUSIVE times are those of the outermost frames.
"""

import base64
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'html'))
import browser  # noqa: E402

# What speedscope would save goes to us.
CATCH = '''
URL.createObjectURL = blob => { window.saved = blob; return '#'; };
HTMLAnchorElement.prototype.click = () => {};
'''

SUM = '''
(async () => {
    const file = JSON.parse(await saved.text());
    const frames = file.shared.frames, rows = frames.map(() => [0, 0, 0]);
    const open = frames.map(() => 0), begun = frames.map(() => 0);
    let weight = 0;
    for (const profile of file.profiles) {
        if (profile.type === 'sampled') {
            profile.samples.forEach((stack, i) => {
                const value = profile.weights[i];
                weight += value;
                rows[stack[stack.length - 1]][1] += value;
                for (const frame of new Set(stack))
                    rows[frame][2] += value;
            });
            continue;
        }
        const stack = [];
        let last = profile.startValue;
        for (const {type, at, frame} of profile.events) {
            if (stack.length) {
                rows[stack[stack.length - 1]][1] += at - last;
                weight += at - last;
            }
            last = at;
            if (type === 'O') {
                rows[frame][0]++;
                if (!open[frame]++)
                    begun[frame] = at;
                stack.push(frame);
            } else {
                if (stack.pop() !== frame)
                    throw new Error('not nested');
                if (!--open[frame])
                    rows[frame][2] += at - begun[frame];
            }
        }
        if (stack.length)
            throw new Error('not closed');
    }
    return {rows, weight, names: frames.map(frame => frame.name),
            profiles: file.profiles.length,
            types: [...new Set(file.profiles.map(p => p.type))].join(),
            units: [...new Set(file.profiles.map(p => p.unit))].join()};
})()
'''


def main():
    page_path, path = sys.argv[1:]
    with tempfile.TemporaryDirectory() as home, browser.Browser() as page:
        # what speedscope's own command does with a file
        script = os.path.join(home, 'load.js')
        with open(path, 'rb') as file, open(script, 'w') as to:
            to.write('speedscope.loadFileFromBase64("file.json", "%s")' %
                     base64.b64encode(file.read()).decode())
        page.call('Page.navigate', url='file://%s#localProfilePath=%s' % (
            os.path.abspath(page_path), script))
        # the title is that of a profile when one is shown
        page.wait("document.title.endsWith(' - speedscope')")
        page.eval(CATCH)
        page.call('Input.dispatchKeyEvent', type='keyDown', key='s',
                  modifiers=2)
        page.wait('window.saved')
        got = page.eval(SUM)
    print('profiles', got['profiles'], got['types'], got['units'], sep='\t')
    print('weight', got['weight'], sep='\t')
    for name, row in zip(got['names'], got['rows']):
        print('function', *row, name, sep='\t')
    # (of graphics that are not there)
    wrong = [text for text in page.complaints if 'GL' not in text]
    print(*wrong, sep='\n', file=sys.stderr)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
