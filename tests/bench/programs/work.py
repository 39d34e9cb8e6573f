"""A fixed amount of work: json, re, objects, sorting, dictionaries. Prints the
processor time that it took. An argument says how many times (0 is possible)."""
import json
import re
import sys
import time


class Node:
    def __init__(self, key):
        self.key = key
        self.left = self.right = None

    def insert(self, key):
        node = self
        while True:
            side = "left" if key < node.key else "right"
            child = getattr(node, side)
            if child is None:
                setattr(node, side, Node(key))
                return
            node = child

    def depth(self):
        return 1 + max(
            (child.depth() for child in (self.left, self.right) if child), default=0
        )


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def work():
    seed, keys = 1, []
    for _ in range(16000):
        seed = seed * 1103515245 % 2147483647
        keys.append(seed)
    root = Node(keys[0])
    for key in keys[1:]:
        root.insert(key)
    text = json.dumps([{"key": key, "name": f"n{key:x}"} for key in keys], indent=1)
    back = json.loads(text)
    names = re.findall(r'"name": "(n[0-9a-f]+)"', text)
    names.sort(key=lambda name: name[::-1])
    return root.depth(), len(back), len(set(names)), fib(22)


start = time.process_time()
for _ in range(int(sys.argv[1]) if sys.argv[1:] else 1):
    assert work()[1:] == (16000, 16000, 17711)
print(f"python {time.process_time() - start:.6f}")
