"""read_tree.py TREE CSV CAUSES PATH COUNT: in a tree --causes PATH, of functions with
'>' between those of two threads, has COUNT calls at its end; it has all that the
table of functions has, and --by cause as much."""
import collections
import csv
import json
import re
import sys

tree, table, causes, wanted, count = sys.argv[1:]
calls, selfs = collections.Counter(), collections.Counter()
paths, stack, total, inclusive = collections.Counter(), [], 0, None
for line in open(tree):
    found = re.match(r' *(\d+) +(\d+) +(\d+) +[\d.]+((?: +\d+ +\d+)?)  ( *)(\S+)  (\S+)(.*)', line)
    if line.startswith('#') or not found:
        continue
    depth = len(found[5]) // 2
    name = found[6]
    del stack[depth:]
    stack.append(('> ' if '(in another thread)' in found[8] else '') + name)
    paths[' '.join(stack)] += int(found[1])
    calls[name] += int(found[1])
    selfs[name] += int(found[2])
    inclusive = inclusive or int(found[3])
rows = list(csv.DictReader(open(table)))
for row in rows:
    name = row['function']
    assert calls[name] == int(row['calls']), (name, calls[name], row)
    assert selfs[name] == int(row['self_ns']), (name, selfs[name], row)
# (what was posted before a range has work in it, and no time of its own)
for name in set(calls) - {row['function'] for row in rows}:
    assert calls[name] == selfs[name] == 0, (name, calls[name], selfs[name])
assert inclusive == sum(selfs.values()), (inclusive, sum(selfs.values()))
ends = sum(n for path, n in paths.items() if path.endswith(wanted))
assert ends == int(count), (ends, paths)
rows = list(csv.DictReader(open(causes)))
assert sum(int(row['calls']) for row in rows) == sum(calls.values())
assert sum(int(row['self_ns']) for row in rows) == inclusive
by = {row['cause']: row for row in rows}
assert int(by['[its own]']['incl_ns']) == inclusive, by
if ' > ' in wanted:
    poster = wanted.split(' > ')[-2].split()[-2]
    assert int(by[poster]['calls']) >= int(count), (poster, by)
