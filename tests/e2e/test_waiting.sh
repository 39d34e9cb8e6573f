# shellcheck shell=bash
# Running and waiting are apart in all modes: three threads and one mutex, where one
# function computes, one waits for the mutex and main waits in join. The program prints
# each thread's own clocks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets checkout

assert_near() { # WHAT NS OF PERCENT TOTAL
	awk -v ns="$2" -v of="$3" -v percent="$4" -v total="$5" -v stolen="${stolen:-0}" 'BEGIN {
		exit !((ns - of) ^ 2 <= (total * percent / 100 + 1e6 + stolen) ^ 2) }' ||
		fail "$1: $2 ns, not about $3"
}

column() { # FILE NAME COLUMN THREAD: of csv by thread; FUNCTION may be "": the sum
	python3 -c '
import csv, sys
path, column, thread, name = sys.argv[1:5]
print(sum(int(r[column] or 0) for r in csv.DictReader(open(path))
          if r["thread"] == thread and name in ("", r["function"])))' "$1" "$2" "$3" "$4"
}
head_of() { # KIND: ns in the head of the file table
	sed -n "s/^# .*$1 \([0-9]*\) ns.*/\1/p" table | head -n 1
}

steal() { # 10 ms each: what the host has taken of all processors (proc_stat(5))
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

check_clocks() { # PERCENT: of threads, by what they printed
	local name ran wall
	while read -r name ran wall; do
		[ "$name" != main ] || continue # (it began before its first hook)
		assert_near "$mode: what $name ran" "$(column threads.csv self_ns "$name" '')" \
			"$ran" "$1" "$ran"
		assert_near "$mode: what $name waited" \
			"$(column threads.csv self_waiting_ns "$name" '')" $((wall - ran)) 5 "$wall"
	done <printed
}

# Threads run for so long that what begins and ends them is below a percent.
for mode in sample profile trace; do
	it "$mode: each thread's running and waiting is that of its own clock"
	before=$(steal)
	"$RUN" -q -m $mode -o profile "$TARGETS/checkout" 500 >printed || abort 'no profile'
	stolen=$((($(steal) - before) * 10000000))
	"$DUMP" -f csv --no-compensate --by thread,parts -o threads.csv profile
	# (what the kernel takes for samples is in one clock only, and what the host takes)
	case $mode in
	sample) check_clocks 3 ;;
	*) check_clocks 1 ;;
	esac

	it "$mode: who waits does not stand above who computes"
	"$DUMP" -f text -s waiting -o waits profile
	"$DUMP" -f text -o table profile
	awk '/^[^#]/ && $1 != "calls" && $1 != "samples" { print; exit }' table >first
	grep -qE 'main|join|outside|futex|lock' first && fail "$(cat first)"
	"$DUMP" -f csv -o functions.csv profile
	# (the two clocks say how much; main has all but little of it)
	capture python3 - functions.csv <<-'END'
		import csv, sys
		rows = {r["function"]: r for r in csv.DictReader(open(sys.argv[1]))}
		ran = sum(int(r["self_ns"]) for r in rows.values())
		waited = sum(int(r["self_waiting_ns"]) for r in rows.values())
		main, lookup = rows["main"], rows["lookup"]
		assert int(main["incl_waiting_ns"]) > 10 * int(main["incl_ns"]), main
		assert int(lookup["incl_waiting_ns"]) > 0, lookup
		for name in "discount", "tax":
		    assert int(rows[name]["self_ns"]) > ran / 50, (rows[name], ran)
		assert waited > ran, (waited, ran)
		print(ran, waited)
	END
	assert_status 0
	read -r ran waited <out
	assert_eq "$ran" "$(head_of running)" 'the head: running'
	assert_eq "$waited" "$(head_of ', waiting')" 'the head: waiting'

	it "$mode: all formats say the same"
	declare -A sort=([tree]='-s waiting')
	for format in tree csv callgrind json pprof speedscope; do
		"$DUMP" -q -f $format ${sort[$format]:-} -o all.$format profile || fail "$format"
	done
	set -- tree,all.tree csv,all.csv callgrind,all.callgrind json,all.json pprof,all.pprof
	# (a trace has its events in speedscope)
	[ $mode = trace ] || set -- "$@" speedscope,all.speedscope,names,no-calls
	capture python3 "$TOP/tests/e2e/read_format.py" waits "$@"
	assert_status 0
	assert_empty out
	assert_matches all.callgrind '^events: ns Wait'

	it "$mode: -s waiting, -s cpu"
	"$DUMP" -f csv -s waiting profile | python3 -c '
