# shellcheck shell=bash
# --switches: when each thread of a trace did not run, by the kernel's records.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets running threads processes

columns() { # FORMAT-FILE COLUMN...: of a csv file, a line a row
	python3 -c '
import csv, sys
for r in csv.DictReader(open(sys.argv[1], errors="replace")):
    print(*[r[k] for k in sys.argv[2:]])' "$@"
}

off_times() { # PROFILE: tid, ns off the processor
	"$DUMP" -f info "$1" 2>/dev/null | awk '/^context switches/ { on = 1 }
		on && $1 + 0 { print $1, $4 }
		on && /^$/ { exit }'
}

capture timeout 240 "$RUN" -q -m trace --switches -o profile "$TARGETS/running"
assert_status 0
assert_empty err
if ! "$DUMP" -f raw profile | grep -q '^chunk at .*: SWITCHES'; then
	skip 'context switches are not recorded here (perf_event_open)'
fi

it 'what a thread did not run is what its processor time leaves'
off_times profile >off
"$DUMP" -f csv --by thread -o by profile
assert_eq 5 "$(wc -l <off)" threads
columns by tid wall_ns waiting_ns unknown_ns | while read -r tid wall waiting unknown; do
	off=$(awk -v tid="$tid" '$1 == tid { print $2 }' off)
	# what the host took of the processor is in neither
	awk -v off="$off" -v waiting="$waiting" -v unknown="$unknown" -v wall="$wall" '
		BEGIN { exit !(off <= waiting + unknown + 2000000 &&
			off >= waiting - 0.1 * wall - 20000000) }' ||
		echo "$tid: off $off, waiting $waiting, wall $wall"
done >wrong
assert_empty wrong

it 'waiting and running of all functions are the thread'"'"'s time'
for tid in $(awk '{ print $1 }' off); do
	"$DUMP" -f csv --no-compensate --tid "$tid" -o csv profile
	sum=$(columns csv self_waiting_ns | awk '{ s += $1 } END { printf "%.0f", s }')
	off=$(awk -v tid="$tid" '$1 == tid { print $2 }' off)
	awk -v sum="$sum" -v off="$off" 'BEGIN {
		exit !(sum <= off + 100 && sum >= off - 0.01 * off - 1000000) }' ||
		echo "$tid: $sum of $off"
	columns csv self_ns self_waiting_ns incl_ns incl_waiting_ns |
		awk '$2 > $4 || $1 > $3'
done >wrong
assert_empty wrong

it 'it is in the functions that waited'
"$DUMP" -f csv -o csv profile
rest=$(columns csv function self_ns self_waiting_ns | awk '$1 == "rest"')
# shellcheck disable=SC2086
set -- $rest
assert_ge "$3" 540000000 'rest() sleeps'
assert_le "$2" $(($3 * 5 / 100)) 'and does nothing else'
# they compute: what they did not wait is what they ran
ran=$(columns csv function self_ns |
	awk '$1 == "run" || $1 == "run_ns" { s += $2 } END { printf "%.0f", s }')
awk -v ran="$ran" 'BEGIN { exit !(ran > 200e6 && ran < 330e6) }' ||
	fail "run() and run_ns() have run $ran ns of 270 ms"

it 'all formats say the same'
"$DUMP" -f text -o table profile
for format in csv json callgrind; do
	"$DUMP" -f $format -o "all.$format" profile
done
capture python3 "$TOP/tests/e2e/read_format.py" table csv,all.csv json,all.json \
	callgrind,all.callgrind
assert_status 0
assert_empty out
"$DUMP" -f archive -o archive profile
"$DUMP" -f text -o again archive
assert_same table again

# (a hundredth of the time that nobody read at the end of a thread is more of its second half)
it 'the parts of the time have the whole'
all_is_known() {
	"$DUMP" -f text --no-compensate -o all.text profile
	"$DUMP" -f text --no-compensate --to 50% -o first.text profile
	"$DUMP" -f text --no-compensate --from 50% -o second.text profile
	! grep -q 'waiting is not known of' all.text first.text second.text
}
rounds=1
until all_is_known; do
	[ $((rounds++)) -lt 20 ] || abort "never known: $(grep 'not known' ./*.text)"
	"$RUN" -q -m trace --switches -o profile "$TARGETS/running" >/dev/null
