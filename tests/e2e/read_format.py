"""Reads what swizzle-dump has written, by nothing but the format's own rules,
and prints one line per function: calls, self time, name, module, separated by
tabs and sorted. What a format does not have is "-". So two formats are compared
by diff.

  read_format.py FORMAT [OPTION...] <output
    names: without modules; no-calls, no-self: without these; folded-names:
    with names as they are in folded stacks
"""

import re
import sys
from collections import defaultdict


class Sums:
    def __init__(self):
        self.calls = defaultdict(int)
        self.self_ns = defaultdict(int)

    def add(self, name, module, calls, self_ns):
        self.calls[name, module] += calls
        self.self_ns[name, module] += self_ns


def fail(message):
    sys.exit("read_format.py: " + message)


def split_row(line, numbers):
    """The numbers, then name and module, which two spaces part."""
    fields = line.split(None, numbers)
    at = len(line) - len(fields[-1])
    return fields[:numbers], line[at:].strip("\n").split("  "), at


def read_text(data, sums):
    numbers = None
    for line in data.decode(errors="surrogateescape").split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.split()[0] == "calls":
            numbers = len(line.split()) - 2
            continue
        values, names, _ = split_row(line, numbers)
        sums.add(names[0], names[1], int(values[0]), int(values[1]))


def read_tree(data, sums):
    """Also checks that each line's inclusive time is its self time and that of
    the lines below it, and its share that of the first line's time."""
    base = None
    path = []  # [depth, inclusive, what the children have]

    def close(depth):
        while path and path[-1][0] >= depth:
            _, line, inclusive, below = path.pop()
            if inclusive != below:
                fail("%s: below it %d" % (line, below))
            if path:
                path[-1][3] += inclusive

    for line in data.decode(errors="surrogateescape").split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.split()[0] == "calls":
            close(0)
            base, total = None, None
            continue
        values, names, at = split_row(line, 4)
        if base is None:
            base, total = at, int(values[2])
        if (at - base) % 2:
            fail("indentation: " + line)
        close((at - base) // 2)
        if path and (at - base) // 2 != path[-1][0] + 1:
            fail("depth: " + line)
        path.append([(at - base) // 2, line, int(values[2]), int(values[1])])
        if abs(float(values[3]) - 100 * int(values[2]) / total) > 0.0051:
            fail("share: " + line)
        if names[2:] not in ([], ["(recursive)"]):
            fail("names: " + line)
        if names[2:] and int(values[2]):
            fail("recursive time: " + line)
        sums.add(names[0], names[1], int(values[0]), int(values[1]))
    close(0)


def read_folded(data, sums, of_calls=False):
    for line in data.decode(errors="surrogateescape").split("\n"):
        if not line:
            continue
        stack, value = line.rsplit(" ", 1)
        name = stack.split(";")[-1]
        calls, self_ns = (value, 0) if of_calls else (0, value)
        sums.add(name, "-", int(calls), int(self_ns))


def folded_name(name):
    return re.sub(r" (?=[0-9])", "_", name.replace(";", ":"))


READERS = {
    "text": read_text,
    "tree": read_tree,
    "folded": read_folded,
    "folded-calls": lambda data, sums: read_folded(data, sums, True),
}


def main():
    form, options = sys.argv[1], sys.argv[2:]
    sums = Sums()
    READERS[form](sys.stdin.buffer.read(), sums)
    rows = defaultdict(lambda: [0, 0])
    for (name, module), calls in list(sums.calls.items()):
        key = (folded_name(name) if "folded-names" in options else name,
               "-" if "names" in options else module)
        rows[key][0] += calls
        rows[key][1] += sums.self_ns[name, module]
    out = []
    for (name, module), (calls, self_ns) in sorted(rows.items()):
        values = ["-" if "no-calls" in options else str(calls),
                  "-" if "no-self" in options else str(self_ns)]
        if set(values) - {"-", "0"}:
            out.append("\t".join(values + [name, module]) + "\n")
    sys.stdout.buffer.write("".join(out).encode(errors="surrogateescape"))


main()
