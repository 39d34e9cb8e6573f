# shellcheck shell=bash
# Tables by modules, processes, threads, files and lines of a run that waits. (Rows and
# columns of a small profile: tests/unit/test_dump_by.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc python3
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
# as the table of functions says
"$DUMP" -q -f csv profiles >functions.csv
awk -F, 'NR > 1 { print $6, $4, $5 }' by.csv | sort >by_waiting
python3 -c '
import csv, sys
for r in csv.DictReader(open("functions.csv")):
    print(r["function"], r["self_waiting_ns"], r["incl_waiting_ns"])' |
	sort | assert_same /dev/stdin by_waiting
for key in module line; do
	"$DUMP" -q -f csv --by $key profiles >by.csv
	assert_eq "$waited $waited" "$(python3 -c '
import csv
rows = list(csv.DictReader(open("by.csv")))
print(sum(int(r["self_waiting_ns"]) for r in rows),
      max(int(r["incl_waiting_ns"]) for r in rows))')" "by $key"
done

it 'where nobody looks, and without imports, it is not known'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_QUIET=1 SWIZZLE_OUTPUT=plain "$TARGETS/running" >/dev/null
mv plain.* plain
"$DUMP" -f csv --by module plain >by.csv
assert_eq 0 "$(awk -F, 'NR > 1 && $4 != "" { n++ } END { print n + 0 }' by.csv)" \
	'figures'
"$DUMP" --by module plain >by
assert_not_contains by -wait

it 'a thread that is killed: a heading says no more of it than its row'
cat >killed.c <<-'END'
	#include <signal.h>
	#include <unistd.h>
	__attribute__((noinline)) void nap(void) { usleep(20000); }
	int main(void)
	{
		for (volatile long i = 0; i < 60000000; i++)
			;
		nap(), nap(), nap(), kill(getpid(), SIGKILL);
	}
END
gcc -O1 -o killed killed.c || abort 'no program'
("$RUN" -q -m profile -o killed.profile ./killed) 2>/dev/null
"$DUMP" -q -f json -o all.json killed.profile
"$DUMP" -q -f json --by thread -o threads.json killed.profile
"$DUMP" -q -f text -o text killed.profile
python3 - 2>wrong <<-'END' || fail "$(cat wrong text)"
	import json, re, sys
	all, threads = (json.load(open(name)) for name in ("all.json", "threads.json"))
	part, [row] = all["parts"][0], threads["rows"]
	said = dict(re.findall(r"\b(running|waiting|unknown) (\d+) ns", open("text").read()))
	assert int(said["waiting"]) == part["waiting_ns"] + part["unplaced_waiting_ns"], said
	assert int(said.get("unknown", 0)) == part["unknown_ns"], said
	assert abs(part["unknown_ns"] - row["unknown_ns"]) <= part["hooks_ns"] + 1, (part, row)
	# (where so little came after the last reading, 1 %, it is taken as waiting)
	assert int(said.get("running", 0)) <= (row["processor_ns"] or 0) + 0.01 * part["total_ns"] + 20000, (said, row)
END

it 'what is killed while nobody waits for its end has lasted longer than is known'
("$RUN" -q -m count -o killed.counts ./killed) 2>/dev/null
"$DUMP" -f info killed.counts >info
assert_matches info '^duration: >= [0-9.]* s'
"$DUMP" -f table killed.counts >table
assert_matches table '^process [0-9]*, 1 thread, >= [0-9.]* [mun]*s wall-clock time, '
"$DUMP" --by thread killed.counts >text
assert_matches text '^ +[0-9]+ +- +>=[0-9]+ '
"$DUMP" -f table --by thread killed.counts >table
assert_matches table '^ +- +- >[0-9.]+ [mun]*s '
"$DUMP" -f csv --by thread killed.counts >by.csv
assert_eq 'wall_ns ' "$(awk -F , '{ for (i = 1; i <= NF; i++) if (NR == 1) at[$i] = i }
	NR == 2 { print "wall_ns " $at["wall_ns"] }' by.csv)" 'wall time in csv'
"$DUMP" -q -f json --by thread killed.counts >by.json
assert_contains by.json '"wall_ns":null'
"$DUMP" -q -f sqlite -o killed.db killed.counts
assert_eq '1 0 0' "$(python3 -c 'import sqlite3
print(*sqlite3.connect("killed.db").execute("""SELECT count(*), count(t.end_ns),
	count(p.duration_ns) FROM threads t JOIN processes p ON p.id = t.process""").fetchone())')" \
	'ends in the base'
# samples of the same run tell
("$RUN" -q -m both -o killed.both ./killed) 2>/dev/null
"$DUMP" -f table --by process killed.both >table
assert_contains table '100% is '
assert_matches table '^process [0-9]*, 1 thread, [0-9.]* [mun]*s wall-clock time, '
assert_not_contains table '>'

finish