import csv, sys
waits = [int(r["self_waiting_ns"]) for r in csv.DictReader(sys.stdin)]
assert len(waits) > 3 and waits == sorted(waits, reverse=True), waits' || fail 'not sorted'
	"$DUMP" -f csv -s cpu profile >cpu.csv
	"$DUMP" -f csv profile | assert_same cpu.csv /dev/stdin
done

it 'a thread that waits in more places than the first chunk of looks has room for'
{
	echo '#include <unistd.h>'
	for i in $(seq 80); do
		echo "__attribute__((noipa)) static void wait_$i(void) { usleep(3000); }"
	done
	echo 'int main(void) { while (access("stop", F_OK)) {'
	printf 'wait_%d();\n' $(seq 80)
	echo '} }'
} >places.c
gcc -O1 -o places places.c || abort 'no program'
chunks_of_looks() { # NUMBER
	[ "$("$DUMP" -q -f raw places.profile 2>/dev/null | grep -c '^chunk .*: LOOKS ')" = "$1" ]
}
rm -f stop
"$RUN" -q -m profile -o places.profile ./places &
wait_until chunks_of_looks 2 || fail 'there is only one'
: >stop
wait $!
assert_eq 0 $? 'exit status'
"$DUMP" -q -f csv places.profile | python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin) if r["function"].startswith("wait_")]
assert len(rows) == 80, len(rows)
assert sum(int(r["self_waiting_ns"]) > 0 for r in rows) > 60, rows' || fail 'they do not wait'

it 'what was seen of a parent is not in the profile of its child'
program parent.c >parent.c
gcc -O1 -o parent parent.c || abort 'no program'
seen() {
	"$DUMP" -q -f raw family/* 2>/dev/null | grep -q '^chunk .*: LOOKS '
}
"$RUN" -m profile -o family/ ./parent forks 2>err &
wait_until seen || fail 'nobody looks at it'
: >forks
wait $!
assert_eq 0 $? 'exit status'
assert_eq 2 "$(find family -type f | wc -l)" profiles
for profile in family/*; do
	"$DUMP" -q -f raw "$profile" >raw
	grep -c '^chunk .*: LOOKS ' raw
done >looks
sort looks >sorted
assert_eq '0 1' "$(xargs <sorted)" 'chunks of looks, of child and parent'

it 'processes: who computes stands above who waits for it'
cat >tree.sh <<END
sleep 0.4
"$TARGETS/checkout" 20
END
"$RUN" -q -o tree/ sh tree.sh >/dev/null
"$DUMP" -q -f csv --by process tree >processes
assert_ge "$(grep -n sleep processes | cut -d : -f 1)" \
	"$(grep -n checkout processes | cut -d : -f 1)" 'the line of sleep'

it 'hooks that cost more than the program are told'
cat >short.c <<'END'
__attribute__((noipa)) static int none(int n) { return n; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 3000000; i++)
		sum += none(i);
	return sum == 1;
}
END
gcc -O2 -o short short.c || abort 'no program'
# (where a call that was measured took less than those here do, hooks seem to take less)
hooks_exceed() {
	"$RUN" -q -o short.profile ./short || abort 'no profile'
	"$DUMP" -q -f json -o short.json short.profile
	python3 -c 'import json; part = json.load(open("short.json"))["parts"][0]
raise SystemExit(part["hooks_ns"] <= part["total_ns"])'
}
rounds=1
until hooks_exceed; do
	"$DUMP" -f table short.profile >table
	! grep -q 'hooks took more time' table || fail 'told where they took less'
	[ $((rounds++)) -lt 30 ] || abort "hooks seem to take nothing: $(cut -c 1-400 short.json)"
done
"$DUMP" -f table short.profile >table
assert_matches table '^Note: hooks took more time than the program: .* swizzle-run -m both ./short$'
awk '$NF == "short" && /none/ && /(~|≈|<)/ { found = 1 } END { exit !found }' table ||
	fail "none() is not marked"
"$DUMP" -f text short.profile >text
assert_contains text '# hooks took more time than the program'

it 'what waits below folded recursion does not run in the function above it'
program folded.c >folded.c
gcc -O1 -o folded folded.c || abort 'cannot compile'
"$RUN" -q -o below ./folded
assert_rows_are_sane below
python3 - <<'END' || fail "$("$DUMP" -q -f csv -o - below)"
import csv, subprocess, os
rows = csv.DictReader(subprocess.run([os.environ["DUMP"], "-q", "-f", "csv", "-o", "-", "below"],
                                     stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
row = {r["function"]: r for r in rows}["half_way"]
raise SystemExit(not (int(row["calls"]) == 100 and int(row["incl_waiting_ns"]) > 200e6
                      and int(row["incl_ns"]) < int(row["incl_waiting_ns"])))
END

finish
