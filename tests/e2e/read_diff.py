"""Compares what swizzle-dump --diff has written with what the two profiles say
by themselves, and prints where it is wrong.

  read_diff.py text DIFF OLD NEW        tables of functions
  read_diff.py folded DIFF OLD NEW      folded stacks
  read_diff.py tree DIFF OLD-CALLS OLD-SELF NEW-CALLS NEW-SELF
                                        a tree; folded stacks of both
  read_diff.py callgrind DIFF OLD NEW   callgrind files

Addresses in names are left out: functions that only they tell apart are added
up.
"""

import re
import sys
from collections import defaultdict


def lines(path):
    with open(path, errors="surrogateescape") as file:
        for line in file:
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                yield line


def plain(name):
    # (the module is added where two functions without a source file share a
    # name)
    return re.sub(r"@[0-9a-f]+$", "", re.sub(r" \([^() ]+\)$", "", name))


def row(line, numbers):
    """The numbers, the width of the indentation, then name and module."""
    fields = line.split(None, numbers)
    rest = line[: len(line) - len(fields[-1])]
    names = fields[-1].split("  ")
    indent = len(rest) - len(rest.rstrip(" ")) - 2
    return fields[:numbers], indent, names


wrong = 0


def say(message):
    global wrong
    wrong += 1
    print(message)


def same(what, expected, got):
    for key in sorted(set(expected) | set(got)):
        if expected.get(key) != got.get(key):
            say("%s %s: expected %s, got %s"
                % (what, key, expected.get(key), got.get(key)))


def add(sums, key, values):
    sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(values)), values)]


COLUMNS = ("calls.old calls.new calls.diff self.old self.new self.diff self.% "
           "incl.old incl.new incl.diff incl.%").split()


def check_row(line, values, names):
    """Differences, percentages and remarks follow from the rest."""
    row = dict(zip(COLUMNS, values))
    absent = {}
    for side in ("old", "new"):
        absent[side] = all(int(row[key + side]) == 0
                           for key in ("calls.", "self.", "incl."))
    for key in ("calls.", "self.", "incl."):
        old, new = int(row[key + "old"]), int(row[key + "new"])
        diff = row[key + "diff"]
        expected = "%+d" % (new - old) if new != old else "0"
        if diff != expected:
            say("%s is not %s: %s" % (diff, expected, line))
        if key == "calls.":
            continue
        percent = row[key + "%"]
        if old == 0:
            good = percent == ("-" if new else "+0.00")
        else:
            good = abs(float(percent) - 100 * (new - old) / old) < \
                (0.0051 if "." in percent else 0.51)
        if not good:
            say("wrong percentage: " + line)
    remark = names[-1] if names[-1] in ("(new)", "(gone)") else None
    expected = None
    if absent["old"] and not absent["new"]:
        expected = "(new)"
    if absent["new"] and not absent["old"]:
        expected = "(gone)"
    if remark != expected:
        say("the remark should be %s: %s" % (expected, line))


def read_diff_table(path):
    header = None
    for line in lines(path):
        if line.split()[0] == "calls.old":
            header = line.split()
            if header != COLUMNS + ["function", "module"]:
                say("columns: " + line)
            continue
        values, indent, names = row(line, len(COLUMNS))
        check_row(line, values, names)
        yield values, indent, names, line


def text(diff, old, new):
    expected, got = {}, {}
    for side, path in enumerate((old, new)):
        for line in lines(path):
            if line.split()[0] == "calls":
                continue
            values, _, names = row(line, 3)
            sums = [0] * 6
            sums[side::2] = [int(value) for value in values]
            add(expected, (plain(names[0]), names[1]), sums)
    last = None
    for values, _, names, line in read_diff_table(diff):
        numbers = [int(values[i]) for i in (0, 1, 3, 4, 7, 8)]
        add(got, (plain(names[0]), names[1]), numbers)
        size = abs(numbers[3] - numbers[2])
        if last is not None and size > last:
            say("not sorted: " + line)
        last = size
    same("function", expected, got)


def stacks(path, values):
    found = {}
    for line in lines(path):
        fields = line.rsplit(" ", values)
        stack = tuple(plain(name) for name in fields[0].split(";"))
        add(found, stack, [int(value) for value in fields[1:]])
    return found


def join(old, new):
    joined = {}
    for key, value in old.items():
        add(joined, key, [value[0], 0])
    for key, value in new.items():
        add(joined, key, [0, value[0]])
    return joined


