import asyncio, re, sys, time

stacks = set()
own = {}
waits = {}  # task -> the one that awaits it
clock = time.thread_time

def name_of(code):
    return getattr(code, 'co_qualname', code.co_name)

def coroutines(task):
    names, c = [], task.get_coro()
    while hasattr(c, 'cr_await') or type(c).__name__ == 'async_generator_asend':
        if hasattr(c, 'cr_await'):
            names.append(name_of(c.cr_code))
            c = c.cr_await
        else:
            names.append(name_of(generator.ag_code))
            c = generator.ag_await
    return names

def chain(task):
    name = task.get_name()
    shown = '[task]' if re.fullmatch('Task-[0-9]+', name) else '[task %s]' % name
    by = waits.get(task)
    return (chain(by) + coroutines(by) if by else []) + [shown]

def note(frame):
    names = []
    while frame:
        names.insert(0, name_of(frame.f_code))
        frame = frame.f_back
        if frame and frame.f_code is asyncio.Handle._run.__code__:
            names = chain(asyncio.current_task()) + names
    stacks.add(';'.join(names))

def spin(first):
    if first:
        note(sys._getframe())
    s = 0
    for i in range(20000):
        s += i & 3
    return s

def busy(ms):
    start = clock()
    end = start + ms / 1000
    spin(True)
    while clock() < end:
        spin(False)
    name = asyncio.current_task().get_name()
    own[name] = own.get(name, 0) + (clock() - start) * 1000

async def leaf(ms):
    for i in range(10):
        busy(ms / 10)
        await asyncio.sleep(0)

async def worker(ms):
    await leaf(ms)

def start(ms, name):
    task = asyncio.ensure_future(worker(ms))
    task.set_name(name)
    waits[task] = asyncio.current_task()
    return task

async def gathering():
    await asyncio.gather(start(300, 'heavy'), start(150, 'middle'), start(50, 'light'))

async def awaiting():
    await start(100, 'awaited')

async def waiting():
    await asyncio.wait([start(100, 'waited')])

async def shielding():
    await asyncio.shield(start(100, 'shielded'))

async def generating():
    await awaiting()
    yield 1

async def grouping():
    async with asyncio.TaskGroup() as group:
        waits[group.create_task(worker(100), name='grouped')] = asyncio.current_task()

async def nobody():
    task = asyncio.ensure_future(worker(100))
    task.set_name('nobody')
    while not task.done():
        await asyncio.sleep(0.01)

async def main():
    global generator
    await gathering()
    await waiting()
    await shielding()
    generator = generating()
    async for one in generator:
        pass
    if sys.version_info >= (3, 11):
        await grouping()
    await nobody()
    busy(100)

asyncio.run(main())
for name, ms in own.items():
    print(name, ms)
for stack in stacks:
    print('stack', stack)
print('process', time.process_time() * 1000)
