import os, threading, time
def fds():
    return sorted(int(f) for f in os.listdir("/proc/self/fd"))
def look(out):
    fd = os.open("/dev/null", os.O_RDONLY)
    out.append(fd)
    os.close(fd)
def alone():  # a thread that was joined may not be gone yet
    for i in range(1000):
        if len(os.listdir("/proc/self/task")) == 1:
            return True
        time.sleep(0.01)
print(fds(), len(os.listdir("/proc/self/task")))
for i in range(20):
    out = []
    t = threading.Thread(target=look, args=(out,))
    t.start()
    t.join()
    print(out[0], fds(), alone())
pid = os.fork()
if pid == 0:
    look(out)
    print(out, fds(), flush=True)
    os._exit(0)
print(os.waitpid(-1, 0)[1])
try:
    os.waitpid(-1, 0x40000000)  # __WALL
except ChildProcessError as e:
    print(e)
