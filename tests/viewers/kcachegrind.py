"""Asks a running KCachegrind what it shows, by the accessibility bus: see the
script of the same name. Prints

    window TITLE
    status TEXT
    row INCL SELF CALLED FUNCTION LOCATION      (tabs between)
"""

import subprocess
import sys
import time

import pyatspi

TIMEOUT = 90
SIZE = ('1360', '860')  # of the display


def find(node, role, name=None):
    """All below it that have this role (and a name that begins so)."""
    found = []
    for i in range(node.childCount):
        child = node.getChildAtIndex(i)
        if child is None:
            continue
        if child.getRoleName() == role and (
                name is None or child.name.startswith(name)):
            found.append(child)
        elif child.getRoleName() != 'table cell':
            found += find(child, role, name)
    return found


def wait_for(what, condition):
    limit = time.monotonic() + TIMEOUT
    while time.monotonic() < limit and kcachegrind.poll() is None:
        found = condition()
        if found:
            return found
        time.sleep(0.3)
    sys.exit('never: ' + what)


def application():
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.name == 'kcachegrind' and app.childCount:
            return app
    return None


def table(flat):
    """The list of functions: the cells that are there, by rows."""
    for tree in find(flat, 'tree'):
        heads = [head.name for head in find(tree, 'table column header')]
        if heads[:4] == ['Incl.', 'Self', 'Called', 'Function']:
            cells = [cell.name for cell in find(tree, 'table cell')]
            return [cells[i:i + len(heads)]
                    for i in range(0, len(cells), len(heads))]
    return None


def xdotool(*words):
    subprocess.run(['xdotool', *words], check=True,
                   stdout=subprocess.DEVNULL)


def picture(app, flat, function, path):
    """The window as large as the display, and the function chosen."""
    window = wait_for('a window that is visible', lambda: subprocess.run(
        ['xdotool', 'search', '--onlyvisible', '--class', 'kcachegrind'],
        stdout=subprocess.PIPE).stdout.split())[0].decode()
    xdotool('windowmove', window, '0', '0')
    xdotool('windowsize', window, *SIZE)
    xdotool('windowfocus', window)
    time.sleep(1)

    def center(node):
        box = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
        return box.x + box.width // 2, box.y + box.height // 2

    def click(node):
        x, y = center(node)
        xdotool('mousemove', str(x), str(y), 'click', '1')
        time.sleep(0.5)

    for cell in find(app, 'table cell', function):
        if cell.name.split(' <cycle')[0] == function:
            click(cell)
            break
    else:
        sys.exit('no ' + function)
    for tab in find(app, 'page tab', 'Callee Map'):
        click(tab)
    # room for names: the border between the list and the rest
    box = flat.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    edge = box.x + box.width + 2
    xdotool('mousemove', str(edge), '400', 'mousedown', '1')
    for x in range(edge, 520, 20):
        xdotool('mousemove', str(x), '400')
    xdotool('mouseup', '1', 'mousemove', *(str(int(n) - 1) for n in SIZE))
    time.sleep(2)
    subprocess.run(['import', '-window', 'root', '+dither', '-colors', '255',
                    'PNG8:' + path],
                   check=True)


kcachegrind = subprocess.Popen(['kcachegrind', sys.argv[1]],
                               stdout=subprocess.DEVNULL)


def main():
    try:
        app = wait_for('a window', application)
        flat = wait_for('a list of functions', lambda: find(
            app, 'frame', 'Flat Profile'))[0]
        frame = app.getChildAtIndex(0)
        # what is not loaded shows no total
        status = wait_for('a total', lambda: [
            label.name for bar in find(frame, 'status bar')
            for label in find(bar, 'label') if 'Cost:' in label.name])
        rows = wait_for('functions', lambda: table(flat))
        for window in [app.getChildAtIndex(i) for i in range(app.childCount)]:
            print('window', window.name, sep='\t')
        print('status', status[0], sep='\t')
        for row in rows:
            print('row', *row, sep='\t')
        if len(sys.argv) > 3:
            picture(app, flat, *sys.argv[2:4])
    finally:
        kcachegrind.terminate()
        kcachegrind.wait()


main()
