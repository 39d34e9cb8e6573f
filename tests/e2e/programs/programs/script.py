import json, re, subprocess, sys, threading, zlib, hashlib

class Odd(Exception):
    pass

def numbers(n):
    try:
        for i in range(n):
            if i % 7 == 3:
                try:
                    raise Odd(i)
                except Odd as e:
                    yield -e.args[0]
            else:
                yield i
    finally:
        print("closed")

def deep(n):
    if n:
        return deep(n - 1) + 1
    raise RecursionError

print(sum(numbers(5000)))
g = numbers(10)
next(g)
g.close()
for limit in (100, 900):
    try:
        deep(limit)
    except RecursionError:
        print("caught", limit)
results = []
lock = threading.Lock()

def work(k):
    total = 0
    for word in re.findall(r"\w+", "the quick brown fox " * 200):
        total += len(word) * k
    with lock:
        results.append(total)

threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(results))
text = json.dumps({"a": [1, 2.5, None, {"b": "x" * 50}]} , sort_keys=True)
assert json.loads(text)["a"][1] == 2.5
print(hashlib.sha256(text.encode()).hexdigest(), zlib.crc32(text.encode()))
out = subprocess.run([sys.executable, "-c", "print(6 * 7); raise SystemExit(3)"],
                     capture_output=True, text=True)
print(out.stdout.strip(), out.returncode)
print(subprocess.run(["sh", "-c", "echo from sh; exit 4"]).returncode)
sys.exit(5)
