"""Compares what swizzle-dump --diff OLD... -- NEW... has written of several runs
with what each run says by itself, and its formats with each other; prints where
it is wrong.

  read_runs.py PREFIX OLD... -- NEW...

PREFIX.text, .csv, ... are the comparison, RUN.text a table of each run.
Addresses in names are left out, as in read_diff.py.
"""

import csv
import gzip
import json
import math
import re
import sys
from collections import defaultdict

from read_format import fields_of, numbers_of

wrong = 0


def say(message):
    global wrong
    wrong += 1
    print(message)


def plain(name):
    return re.sub(r"@[0-9a-f]+$", "", re.sub(r" \([^() ]+\)$", "", name))


def rows(path, numbers):
    with open(path, errors="surrogateescape") as file:
        for line in file:
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                fields = line.split(None, numbers)
                if fields[0].isdigit():
                    yield fields[:numbers], fields[-1].split("  ")
                else:
                    yield line.split(), None


def student_factor(degrees):
    """What 99% of Student's distribution lie within. With t as the root of the
    degrees times tan(angle) its density is a power of the cosine."""
    steps = 4000
    width = math.pi / 2 / steps
    areas = [0]
    for i in range(steps):
        areas.append(areas[-1] + math.cos((i + 0.5) * width) ** (degrees - 1))
    wanted = 0.99 * areas[-1]
    at = next(i for i, area in enumerate(areas) if area >= wanted)
    at -= (areas[at] - wanted) / (areas[at] - areas[at - 1])
    return math.sqrt(degrees) * math.tan(at * width)


def noise(old, new):
    def share(values):
        mean = sum(values) / len(values)
        return sum((v - mean) ** 2 for v in values) / (len(values) - 1) / \
            len(values)

    x, y = share(old), share(new)
    if x + y == 0:
        return 0
    degrees = (x + y) ** 2 / (x ** 2 / (len(old) - 1) + y ** 2 / (len(new) - 1))
    return student_factor(degrees) * math.sqrt(x + y)


prefix = sys.argv[1]
split = sys.argv.index("--")
sides = [sys.argv[2:split], sys.argv[split + 1:]]

# (name, module): [old runs, new runs], of each (calls, self, incl)
singles = []
for side in sides:
    runs = []
    for path in side:
        run = {}
        for values, names in rows(path + ".text", 3):
            if names:
                run.setdefault((plain(names[0]), names[1]), []).append(
                    [int(v) for v in values])
        runs.append(run)
    singles.append(runs)

titles, table = None, defaultdict(list)
for values, names in rows(prefix + ".text", 14):
    if not names:
        titles = values
        continue
    row = dict(zip(titles, values))
    row["noise"] = "(noise)" in names[2:]
    table[plain(names[0]), names[1]].append(row)
if len(table) < 4:
    say("%d functions" % len(table))

total = [sum(int(row["self." + key]) for list_ in table.values()
             for row in list_) for key in ("old", "new")]
floor = max(total) * 0.001
names = set(key for runs in singles for run in runs for key in run)
if {name for name, _ in names} - {name for name, _ in table}:
    say("functions: %s" % (names ^ set(table)))
compared = 0
for key, list_ in table.items():
    of_runs = [[run.get(key, [[0, 0, 0]]) for run in runs] for runs in singles]
    # (alike names: which is which is another test's)
    if len(list_) > 1 or any(len(r) > 1 for runs in of_runs for r in runs):
        continue
    compared += 1
    row, beyond = list_[0], False
    for at, what in enumerate(("calls", "self", "incl")):
        values = [[r[0][at] for r in runs] for runs in of_runs]
        for side, name in enumerate(("old", "new")):
            mean = sum(values[side]) / len(values[side])
            got = int(row[what + "." + name])
            # times are made multiples of the number of runs, each thread's by
            # that at most; inclusive times are of several functions
            room = 0.5 if what == "calls" else len(values[side]) * 5 * \
                (1 if what == "self" else len(table))
            if abs(mean - got) > room:
                say("%s %s.%s: %s, not %s of %s" % (key, what, name, got, mean,
                                                    values[side]))
            if what == "calls" and len(set(values[side])) == 1 and got != mean:
                say("%s: exact calls %s" % (key, got))
        expected = noise(*values)
        if what != "calls":
            expected = max(expected, floor)
        got = int(row[what + ".noise"])
        # as far as the roundings reach
        reach = 1 if what == "calls" else room * student_factor(
            min(len(runs) for runs in values) - 1)
        # (the factor is up to 4% more between whole degrees)
        if not -0.003 * expected - reach <= got - expected <= \
                0.04 * expected + reach:
            say("%s: noise of %s: %s, not %s of %s" % (key, what, got, expected,
                                                       values))
        difference = abs(int(row[what + ".new"]) - int(row[what + ".old"]))
        beyond |= difference > got
    if row["noise"] == beyond:
        say("%s: noise: %s" % (key, row))