done
"$DUMP" -f csv --no-compensate -o all profile
"$DUMP" -f csv --no-compensate --to 50% -o first profile
"$DUMP" -f csv --no-compensate --from 50% -o second profile
for file in all first second; do
	columns $file self_waiting_ns | awk '{ s += $1 } END { printf "%.0f\n", s }'
done >sums
awk '{ s[NR] = $1 } END {
	exit !(s[2] > 0 && s[3] > 0 && s[1] - s[2] - s[3] < 1e6 &&
		s[2] + s[3] - s[1] < 1e6) }' sums || fail "$(xargs <sums)"

it 'chrome, perfetto: slices within the functions, as long as the thread was off'
for format in chrome perfetto; do
	"$DUMP" -f $format -o events.$format profile
	python3 "$TOP/tests/e2e/read_events.py" $format events.$format >$format.calls ||
		fail "$format"
	for kind in waiting preempted; do
		grep -F "[$kind]" $format.calls || echo "no $kind in $format"
	done | grep -v '^[^ ]*  *[1-9]' >none
	assert_empty none
done
assert_same chrome.calls perfetto.calls
python3 - events.chrome <<'END' | sort >slices
import json, sys, collections
off, inside = collections.Counter(), collections.Counter()
stacks = collections.defaultdict(list)
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    stack = stacks[e["tid"]]
    if e["ph"] == "B":
        stack.append(e)
    elif e["ph"] == "E":
        begin = stack.pop()
        if begin["name"] in ("[waiting]", "[preempted]"):
            ns = round((e["ts"] - begin["ts"]) * 1000)
            off[e["tid"]] += ns
            inside[stack[-1]["name"] if stack else ""] += ns
for tid, ns in off.items():
    print(tid, ns)
assert inside["rest"] > 540e6, inside
END
sort off | join - slices | awk '{ d = $2 - $3; if (d < 0) d = -d }
	{ n++ } d > 100000 { print }
	END { if (n != 5) print n, "threads" }' >wrong
assert_empty wrong

it 'the program does not see it: descriptors, threads, children'
program looks.py >looks.py
RUN_OPTIONS=(-m trace --switches)
assert_same_as_native /usr/bin/python3 looks.py
assert_same_as_native "$TARGETS/threads" short 200
assert_same_as_native "$TARGETS/processes" fork

it 'a forked child has its own'
"$RUN" -q -m trace --switches -o children/ /usr/bin/python3 -c '
import os, time
def nap():
    time.sleep(0.2)
if os.fork() == 0:
    nap()
    raise SystemExit
