import threading

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def parse():
    for _ in range(20):
        int("12345") + len(str([1, 2, {"a": "b"}]))

def sort():
    sorted([str(i * 7919 % 1007) for i in range(200)], key=lambda w: w[::-1])

def fail():
    for i in range(50):
        try:
            raise ValueError(i)
        except ValueError:
            pass

threads = [threading.Thread(target=work)
           for work in (lambda: fib(9), parse, sort, fail)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