if compared < 4:
    say("%d functions were compared" % compared)

# other formats have the figures of the table
FIELDS = [what + "." + side for what in ("calls", "self", "incl")
          for side in ("old", "new", "noise")]


def figures(row):
    return [int(row[field]) for field in FIELDS]


def same(what, got):
    expected = sorted((key, figures(row)) for key, list_ in table.items()
                      for row in list_)
    for a, b in zip(expected, sorted(got)):
        if a != b:
            say("%s: %s, not %s" % (what, b, a))
            break
    if len(expected) != len(got):
        say("%s: %d rows, not %d" % (what, len(got), len(expected)))


def check_kind(what, key, kind, values):
    calls, self, incl = (values[i:i + 3] for i in (0, 3, 6))
    if not any(values[i] for i in (0, 3, 6)) and any(values[i] for i in (1, 4, 7)):
        expected = "new"
    elif not any(values[i] for i in (1, 4, 7)) and any(values[i] for i in (0, 3, 6)):
        expected = "gone"
    elif abs(self[1] - self[0]) > self[2]:
        expected = "slower" if self[1] > self[0] else "faster"
    elif abs(incl[1] - incl[0]) > incl[2] or abs(calls[1] - calls[0]) > calls[2]:
        expected = "other"
    else:
        expected = "noise"
    if kind != expected:
        say("%s: %s: %s is not %s" % (what, key, kind, expected))


got = []
with open(prefix + ".csv", newline="") as file:
    for row in csv.DictReader(file):
        values = [int(row["%s_%s%s" % (what, side, unit)])
                  for what, unit in (("calls", ""), ("self", "_ns"), ("incl", "_ns"))
                  for side in ("old", "new", "noise")]
        key = plain(row["function"]), row["module"]
        check_kind("csv", key, row["change"], values)
        got.append((key, values))
same("csv", got)

with open(prefix + ".json") as file:
    part = json.load(file)["parts"][0]
got, selfs, inclusive = [], [0, 0], {}
for f in part["functions"]:
    if f["name"] == "[unknown caller]":
        continue
    values = [source[field] for field in ("calls", "self_ns", "incl_ns")
              for source in (f["old"], f, f["noise"])]
    key = plain(f["name"]), (f["module"] or "-").rsplit("/", 1)[-1]
    check_kind("json", key, f["change"], values)
    got.append((key, values))
same("json", got)
for side, prefix_ in enumerate(("old_", "")):
    of_contexts = defaultdict(lambda: [0, 0])
    for context in part["contexts"]:
        sums = of_contexts[context["function"]]
        sums[0] += context[prefix_ + "calls"]
        sums[1] += context[prefix_ + "self_ns"]
    for index, f in enumerate(part["functions"]):
        f = f["old"] if side == 0 else f
        if of_contexts[index] != [f["calls"], f["self_ns"]]:
            say("contexts of %s: %s" % (f, of_contexts[index]))
    root = part["contexts"][0][prefix_ + "incl_ns"]
    if not root == (part["old"] if side == 0 else part)["total_ns"] == total[side]:
        say("total %d, %d of contexts" % (total[side], root))
    edges = defaultdict(lambda: [0, 0])
    for edge in part["edges"]:
        edges[edge["callee"]][0] += edge[prefix_ + "calls"]
        edges[edge["callee"]][1] += edge[prefix_ + "incl_ns"]
    for index, f in enumerate(part["functions"]):
        name, f = f["name"], f["old"] if side == 0 else f
        if name[0] != "[" and edges[index] != [f["calls"], f["incl_ns"]]:
            say("edges to %s: %s, not %s" % (name, edges[index], f))

sums = defaultdict(lambda: [0, 0])
with open(prefix + ".folded") as file:
    for line in file:
        stack, old, new = line.rstrip("\n").rsplit(" ", 2)
        sums[plain(stack.split(";")[-1])][0] += int(old)
        sums[plain(stack.split(";")[-1])][1] += int(new)
by_name = defaultdict(lambda: [0, 0])
for (name, _), list_ in table.items():
    for row in list_:
        by_name[name][0] += int(row["self.old"])
        by_name[name][1] += int(row["self.new"])
for name in by_name:
    if sums[name] != by_name[name]:
        say("folded: %s: %s, not %s" % (name, sums[name], by_name[name]))
with open(prefix + ".callgrind") as file:
    summary = re.search(r"^summary: \d+ \d+ (\d+) (\d+)$", file.read(), re.M)
if [int(v) for v in summary.groups()] != total:
    say("callgrind: %s" % summary.group())
for values, names in rows(prefix + ".tree", 11):
    if names:  # the root
        if [int(values[7]), int(values[8])] != total:
            say("tree: %s" % values)
        break