os.wait()'
assert_eq 2 "$(find children -type f | wc -l)" profiles
for file in children/*; do
	off_times "$file" | awk '{ s += $2 } END { print (s > 150000000) }'
done >slept
assert_eq '1 1' "$(xargs <slept)" 'both slept or waited'

it 'what the ring has no room for is counted'
cat >naps.c <<'END'
#include <time.h>
int main(void)
{
	for (int i = 0; i < 3000; i++)
		nanosleep(&(struct timespec){0, 1000}, 0);
	return 0;
}
END
gcc -O1 -o naps naps.c || abort 'no program'
"$RUN" -q -m trace --switches -o naps.profile ./naps
lost=$("$DUMP" -f info naps.profile | awk '/^context switches/ { on = 1 }
	on && $1 + 0 { print $2, $3 }')
# shellcheck disable=SC2086
set -- $lost
assert_ge "$1" 400 'switches that there was room for'
assert_ge "$2" 1 'missing ones'
program input.c >input.c
gcc -O1 -o pairs input.c || abort 'no program'
"$RUN" -q -m trace --switches -o whole.profile ./pairs
"$RUN" -q -m trace --switches --ring --max-size 1M -o part.profile ./pairs
said() { # PROFILE: how many are missing, by the formats that say it
	"$DUMP" -f json "$1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["parts"][0]["missing_switches"])'
	"$DUMP" -f text "$1" | sed -n 's/^# that is too little: \([0-9]*\) .*/\1/p'
	"$DUMP" -f table "$1" | sed -n 's/^Note: \([0-9,]*\) context switch.*/\1/p' | tr -d ,
	"$DUMP" -f callgrind -o - "$1" | sed -n 's/^desc: Missing context switches: \([0-9]*\) .*/\1/p'
}
assert_eq 0 "$(said whole.profile | xargs)" 'where there was room'
missing=$("$DUMP" -f info part.profile | awk '/^context switches/ { on = 1 }
	on && $1 + 0 { print $3 }')
assert_ge "$missing" 100 'overwritten'
assert_eq "$missing $missing $missing $missing" "$(said part.profile | xargs)" 'formats'

program ends.c >ends.c
gcc -O1 -o ends ends.c || abort 'no program'
waited() { # PROFILE: ns in nap(), by csv
	"$DUMP" -f csv "$1" | columns /dev/stdin function self_waiting_ns |
		awk '$1 == "nap" { print $2 + 0 }'
}
for way in _exit quick_exit system-call abort exec no-exec return; do
	it "$way: what was switched until then is there"
	rm -rf "$way"
	{ "$RUN" -q -m trace --switches -o "$way/" ./ends $way; } 2>/dev/null
	file=$(find "$way" -type f -name '*ends*' | sort | head -1)
	[ "$file" ] || file=$(find "$way" -type f | sort | head -1)
	least=100000000
	[ $way != no-exec ] || least=150000000
	assert_ge "$(waited "$file")" $least 'ns in nap()'
done

it 'killed: what it waited is seen from outside'
"$RUN" -q -m trace --switches -o watched ./ends 9
assert_ge "$(waited watched)" 50000000 'ns in nap()'

it 'killed, and nobody looked: its waiting is not known, and no format shows 0'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_QUIET=1 SWIZZLE_MODE=trace SWIZZLE_SWITCHES=1 SWIZZLE_OUTPUT=killed ./ends 9
mv killed.* killed
"$DUMP" -f csv killed | columns /dev/stdin function self_waiting_ns incl_waiting_ns >rows
assert_contains rows nap
awk '$1 == "nap" && NF > 1' rows >known
assert_empty known
"$DUMP" -f json killed >json
assert_contains json '"nap"'
assert_not_contains json 'self_waiting_ns'
"$DUMP" -f sqlite -o base killed
assert_eq '1|1|1' "$(python3 -c '
import sqlite3
rows = sqlite3.connect("base").execute("""SELECT count(*),
	sum(self_waiting_ns IS NULL), sum(incl_waiting_ns IS NULL)
	FROM functions WHERE name = "nap" """)
print("|".join(map(str, next(rows))))')" 'rows, without self, without incl'
for format in text table callgrind; do
	"$DUMP" -f $format -o out killed
	grep -q nap out || fail "$format: no nap"
	grep -i 'waiting.*not known' out >said || fail "$format: not said"
	grep -E 'self-wait|waiting  *calls|^events: .*Wait' out >column
	assert_empty column
done
"$DUMP" -f info killed | awk '/^context switches/ { on = 1 } on && $1 + 0 {
	exit !($4 == "-" && $6 > 90000000) }' || fail 'info'

it 'it needs a trace'
capture "$RUN" -m profile --switches -o profile2 true
assert_status 2
assert_contains err '--switches'
assert_missing profile2

it 'where the kernel is not to be asked, one line says so and the program runs'
cat >filtered.py <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
END
capture python3 filtered.py "$RUN" -m trace --switches --no-summary -o refused \
	"$TARGETS/processes" fork
assert_status 0
assert_eq 1 "$(grep -c -e '--switches: waiting is not recorded' err)" lines
assert_contains err 'seccomp'
capture "$DUMP" -f info refused
assert_contains out 'not recorded, as the kernel refused: 1 thread'
"$DUMP" -f csv refused | columns /dev/stdin self_waiting_ns | grep . >known
assert_empty known

finish
