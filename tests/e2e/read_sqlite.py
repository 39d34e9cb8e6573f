"""Compares a database of swizzle-dump -f sqlite with what other formats say of the
same profiles, by Python's own sqlite3; prints where it is wrong.

  read_sqlite.py functions BASE CSV              figures of functions
  read_sqlite.py threads BASE CSV                the same, csv --by thread,parts
  read_sqlite.py graph BASE JSON                 edges, contexts
  read_sqlite.py events BASE CHROME              calls, and times off the processor
"""

import collections
import csv
import json
import re
import sqlite3
import sys

wrong = 0


def say(message):
    global wrong
    wrong += 1
    if wrong <= 20:
        print(message)


def compare(what, expected, got):
    for key in sorted(set(expected) | set(got), key=str):
        if expected.get(key) != got.get(key):
            say(f"{what} {key}: {got.get(key)}, not {expected.get(key)}")


FIGURES = ["self_ns", "incl_ns", "min_ns", "max_ns", "unwound",
           "self_waiting_ns", "incl_waiting_ns"]


def number(text):
    return int(text) if text not in ("", None) else None


def shown(value):
    """As csv has it: control characters could break a line."""
    return re.sub(r"[\x00-\x1f\x7f\ufffd]", "?", value) if isinstance(value, str) else value


def rows_of_csv(path, threads):
    rows = collections.Counter()
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        for row in csv.DictReader(file):
            key = [row["function"], row["module"], row["file"], number(row["line"])]
            if threads:
                key += [int(row["tid"]), row["thread"]]
            key += [number(row.get("calls")), number(row.get("samples"))]
            key += [number(row[figure]) for figure in FIGURES]
            key.append(None if threads else number(row.get("bound_ns")) or None)
            rows[tuple(key)] += 1
    return rows


def functions(base, path, threads=False):
    expected = rows_of_csv(path, threads)
    got = collections.Counter()
    figures = ", ".join(f"c.{figure}" for figure in ["calls", "samples"] + FIGURES)
    if threads:
        query = f"""SELECT f.name, coalesce(f.module_name, '-'), coalesce(f.file, ''),
            f.line, t.tid, t.name, {figures}, NULL FROM thread_functions c
            JOIN named_functions f ON f.id = c.function JOIN threads t ON t.id = c.thread"""
    else:
        query = f"""SELECT c.name, coalesce(c.module_name, '-'), coalesce(c.file, ''),
            c.line, {figures}, c.bound_ns FROM named_functions c"""
    for row in base.execute(query):
        got[tuple(shown(value) for value in row)] += 1
    for row in expected - got:
        say(f"not in the database: {row}")
    # what a table leaves out has neither calls nor time of its own
    at = 6 if threads else 4
    for row in got - expected:
        if row[at] or row[at + 1] or row[at + 2]:
            say(f"not in csv: {row}")
    if sum(expected.values()) < 2:
        say("csv has too few rows")
    if not threads:
        total, = base.execute("SELECT value FROM about WHERE key = 'total_ns'").fetchone()
        if int(total) != base.execute("SELECT sum(self_ns) FROM functions").fetchone()[0]:
            say("the self times do not add up to the total")


def graph(base, path):
    with open(path) as file:
        parts = json.load(file)["parts"]
    edges, contexts = collections.Counter(), collections.Counter()
    for part in parts:
        names = [(f["name"], f["module"]) for f in part["functions"]]
        for edge in part["edges"]:
            key = (names[edge["caller"]], names[edge["callee"]], edge["file"],
                   edge["line"] or None)
            edges[key + ("calls",)] += edge.get("calls", edge.get("samples", 0)) or 0
            edges[key + ("ns",)] += edge["incl_ns"]
        paths = []
        for context in part["contexts"]:
            above = paths[context["parent"]] if "parent" in context else ()
            path = above + (names[context["function"]],)
            paths.append(path)
            contexts[path, "calls"] += context.get("calls", context.get("samples", 0)) or 0
            contexts[path, "ns"] += context["self_ns"]
    names = dict((row[0], (row[1], row[2])) for row in base.execute(
        "SELECT f.id, f.name, m.path FROM functions f LEFT JOIN modules m ON m.id = f.module"))
    got = collections.Counter()
    for row in base.execute("""SELECT caller, callee, file, line,
            coalesce(calls, samples, 0), incl_ns FROM named_edges"""):
        key = (names[row[0]], names[row[1]], row[2], row[3])
        got[key + ("calls",)] += row[4]
        got[key + ("ns",)] += row[5]
    compare("edge", edges, got)
    got = collections.Counter()
    paths = {}
    for row in base.execute("""SELECT id, parent, function, coalesce(calls, samples, 0),
            self_ns, depth FROM contexts ORDER BY id"""):
        path = (paths[row[1]] if row[1] else ()) + (names[row[2]],)
        paths[row[0]] = path
        if len(path) != row[5] + 1:
            say(f"depth {row[5]} of {path}")
        got[path, "calls"] += row[3]
        got[path, "ns"] += row[4]
    compare("context", contexts, got)
    if len(edges) < 6 or len(contexts) < 6:
        say("there is nothing to see")


