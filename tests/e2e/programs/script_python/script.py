import asyncio, functools, sys, threading, time

own = {}
stacks = set()
MS = 40

def name_of(code):
    name = getattr(code, 'co_qualname', code.co_name)
    if name.endswith('>') and name != '<module>':
        name += ':%d' % code.co_firstlineno
    return name

def note(frame):
    names = []
    while frame:
        names.insert(0, name_of(frame.f_code))
        frame = frame.f_back
    stacks.add(';'.join(names))

clock = getattr(time, 'thread_time', time.process_time)  # 3.7

def busy(ms):
    end = clock() + ms / 1000
    spin(True)
    while clock() < end:
        spin(False)

def spin(first):
    if first:
        note(sys._getframe())
    s = 0
    for i in range(20000):
        s += i & 3  # HOT
    return s

def recursing(n, ms):
    if n:
        return recursing(n - 1, ms)
    busy(ms)

def through_c(n, ms):
    if n:
        return max(map(lambda x: through_c(n - 1, ms), [1]))
    busy(ms)

class Thing:
    def method(self, ms):
        return sorted([3], key=lambda x: busy(ms))

def generator(ms):
    for i in range(3):
        busy(ms / 3)
        yield i

def generating(ms):
    for i in generator(ms):
        pass

def größe(ms):
    def closure():
        busy(ms)
    closure()

def failing(ms):
    try:
        raise ValueError
    except ValueError:
        functools.reduce(lambda x, y: busy(ms), [1, 2])

async def awaited(ms):
    busy(ms)

async def awaiting(ms):
    await awaited(ms)

def passing(ms):
    end = clock() + ms / 1000
    i = 0
    while clock() < end:
        names = {}
        exec('def short():\n  for i in range(20000): pass\nshort()', names)

def timed(name, call):
    start = clock()
    call()
    own[name] = own.get(name, 0) + (clock() - start) * 1000

def in_thread():
    timed('größe', lambda: größe(3 * MS))

timed('recursing', lambda: recursing(300, 6 * MS))
timed('through_c', lambda: through_c(10, MS))
timed('Thing.method', lambda: Thing().method(MS))
timed('generator', lambda: generating(MS))
timed('passing', lambda: passing(MS))
timed('failing', lambda: failing(MS))
timed('awaiting', lambda: asyncio.new_event_loop().run_until_complete(awaiting(MS)))
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
for name, ms in own.items():
    print(name, ms)
for stack in stacks:
    print('stack', stack)
print('process', time.process_time() * 1000)
