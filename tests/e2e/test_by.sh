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
# (no symbolic link: tables would name it by that, csv by its path)
mkdir bin
cp "$(readlink -f "$(command -v sh)")" bin/sh
PATH=$PWD/bin:$PATH
capture timeout 240 "$RUN" -q --imports -o profiles/ sh tree.sh
assert_status 0
capture timeout 240 "$RUN" -q --imports -o profiles/ "$TARGETS/running"
assert_status 0

it 'the rows of every key add up to the total of the table of functions'
"$DUMP" -q -f csv profiles >functions.csv
total=$(awk -F, 'NR > 1 { s += $2 } END { printf "%.0f", s }' functions.csv)
calls=$(awk -F, 'NR > 1 { s += $1 } END { printf "%.0f", s }' functions.csv)
[ "$total" -gt 100000000 ] || fail "no time: $total"
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
program check.py >check.py
capture python3 check.py tree.csv
assert_status 0
assert_empty err

it 'a short process that becomes another one has run, not waited'
"$RUN" -q -o short/ env true
"$DUMP" -f csv --by process short | awk -F, '$12 == "\"env true\"" {
	print $4 == $5 + $6 + $7, ($5 > 0), $7 }' >found
assert_eq '1 1 0' "$(cat found)" 'known, and how'

it 'waiting is apart from running'
"$DUMP" -q -f csv --by function profiles >by.csv
waited=$(awk -F, 'NR > 1 { s += $4 } END { printf "%.0f", s }' by.csv)
[ "$waited" -gt 300000000 ] || fail "waited $waited ns"
# the thread functions sleep by way of rest()
slept=$(awk -F, '$6 == "rest" { print $4, $5 }' by.csv)
[ "${slept#* }" -gt 500000000 ] || fail "rest() waited ${slept:-not} ns"
assert_le "$(awk -F, '$6 == "rest" { print $3 }' by.csv)" 50000000 'rest() ran'
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
"$DUMP" -q -f pprof -o waits.pb.gz profiles
assert_eq "$waited" "$(PYTHONPATH=$TOP/tests/e2e python3 -c '
import gzip
from read_format import fields_of, numbers_of
print(sum(list(numbers_of(dict(fields_of(value))[2]))[2]
    for field, value in fields_of(gzip.open("waits.pb.gz").read()) if field == 2))')" pprof

it 'where nobody looks, and without imports, it is not known'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_QUIET=1 SWIZZLE_OUTPUT=plain "$TARGETS/running" >/dev/null
mv plain.* plain
"$DUMP" -f csv --by module plain >by.csv
assert_eq 0 "$(awk -F, 'NR > 1 && $4 != "" { n++ } END { print n + 0 }' by.csv)" \
	'figures'
"$DUMP" --by module plain >by
assert_not_contains by -wait

it '-f table: the figures are those of csv, in units'
program compare.py >compare.py
for key in function module process thread file line; do
	"$DUMP" -q -f csv --by $key profiles >by.csv
	capture "$DUMP" -q -f table -n 0 --by $key profiles
	assert_status 0
	mv out table
	capture python3 compare.py $key table
	assert_eq '' "$(cat err)" "the table by $key"
done

it 'a matrix adds up, and says what its columns are'
capture "$DUMP" -q -f table -n 0 --by module,thread profiles
awk '/^[0-9]+: thread / { legend[$1] = 1; n++ }
	/^self%/ { for (i = 3; i <= NF && $i ~ /^[0-9]+$/; i++) {
			columns++
			if (!legend[$i ":"]) bad = 1 } }
	END { exit bad || columns < 2 || n != columns }' out || fail "$(cat out)"
"$DUMP" -q -f json --by module,thread profiles >by.json
mv out table
capture python3 - table by.json <<'EOF'
import json, re, sys
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
table = json.load(open(sys.argv[2]))
lines = open(sys.argv[1]).read().split("\n")
start = next(i for i, l in enumerate(lines) if l.startswith("self%"))
ids = [int(t) for t in lines[start].split() if t.isdigit()]
assert ids == [c["tid"] for c in table["columns"]][:len(ids)], ids
for row, line in zip(table["rows"], lines[start + 1:]):
    found = [float(a) * units[b] for a, b in re.findall(r"([0-9.]+) (ns|us|ms|s)\b", line)]
    cells = row["cells_ns"]
    wanted = [row["self_ns"]] + cells[:len(ids)]
    if len(ids) < len(cells):
        wanted.append(row["self_ns"] - sum(cells[:len(ids)]))
    assert len(found) >= len(wanted) >= 3, line
    for is_ns, ns in zip(wanted, found):
        assert abs(ns - is_ns) <= 0.006 * ns + 1, (line, wanted)
EOF
assert_eq '' "$(cat err)" 'the matrix'

it 'on a terminal --by prints that table, within the width'
on_terminal() { # WIDTH COMMAND...
	python3 - "$@" >screen <<'EOF'
import fcntl, os, pty, struct, sys, termios, time
pid, end = pty.fork()
if pid == 0:
    while os.get_terminal_size(0).columns != int(sys.argv[1]):
        time.sleep(0.01)
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
data = b""
while True:
    try:
        part = os.read(end, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
sys.stdout.buffer.write(data.replace(b"\r", b""))
EOF
}
for key in function module process thread file line function,thread file,process; do
	for width in 80 140; do
		TERM=xterm on_terminal $width "$DUMP" -q --no-pager --by $key profiles
		grep -q $'\033\\[1m' screen || fail "no colours by $key"
		sed 's/\x1b\[[0-9;]*m//g' screen >plain
		assert_ge "$(grep -c . plain)" 5 "lines by $key"
		assert_eq '' "$(awk -v width=$width 'length($0) > width' plain)" \
			"lines of more than $width columns by $key"
		grep -qE '^(self|incl)% .*[0-9a-z?] ' plain || fail "no titles by $key"
	done
done
"$DUMP" -q --by module profiles | head -n 1 | grep -q '^# process' ||
	fail 'elsewhere it is not the plain table'

it 'json takes -n and -s with --by'
for format in table text csv json; do
	capture "$DUMP" -q -f $format --by module -n 1 -s calls profiles
	assert_status 0
done
capture "$DUMP" -q -f json --by module -n 2 -s calls profiles
"$DUMP" -q -f csv --by module -s calls profiles >by.csv
mv out limited
python3 - limited by.csv <<'EOF' 2>err || fail "$(cat err)"
import csv, json, sys
rows = json.load(open(sys.argv[1]))["rows"]
wanted = [int(r["calls"]) for r in csv.DictReader(open(sys.argv[2]))]
assert len(wanted) > 2 and wanted == sorted(wanted, reverse=True), wanted
assert [r["calls"] for r in rows] == wanted[:2], rows
EOF
"$DUMP" -q -f json --by function --percent-limit 1 -F 'r*' profiles >limited
"$DUMP" -q -f json --by function -F 'r*' profiles >all
python3 - <<'EOF' 2>err || fail "$(cat err)"
import json
limited, every = json.load(open("limited")), json.load(open("all"))
wanted = [r for r in every["rows"] if r["self_ns"] * 100 >= every["total_ns"]]
assert 0 < len(wanted) < len(every["rows"]), every
assert limited["rows"] == wanted, limited
names = [r["function"] for r in every["rows"]]
assert "run" in names and "rest" in names and "main" not in names, names
EOF
capture "$DUMP" -f json -n 1 profiles
assert_status 2

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
