"""Drives Chromium through its debugging pipe: a page is opened, clicked and
typed into as by a person, and asked what it shows. Needs no package beyond
Python's own."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
TIMEOUT = 120


def find():
    """The browser's path, or None."""
    for name in (os.environ.get('CHROMIUM'),) + NAMES:
        path = name and shutil.which(name)
        if path:
            return path
    return None


# of keys that the browser itself acts on
CODES = {'Tab': 9, 'Enter': 13, 'ArrowLeft': 37, 'ArrowUp': 38,
         'ArrowRight': 39, 'ArrowDown': 40}


class Error(Exception):
    pass


class Left(Error):
    """The page was left for another one while it was asked."""


LEFT = ('navigated', 'context was destroyed', 'Cannot find context',
        'Promise was collected')


class Browser:
    """One browser with one page. What it complains of is in `complaints`,
    what it asked for in `requests`."""

    def __init__(self, width=1280, height=800, dark=False, scale=1):
        self.complaints = []
        self.requests = []
        # it makes a socket there, whose name may have 107 characters
        self.temporary = tempfile.gettempdir()
        if len(self.temporary) > 40:
            self.temporary = '/tmp'
        self.home = tempfile.mkdtemp(prefix='swizzle-browser.',
                                     dir=self.temporary)
        self.next_id = 0
        self.received = b''
        self.session = None
        self.start(width, height, scale)
        target = self.call('Target.createTarget', url='about:blank')
        self.session = self.call('Target.attachToTarget', flatten=True,
                                 targetId=target['targetId'])['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log', 'Performance'):
            self.call(domain + '.enable')
        self.scale = scale
        self.resize(width, height)
        self.dark(dark)

    def start(self, width, height, scale):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        options = ['--headless=new', '--remote-debugging-pipe',
                   '--user-data-dir=' + self.home, '--no-first-run',
                   '--disable-gpu', '--disable-extensions',
                   # a container's /dev/shm may be too small for it
                   '--disable-dev-shm-usage',
                   '--disable-background-networking',
                   '--disable-component-update', '--disable-sync',
                   '--no-default-browser-check', '--hide-scrollbars',
                   '--force-device-scale-factor=%g' % scale,
                   '--window-size=%d,%d' % (width, height)]
        if os.geteuid() == 0:
            options.append('--no-sandbox')

        def descriptors():
            # above 4 first: they may be 3 or 4 themselves
            read, write = os.dup(to_read), os.dup(from_write)
            while read < 5:
                read = os.dup(read)
            while write < 5:
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.log = tempfile.TemporaryFile()
        environment = dict(os.environ, HOME=self.home,
                           TMPDIR=self.temporary)
        environment.pop('LD_PRELOAD', None)
        self.process = subprocess.Popen(
            [find()] + options, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, env=environment, preexec_fn=descriptors,
            close_fds=False, start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.to, self.source = to_write, from_read

    def close(self):
        self.session = None
        try:
            self.call('Browser.close')
        except (Error, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- the protocol ----

    def call(self, method, **parameters):
        self.next_id += 1
        message = {'id': self.next_id, 'method': method,
                   'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get('id') == self.next_id:
                break
            self.note(answer)
        if 'error' in answer:
            message = answer['error'].get('message', '')
            raise (Left if any(left in message for left in LEFT) else Error)(
                '%s: %s' % (method, message))
        return answer['result']

    def receive(self):
        limit = time.monotonic() + TIMEOUT
        while b'\0' not in self.received:
            ready = select.select([self.source], [], [],
                                  limit - time.monotonic())[0]
            data = os.read(self.source, 1 << 20) if ready else b''
            if not data:
                raise Error('the browser does not answer' + self.last_words())
            self.received += data
        message, self.received = self.received.split(b'\0', 1)
        return json.loads(message)

    def last_words(self):
        self.log.seek(0)
        return '\n' + self.log.read()[-2000:].decode(errors='replace')

    def note(self, message):
        method, about = message.get('method'), message.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(about['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            details = about['exceptionDetails']
            self.complaints.append(details.get('exception', {}).get(
                'description') or details['text'])
        elif method == 'Runtime.consoleAPICalled':
            if about['type'] in ('error', 'warning', 'assert'):
                self.complaints.append('console: %s' % [
                    argument.get('value') for argument in about['args']])
        elif method == 'Log.entryAdded':
            if about['entry']['level'] in ('error', 'warning'):
                self.complaints.append(about['entry']['text'])
        elif method == 'Page.javascriptDialogOpening':
            self.complaints.append('dialog: ' + about['message'])

    # ---- what a person does ----

    def dark(self, dark):
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme',
             'value': 'dark' if dark else 'light'},
            {'name': 'prefers-reduced-motion', 'value': 'reduce'}])

    def resize(self, width, height):
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=self.scale, mobile=False)

    def open(self, path, ready='window.swizzle'):
        self.call('Page.navigate', url='file://' + os.path.abspath(path))
        self.wait(ready)

    def before(self, script):
        """Runs that in each page before its own scripts; returns what
        takes it back."""
        return self.call('Page.addScriptToEvaluateOnNewDocument',
                         source=script)['identifier']

    def take_back(self, identifier):
        self.call('Page.removeScriptToEvaluateOnNewDocument',
                  identifier=identifier)

    def eval(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression,
                           returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise Error('%s\n%s' % (expression, details.get(
                'exception', {}).get('description', details['text'])))
        return answer['result'].get('value')

    def wait(self, expression):
        """Until something holds."""
        limit = time.monotonic() + TIMEOUT
        while not self.holds(expression):
            if time.monotonic() > limit:
                raise Error('never: ' + expression)
            time.sleep(0.02)

    def holds(self, expression):
        try:
            return self.eval('Boolean(%s)' % expression)
        except Left:
            return False

    def settle(self):
        """Until what was asked for has been drawn, on another page if a link
        was clicked on."""
        try:
            self.settle_here()
        except Left:
            self.wait("document.readyState === 'complete'")
            self.settle_here()

    def settle_here(self):
        frames = ('new Promise(done => requestAnimationFrame(() =>'
                  ' requestAnimationFrame(() => setTimeout(done, 0))))')
        self.eval(frames)
        # a large trace is read in parts
        busy = ("window.swizzle && (document.body.classList.contains("
                "'counting') || swizzle.model.threads.some(({trace}) =>"
                " trace && trace.reading))")
        if self.eval('Boolean(%s)' % busy):
            self.wait('!(%s)' % busy)
            self.eval(frames)

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y, count=1):
        self.mouse('mouseMoved', x, y)
        for each in range(1, count + 1):
            self.mouse('mousePressed', x, y, button='left', clickCount=each)
            self.mouse('mouseReleased', x, y, button='left', clickCount=each)
        self.settle()

    def drag(self, x, y, to_x, to_y, shift=False):
        keys = {'modifiers': 8} if shift else {}
        self.mouse('mouseMoved', x, y, **keys)
        self.mouse('mousePressed', x, y, button='left', clickCount=1, **keys)
        for step in range(1, 6):
            self.mouse('mouseMoved', x + (to_x - x) * step / 5,
                       y + (to_y - y) * step / 5, button='left', buttons=1,
                       **keys)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1,
                   **keys)
        self.settle()

    def wheel(self, x, y, by):
        self.mouse('mouseWheel', x, y, deltaX=0, deltaY=by)
        self.settle()

    def key(self, key, text=None, shift=False):
        more = {'text': text} if text else {}
        if key in CODES:
            more['windowsVirtualKeyCode'] = CODES[key]
        if key == 'Enter':
            more['text'] = '\r'
        if shift:
            more['modifiers'] = 8
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, **more)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)
        self.settle()

    def type(self, text):
        for letter in text:
            self.call('Input.dispatchKeyEvent', type='keyDown', key=letter,
                      text=letter)
            self.call('Input.dispatchKeyEvent', type='keyUp', key=letter)
        self.settle()

    def center(self, selector):
        """Where an element is, in the window."""
        place = self.eval('(() => { const b = document.querySelector(%s);'
                          ' if (!b) return null;'
                          ' const r = b.getBoundingClientRect();'
                          ' return [r.x + r.width / 2, r.y + r.height / 2]'
                          ' })()' % json.dumps(selector))
        if not place:
            raise Error('no ' + selector)
        return place

    def click_on(self, selector, count=1):
        self.click(*self.center(selector), count)

    def accessible(self):
        """What a screen reader is told: [(role, name, properties)]"""
        nodes = self.call('Accessibility.getFullAXTree')['nodes']
        return [(node['role']['value'], node.get('name', {}).get('value', ''),
                 {each['name']: each['value'].get('value')
                  for each in node.get('properties', ())})
                for node in nodes if not node.get('ignored')]

    def screenshot(self, path):
        self.settle()
        data = self.call('Page.captureScreenshot', format='png')['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))

    def heap(self):
        """Bytes of the page's own memory, after a collection."""
        self.call('HeapProfiler.collectGarbage')
        usage = self.call('Runtime.getHeapUsage')
        return usage['usedSize'] + usage.get('backingStorageSize', 0)
