import csv, re, sys
key, table = sys.argv[1], sys.argv[2]
rows = list(csv.DictReader(open("by.csv")))
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
total = sum(int(r["self_ns"]) for r in rows)
lines = open(table).read().split("\n")
start = next(i for i, l in enumerate(lines) if re.match("(self|incl)%", l))
titles = lines[start].split()
times = {"self": "self_ns", "incl": "incl_ns", "wall": "wall_ns", "cpu": "processor_ns",
         "waiting": "waiting_ns" if key in ("thread", "process") else "incl_waiting_ns",
         "?": "unknown_ns"}
body = lines[start + 1:]
body = body[:body.index("")]
assert len(body) == len(rows), (len(body), len(rows))
seen = set()
for row, line in zip(rows, body):
    rest = line
    for i, title in enumerate(titles):
        if title in ("self%", "incl%"):
            m = re.match(r" *(<?)([0-9.]+)%", rest)
            share = 100 * int(row[title[:-1] + "_ns"]) / total
            assert m, line
            assert share < 0.1 if m[1] else abs(share - float(m[2])) < 0.51, (line, share)
        elif title in times:
            m = re.match(r" *([0-9.]+) (ns|us|ms|s)\b| *-", rest)
            assert m, (title, line)
            if m[1]:
                name = times[title]
                if title == "waiting" and titles[i - 1] == "self":
                    name = "self_waiting_ns"
                ns, is_ns = float(m[1]) * units[m[2]], int(row[name])
                assert abs(ns - is_ns) <= 0.006 * ns + 1, (title, line, row)
            else:
                assert row[times[title]] == "", (title, line, row)
        elif title in ("calls", "tid", "pid"):
            m = re.match(r" *([0-9,]+)", rest)
            assert m[1].replace(",", "") == row[title], (title, line, row)
            assert title == "calls" or "," not in m[1], line
        else:
            break
        seen.add(title)
        rest = rest[m.end():]
    label = {"function": "function", "module": "module", "process": "command",
             "thread": "thread", "file": "file", "line": "file"}[key]
    name = row[label] or "-"
    assert name.split("/")[-1] in rest, (line, row)
    if key == "process":
        assert rest.startswith("  " + "  " * int(row["level"]) + name), (line, row)
    if key == "line" and row["line"] not in ("", "0"):
        assert ":" + row["line"] in rest, (line, row)
wanted = {"calls"} | ({"wall", "cpu", "waiting"} if key in ("thread", "process") else
                      {"self%", "self", "incl%", "incl", "waiting"})
assert wanted <= seen, seen
