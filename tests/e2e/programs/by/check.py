import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
at = {}
for i, r in enumerate(rows):
    level = int(r["level"])
    r["kids"], r["sum"] = 0, int(r["self_ns"])
    at[level] = r
    if level:
        parent = at[level - 1]
        parent["kids"] += 1
        assert r["parent"] == parent["pid"] or r["pid"] == parent["pid"]
        for above in range(level):
            at[above]["sum"] += int(r["self_ns"])
for r in rows:
    assert int(r["children"]) == r["kids"], r
    assert int(r["incl_ns"]) == r["sum"], r
    assert int(r["processor_ns"]) <= sum(int(r[k]) for k in (
        "processor_ns", "waiting_ns", "unknown_ns")), r
commands = [(int(r["level"]), r["command"]) for r in rows]
assert (0, "sh tree.sh") in commands, commands
assert any(l >= 1 and c == "sleep 0.1" for l, c in commands), commands
assert any(l >= 1 and c == "sleep 0.2" for l, c in commands), commands
for r in rows:
    if r["command"].startswith("sleep"):
        assert int(r["waiting_ns"]) >= int(r["command"][6:].replace(
            ".", "")) * 90000000, r