def ns(microseconds):
    return round(float(microseconds) * 1000)


def events(base, path):
    threads, off, stacks, order = {}, {}, {}, collections.Counter()
    with open(path) as file:
        for event in json.load(file, parse_float=str)["traceEvents"]:
            key = event["pid"], event["tid"]
            if event["ph"] == "M":
                continue
            stack = stacks.setdefault(key, [])
            if event["ph"] == "B":
                stack.append((event["name"], ns(event["ts"]), event["cat"] == "kernel",
                              order[key]))
                order[key] += event["cat"] != "kernel"
                continue
            name, start, kernel, number_of = stack.pop()
            if kernel:
                off.setdefault(key, []).append((start, ns(event["ts"]), name[1:-1]))
            else:
                threads.setdefault(key, {})[number_of] = (
                    name, start, ns(event["ts"]), sum(not item[2] for item in stack),
                    event.get("args", {}).get("ended by"))
    got, seen = {}, {}
    for row in base.execute("""SELECT p.pid, t.tid, e.id, f.name, e.start_ns, e.duration_ns,
            e.depth, e.ended, e.parent, e.began, e.context, e.function FROM events e
            JOIN threads t ON t.id = e.thread JOIN processes p ON p.id = t.process
            JOIN functions f ON f.id = e.function ORDER BY e.id"""):
        key = row[0], row[1]
        mine = got.setdefault(key, {})
        mine[len(mine)] = (row[3], row[4], row[4] + row[5], row[6], row[7])
        seen[row[2]] = (key, row[4], row[4] + row[5], row[6])
        if row[8] is None:
            if row[6] != 0:
                say(f"event {row[2]}: depth {row[6]} without a parent")
        elif not (seen[row[8]][0] == key and seen[row[8]][1] <= row[4] and
                  row[4] + row[5] <= seen[row[8]][2] and seen[row[8]][3] == row[6] - 1):
            say(f"event {row[2]} is not within its parent {row[8]}")
    for key in sorted(set(threads) | set(got)):
        compare(f"event of {key}", threads.get(key, {}), got.get(key, {}))
    wrong_context, = base.execute("""SELECT count(*) FROM events e JOIN contexts c
        ON c.id = e.context WHERE c.function <> e.function OR c.thread <> e.thread""").fetchone()
    if wrong_context:
        say(f"{wrong_context} events have the context of another function or thread")
    # chrome cuts them at each call
    for key in sorted(off):
        joined = []
        for start, end, kind in sorted(off[key]):
            if joined and joined[-1][1] == start and joined[-1][2] == kind:
                joined[-1] = (joined[-1][0], end, kind)
            else:
                joined.append((start, end, kind))
        mine = []
        for start, length, kind in base.execute("""SELECT w.start_ns, w.duration_ns, w.kind
                FROM waits w JOIN threads t ON t.id = w.thread JOIN processes p
                ON p.id = t.process WHERE p.pid = ? AND t.tid = ? ORDER BY w.start_ns""", key):
            if mine and mine[-1][1] == start and mine[-1][2] == kind:
                mine[-1] = (mine[-1][0], start + length, kind)
            elif length:
                mine.append((start, start + length, kind))
        if [wait for wait in joined if wait[1] > wait[0]] != mine:
            say(f"waits of {key}: {mine[:5]}, not {joined[:5]}")
    print_count = sum(len(mine) for mine in threads.values())
    if print_count < 100:
        say("there is nothing to see")


if __name__ == "__main__":
    what, base, path = sys.argv[1:]
    connection = sqlite3.connect(f"file:{base}?mode=ro", uri=True)
    {"functions": functions, "graph": graph, "events": events,
     "threads": lambda a, b: functions(a, b, True)}[what](connection, path)
    connection.close()
    sys.exit(wrong > 0)