# pprof: as it shows "-diff_base OLD NEW", whose old samples it negates and labels
proto = defaultdict(list)
for field, value in fields_of(gzip.decompress(open(prefix + ".pprof", "rb").read())):
    proto[field].append(value)
texts = [value.decode(errors="surrogateescape") for value in proto[6]]
ids = {field: {dict(fields_of(v))[1]: list(fields_of(v)) for v in proto[field]}
       for field in (4, 5)}
sums = defaultdict(lambda: [0, 0, 0, 0])
kinds = defaultdict(set)
for sample in proto[2]:
    sample = list(fields_of(sample))
    labels = [dict(fields_of(v)) for f, v in sample if f == 3]
    labels = {texts[v[1]]: texts[v.get(2, 0)] for v in labels}
    line = [v for f, v in ids[4][next(numbers_of(dict(sample)[1]))] if f == 4][-1]
    name = plain(texts[dict(ids[5][dict(fields_of(line))[1]])[2]])
    values = [v - 2 ** 64 if v >= 2 ** 63 else v for v in numbers_of(dict(sample)[2])]
    old = labels.get("pprof::base") == "true"
    if any(v > 0 if old else v < 0 for v in values):
        say("pprof: %s of %s" % (values, name))
    for at, value in enumerate(values):
        sums[name][2 * at + old] += value
    kinds[name].add(labels.get("change"))
by_name = defaultdict(lambda: [0, 0, 0, 0])
for (name, _), list_ in table.items():
    for row in list_:
        by_name[name][0] += int(row["calls.new"])
        by_name[name][1] -= int(row["calls.old"])
        by_name[name][2] += int(row["self.new"])
        by_name[name][3] -= int(row["self.old"])
for name in by_name:
    if sums[name] != by_name[name]:
        say("pprof: %s: %s, not %s" % (name, sums[name], by_name[name]))
with open(prefix + ".csv", newline="") as file:
    expected = defaultdict(set)
    for row in csv.DictReader(file):
        expected[plain(row["function"])].add(row["change"])
for name in kinds:
    if not kinds[name] <= expected[name]:
        say("pprof: %s is %s, not %s" % (name, kinds[name], expected[name]))
if len(kinds) < 4:
    say("pprof: %d functions" % len(kinds))

# dot: the differences, and the colours of what they are
FILLS = {"noise": "#eeeeee", "slower": "0.02 ", "faster": "0.33 "}
with open(prefix + ".dot") as file:
    graph = file.read()
boxes = re.findall(r'^\tf\d+ \[label="(.*)\\n(.*)\\nself ([+-]\d+) ns.*?\\nincl '
                   r'([+-]\d+) ns.*?\\n(\d+)(?: to (\d+))? calls \((\w+)\)", '
                   r'fillcolor="(.*?)"', graph, re.M)
for name, module, self, incl, old, new, kind, fill in boxes:
    list_ = table[plain(name), module]
    if [int(self), int(incl), int(old), int(new or old)] not in [
            [int(row["self.new"]) - int(row["self.old"]),
             int(row["incl.new"]) - int(row["incl.old"]),
             int(row["calls.old"]), int(row["calls.new"])] for row in list_]:
        say("dot: %s %s %s %s: %s" % (name, self, incl, new, list_))
    if kind not in expected[plain(name)]:
        say("dot: %s is %s" % (name, kind))
    if (kind == "noise") != (fill == FILLS["noise"]) or \
            not fill.startswith(FILLS.get(kind, "")):
        say("dot: %s: %s: %s" % (name, kind, fill))
if sorted((plain(box[0]), box[1]) for box in boxes) != sorted(
        key for key, list_ in table.items() for row in list_):
    say("dot: %d boxes of %d" % (len(boxes), len(table)))
arrows = re.findall(r'^\tf\d+ -> f(\d+) \[label="([+-]\d+) ns.*?\\n(\d+)'
                    r'(?: to (\d+))?", color="(.*?)"', graph, re.M)
into = defaultdict(lambda: [0, 0, 0])
numbers = {number: plain(name) for number, name in re.findall(
    r'^\tf(\d+) \[label="(.*?)\\n', graph, re.M)}
for callee, incl, old, new, colour in arrows:
    for at, value in enumerate((incl, old, new or old)):
        into[callee][at] += int(value)
for callee in into:
    if into[callee] not in [
            [int(row["incl.new"]) - int(row["incl.old"]), int(row["calls.old"]),
             int(row["calls.new"])] for (name, _), list_ in table.items()
            for row in list_ if name == numbers[callee]]:
        say("dot: arrows to %s: %s" % (numbers[callee], into[callee]))
if len(arrows) < 4:
    say("dot: %d arrows" % len(arrows))
sys.exit(1 if wrong else 0)
