# shellcheck shell=bash
# Tables by modules, processes, threads, files and lines: all add up to the same.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets running

cat >tree.sh <<'EOF'
sh -c 'sleep 0.1; :'
sh -c '(:); exec sleep 0.2'
:
EOF
capture timeout 240 "$RUN" -q --imports -o profiles/ sh tree.sh
assert_status 0
capture timeout 240 "$RUN" -q --imports -o profiles/ "$TARGETS/running"
assert_status 0

it 'the rows of every key add up to the total of the table of functions'
"$DUMP" -q -f csv profiles >functions.csv
total=$(awk -F, 'NR > 1 { s += $2 } END { printf "%.0f", s }' functions.csv)
calls=$(awk -F, 'NR > 1 { s += $1 } END { printf "%.0f", s }' functions.csv)
[ "$total" -gt 300000000 ] || fail "no time: $total"
for key in function module process thread file line; do
	"$DUMP" -q -f csv --by $key profiles >by.csv
	assert_eq "$total $calls" "$(awk -F, 'NR > 1 { s += $2; c += $1 }
		END { printf "%.0f %.0f", s, c }' by.csv)" "csv by $key"
	"$DUMP" -q --by $key profiles >by
	assert_eq "$total $calls" "$(grep -v '^#' by | awk 'NR > 1 {
		s += $2; c += $1 } END { printf "%.0f %.0f", s, c }')" \
		"text by $key"
	"$DUMP" -q -f json --by $key profiles | python3 -c '
import json, sys
table = json.load(sys.stdin)
rows = table["rows"]
assert sum(r["self_ns"] for r in rows) == table["total_ns"]
print(table["by"], table["total_ns"], sum(r["calls"] for r in rows))' >sums
	assert_eq "$key $total $calls" "$(cat sums)" "json by $key"
done

it 'functions by threads and processes add up in both ways'
for columns in thread process; do
	"$DUMP" -q -f json --by function,$columns profiles | python3 -c '
import json, sys
table = json.load(sys.stdin)
rows, columns = table["rows"], table["columns"]
assert len(columns) > 1
for r in rows:
    assert sum(r["cells_ns"]) == r["self_ns"], r
for i, c in enumerate(columns):
    assert sum(r["cells_ns"][i] for r in rows) == c["self_ns"], c
print(sum(c["self_ns"] for c in columns))' >sums
	assert_eq "$total" "$(cat sums)" "by function,$columns"
	"$DUMP" -q --by function,$columns profiles >matrix
	assert_eq 0 "$(grep -v '^#' matrix | awk 'NR == 1 { n = NF - 2 }
		NR > 1 { s = 0; for (i = 2; i <= n; i++) s += $i
			if (s != $1) bad++ } END { print bad + 0 }')" 'rows'
	[ "$(grep -vc '^#' matrix)" -gt 10 ] || fail 'few rows'
done

it 'processes are a tree'
"$DUMP" -q -f csv --by process profiles >tree.csv
cat >check.py <<'EOF'
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
assert commands[0] == (0, "sh tree.sh"), commands
assert any(l >= 1 and c == "sleep 0.1" for l, c in commands), commands
assert any(l >= 1 and c == "sleep 0.2" for l, c in commands), commands
for r in rows:
    if r["command"].startswith("sleep"):
        assert int(r["waiting_ns"]) >= int(r["command"][6:].replace(
            ".", "")) * 90000000, r
EOF
capture python3 check.py tree.csv
assert_status 0
assert_empty err

it 'a short process that becomes another one has run, not waited'
"$RUN" -q -o short/ env true
"$DUMP" -f csv --by process short | awk -F, '$12 == "\"env true\"" {
	print $4 == $5 + $6 + $7, ($5 > 0), $7 }' >found
assert_eq '1 1 0' "$(cat found)" 'known, and how'

it 'waiting is that of the calls that wait'
"$DUMP" -q -f csv --by function profiles >by.csv
waited=$(awk -F, 'NR > 1 { s += $4 } END { printf "%.0f", s }' by.csv)
[ "$waited" -gt 300000000 ] || fail "waited $waited ns"
# the thread functions sleep by way of rest()
slept=$(awk -F, '$6 == "rest" { print $4, $5 }' by.csv)
[ "${slept#0 }" -gt 500000000 ] || fail "rest() waited ${slept:-not} ns"
assert_eq '0 0' "$(awk -F, '$6 == "run" { print $4, $5 }' by.csv)" 'run()'
assert_eq "$slept" "$("$DUMP" -q --by function profiles |
	awk '$6 == "rest" { print $4, $5 }')" 'text'
# as the table of functions says
awk -F, 'NR > 1 { print $6, $4, $5 }' by.csv | sort >by_waiting
python3 -c '
import csv, sys
for r in csv.DictReader(open("functions.csv")):
    print(r["function"], r["self_waiting_ns"], r["incl_waiting_ns"])' |
	sort | assert_same /dev/stdin by_waiting
for key in module file line; do
	"$DUMP" -q -f csv --by $key profiles >by.csv
	assert_eq "$waited" "$(python3 -c '
import csv
print(sum(int(r["self_waiting_ns"]) for r in csv.DictReader(open("by.csv"))))')" \
		"self by $key"
	assert_eq "$waited" "$(python3 -c '
import csv
print(max(int(r["incl_waiting_ns"]) for r in csv.DictReader(open("by.csv"))))')" \
		"incl by $key"
done

it 'without imports it is not known'
"$RUN" -q -o plain "$TARGETS/running" >/dev/null
"$DUMP" -f csv --by module plain >by.csv
assert_eq 0 "$(awk -F, 'NR > 1 && $4 != "" { n++ } END { print n + 0 }' by.csv)" \
	'figures'
"$DUMP" --by module plain >by
assert_not_contains by -wait

it 'says which keys there are'
for key in modul '' thread,function function,module process,thread; do
	capture "$DUMP" --by "$key" plain
	assert_status 2
	assert_empty out
done
capture "$DUMP" --by modul plain
assert_contains err 'function, module, process, thread, file, line'
capture "$DUMP" -f tree --by module plain
assert_status 2

finish
