"""What remains of a trace, by the rules of swizzle-dump(1).

  read_limits.py threshold ALL              a time in ns that no call is near to
  read_limits.py same ALL SOME NS DEPTH N   SOME is what is to be left of ALL

Both are of -f chrome. Prints where that is wrong.
"""

import json
import sys


def threads(path):
    """{(pid, tid): [[name, begin, end, parent]]}, in the order of begins; all in ns."""
    calls, stacks = {}, {}
    with open(path) as file:
        for event in json.load(file, parse_float=str)["traceEvents"]:
            key = event["pid"], event["tid"]
            if event["ph"] not in "BE":
                continue
            mine, stack = calls.setdefault(key, []), stacks.setdefault(key, [])
            at = round(float(event["ts"]) * 1000)
            if event["ph"] == "B":
                stack.append(None if event["cat"] == "kernel" else len(mine))
                if event["cat"] != "kernel":
                    around = [call for call in stack[:-1] if call is not None]
                    mine.append([event["name"], at, None, around[-1] if around else None])
            else:
                call = stack.pop()
                if call is not None:
                    mine[call][2] = at
    return calls


def threshold(path):
    lengths = sorted({end - begin for mine in threads(path).values()
                      for _, begin, end, _ in mine if end - begin > 300})
    low, high = max(zip(lengths[:len(lengths) // 2], lengths[1:]),
                    key=lambda pair: pair[1] / pair[0])
    print((low + high) // 2)


def same(path, part, ns, depth, every):
    whole, got = threads(path), threads(part)
    number, shown = 0, 0
    for key, mine in whole.items():
        deep = []
        for name, begin, end, parent in mine:
            deep.append(1 if parent is None else deep[parent] + 1)
        fit = [i for i, (name, begin, end, parent) in enumerate(mine)
               if end - begin >= ns and (not depth or deep[i] <= depth)]
        if ns:
            fit.sort(key=lambda i: (mine[i][2], -deep[i]))
        stays = set()
        for i in fit:
            if ns and i in stays:
                continue # it is around another one
            number += 1
            if (number - 1) % max(every, 1):
                continue
            while i is not None:
                stays.add(i)
                i = mine[i][3]
        expected = [tuple(mine[i][:3]) for i in sorted(stays)]
        shown += len(expected)
        actual = [tuple(call[:3]) for call in got.get(key, [])]
        if expected != actual:
            print(f"{key}: {len(actual)} calls, not {len(expected)}: "
                  f"{sorted(set(actual) ^ set(expected))[:5]}")
    if not shown or shown >= sum(map(len, whole.values())):
        print("nothing is left out, or all")


if __name__ == "__main__":
    if sys.argv[1] == "threshold":
        threshold(sys.argv[2])
    else:
        same(*sys.argv[2:4], *map(int, sys.argv[4:]))