def folded(diff, old, new):
    same("stack", join(stacks(old, 1), stacks(new, 1)), stacks(diff, 2))


def tree(diff, old_calls, old_self, new_calls, new_self):
    calls = join(stacks(old_calls, 1), stacks(new_calls, 1))
    selfs = join(stacks(old_self, 1), stacks(new_self, 1))
    expected = {}
    for stack, value in calls.items():
        add(expected, stack, value + [0, 0, 0, 0])
    for stack, value in selfs.items():
        add(expected, stack, [0, 0] + value + [0, 0])
        for depth in range(1, len(stack) + 1):
            add(expected, stack[:depth], [0, 0, 0, 0] + value)
    got = {}
    path = []
    for values, indent, names, line in read_diff_table(diff):
        depth = indent // 2
        if indent % 2 or depth > len(path):
            say("indentation: " + line)
        del path[depth:]
        # what folded stacks cannot have in names is another test's
        path.append(plain(names[0]))
        numbers = [int(values[i]) for i in (0, 1, 3, 4, 7, 8)]
        # the outermost is no caller in folded stacks
        stack = tuple(path[1:]) or tuple(path)
        if not path[1:]:
            numbers[4:] = numbers[2:4]
        if any(numbers):
            add(got, stack, numbers)
    same("context", {k: v for k, v in expected.items() if any(v)}, got)


def read_callgrind(path):
    names, selfs, calls = {}, {}, {}
    events, current, call, parts = [], {}, None, 0

    def named(kind, value):
        table = {"fn": "fn", "cfn": "fn", "ob": "ob", "cob": "ob"}.get(kind, "fl")
        found = re.match(r"\((\d+)\)(?: (.*))?$", value)
        if found.group(2) is not None:
            names[table, found.group(1)] = found.group(2)
        return names[table, found.group(1)]

    totals = []
    for line in lines(path):
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith(("summary: ", "totals: ")):
            totals.append([int(value) for value in line.split()[1:]])
        elif re.match(r"(c?fn|c?ob|fl|fi|fe|cfi)=", line):
            kind, value = line.split("=", 1)
            current[kind] = named(kind, value)
            if kind == "fn":
                current["caller"] = (plain(current["fn"]), current["ob"])
        elif line.startswith("calls="):
            call = int(line[6:].split()[0])
        elif re.match(r"\d", line):
            costs = [int(value) for value in line.split()[1:]]
            if len(costs) != len(events) or min(costs) < 0:
                say("costs: " + line)
            if call is None:
                add(selfs, current["caller"], costs)
            else:
                callee = (plain(current["cfn"]), current.get("cob", current["ob"]))
                add(calls, (current["caller"][0], callee[0]), [call] + costs)
                current.pop("cob", None)
                call = None
    for total in totals:
        if total != [sum(costs[i] for costs in selfs.values())
                     for i in range(len(events))]:
            say("%s: totals" % path)
    return events, selfs, calls


def callgrind(diff, old, new):
    events, selfs, calls = read_callgrind(diff)
    if events != ["more", "less", "old", "new"]:
        say("events: %s" % events)
    sides = [read_callgrind(old), read_callgrind(new)]
    expected = defaultdict(lambda: [0, 0])
    for side, (_, side_selfs, _) in enumerate(sides):
        for (name, _), costs in side_selfs.items():
            expected[name][side] += costs[0]
    got = {}
    for (name, _), costs in selfs.items():
        add(got, name, costs[2:])
        if costs[0] - costs[1] != costs[3] - costs[2]:
            say("%s: more and less: %s" % (name, costs))
    same("function", dict(expected), got)
    expected, got = {}, {}
    for side, (_, _, side_calls) in enumerate(sides):
        for key, costs in side_calls.items():
            add(expected, key, [costs[1], 0] if side == 0 else [0, costs[1]])
    for key, costs in calls.items():
        add(got, key, costs[3:])
        if costs[1] - costs[2] != costs[4] - costs[3]:
            say("%s: more and less: %s" % (key, costs))
        # a line of its own for what is gone; otherwise the new number
        new_calls = sides[1][2].get(key, [0])[0]
        old_calls = sides[0][2].get(key, [0])[0]
        if costs[0] < (new_calls or old_calls) or \
                costs[0] > new_calls + old_calls:
            say("%s: %d calls" % (key, costs[0]))
    same("call", expected, got)


{"text": text, "folded": folded, "tree": tree,
 "callgrind": callgrind}[sys.argv[1]](*sys.argv[2:])
sys.exit(1 if wrong else 0)
