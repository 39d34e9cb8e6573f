# shellcheck shell=bash
# swizzle-ctl, and swizzle-run --off: recording is stopped and started while the
# program runs.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
CTL=$BUILD/bin/swizzle-ctl
need python3
need_built "$CTL"
need_targets served marks passes napping

# By a name that no other process has.
SERVED=$TMP/served.$$
cp "$TARGETS/served" "$SERVED"

MODES=('' '--timing sampled' '-m trace')

# Starts `served` with three threads, and waits until it works; its pid is in $pid.
serve() { # [OPTION...]
	# (the one before it was ready, too, and & may be late to empty its output)
	rm -f stop served.out
	"$RUN" -q -o profile "$@" "$SERVED" "$TMP/stop" 3 >served.out 2>served.err &
	pid=$!
	wait_until grep -qs ready served.out
}

end() { # what it has worked must be right
	: >stop
	wait $pid
	assert_eq 0 $? "status of served"
	assert_empty served.err
	steps=$(sed -n 's/^steps //p' served.out)
}

# A member of what `list` says, of which the parser of JSON has seen a few lines below.
listed() { # MEMBER
	"$CTL" --json list "$pid" | sed -n "s/.*\"$1\":\"*\([a-z0-9]*\).*/\1/p"
}
calls() { listed calls; } # so far
state() { listed state; }

is() { [ "$(state)" = "$1" ]; }

# Calls go on; or no more of them are recorded, once each thread has noticed it.
recorded_more() {
	local before
	before=$(calls)
	sleep 0.1
	[ "$(calls)" -gt "$before" ]
}
recorded_none() {
	local before
	before=$(calls)
	sleep 0.1
	# (a pause that goes on above a frame is no call; one that begins is one)
	[ "$(calls)" -eq "$before" ]
}

# Of each call of step there are ten of leaf, of each of serve a hundred of step:
# but for those calls in which recording was stopped or started.
assert_whole() { # TIMES that it was
	local step leaf serve most=$((3 * $1))
	step=$(row table calls step)
	leaf=$(row table calls leaf)
	serve=$(row table calls serve)
	assert_ge "$leaf" $((10 * (step - most))) leaf
	assert_le "$leaf" $((10 * (step + most))) leaf
	assert_ge "$step" $((100 * (serve - most))) step
	assert_le "$step" $((100 * (serve + most))) step
}

for mode in "${MODES[@]}"; do
	it "stop and start ${mode:+with $mode}"
	# shellcheck disable=SC2086
	serve $mode
	wait_until recorded_more
	assert_eq recording "$("$CTL" --json list "$pid" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["state"])')"
	capture "$CTL" stop "$pid"
	assert_status 0
	assert_empty out
	assert_empty err
	assert_eq stopped "$(state)"
	wait_until recorded_none
	capture "$CTL" start "${SERVED##*/}"
	assert_status 0
	assert_eq recording "$(state)"
	wait_until recorded_more
	end
	dump_table profile
	assert_ge "$(row table calls leaf)" 1000
	assert_le "$(row table calls step)" "$steps"
	assert_whole 2
	assert_ge "$(row table calls '[paused]')" 3
	assert_matches table '^# [0-9.]+  all  \[paused\]$'
	assert_matches table '^# [0-9.]+  all  \[resumed\]$'

	it "--off: nothing is recorded until it is started ${mode:+with $mode}"
	# shellcheck disable=SC2086
	serve --off $mode
	wait_until recorded_none
	assert_eq stopped "$(state)"
	capture "$CTL" start --tree $$
	assert_status 0
	wait_until recorded_more
	end
	dump_table profile
	assert_ge "$(row table calls leaf)" 1000
	assert_whole 1
done

for mode in "${MODES[@]}"; do
	it "--start-at and --stop-at ${mode:+with $mode}"
	expect() { # LEAF WORK PHASE, of which the rest is left out, OPTION...
		local leaf=$1 work=$2 phase=$3
		shift 3
		# shellcheck disable=SC2086
		capture "$RUN" -q $mode "$@" -o profile "$TARGETS/marks"
		assert_status 0
		assert_empty err
		dump_table profile
		read_calls table leaf work phase
		assert_eq "$leaf" "${called[leaf]}" "leaf with $*"
		assert_eq "$work" "${called[work]}" "work with $*"
		assert_eq "$phase" "${called[phase]}" "phase with $*"
	}
	# 100 + 200 + 50 in phase, 3, 11 after a pause, 5 + 6 in nested
	expect 375 7 3 --start-at phase
	expect 275 6 2 --start-at 'phase#2'
	expect 364 5 3 --stop-at nested
	expect 264 4 2 --start-at 'phase#2' --stop-at nested
	assert_eq 2 "$(grep -c 'all  \[paused\]' table)"
	assert_eq 1 "$(grep -c 'all  \[resumed\]' table)"
	expect '' '' '' --start-at 'phase#99'
	expect 275 6 '' --start-at 'phase#2' -F work
done

# Both count from the program's start, whether recording is on or not. (Who comes first is
# found out in one place: other modes have fewer combinations.)
for mode in "${MODES[@]}"; do
	it "--start-at and --stop-at: all combinations ${mode:+with $mode}"
	ends=('' 1 2 9 10 11)
	[ -z "$mode" ] || ends=('' 2 11)
	for first in "${ends[@]}"; do
		for last in "${ends[@]}"; do
			# shellcheck disable=SC2086
			capture "$RUN" --summary $mode ${first:+--start-at "begin#$first"} \
				${last:+--stop-at "end#$last"} -o profile "$TARGETS/passes"
			assert_status 0
			from=${first:-1} to=${last:-10} said=
			if [ "$from" -gt 10 ]; then
				said='--start-at never came: 10 calls of 11'
			elif [ "$to" -gt 10 ]; then
				said='--stop-at never came: 10 calls of 11' to=10
			elif [ "$to" -lt "$from" ]; then
				said='--stop-at came before --start-at and stopped nothing' to=10
			fi
			expected=$((to - from + 1))
			[ "$from" -le 10 ] || expected=
			dump_table profile
			assert_eq "$expected" "$(row table calls body)" \
				"passes from ${first:-the start} to ${last:-the end}"
			if [ "$said" ]; then
				assert_contains err "; $said."
			else
				assert_not_contains err --st
			fi
		done
	done
done
it 'a call that never came is in -f info, too'
capture "$RUN" -q --start-at begin --stop-at 'end#30' -o profile "$TARGETS/passes"
capture "$DUMP" -f info profile
assert_contains out '--start-at: call 1, came'
assert_contains out '--stop-at: call 30, never came; calls seen: 10'
it 'a function that is never called is said, too'
capture "$RUN" --summary --stop-at no_such_function -o profile "$TARGETS/passes"
assert_contains err '; --stop-at never came: no call of it was seen'
capture "$RUN" --start-at no_such_function -o profile "$TARGETS/marks"
assert_status 0
assert_contains err "--start-at 'no_such_function' matches no function"
for words in '#3' 'x#' 'x#0' ''; do
	capture "$RUN" --start-at "$words" true
	assert_refused 2 'option --start-at'
done

it '--off and never started'
serve --off
end
dump_table profile
assert_eq '' "$(row table calls leaf)"
"$TARGETS/marks" >native
capture "$RUN" -q --off -o profile "$TARGETS/marks"
assert_status 0
assert_empty err
assert_same native out
dump_table profile
# the program's own spans and marks are there
assert_eq 2 "$(row table calls load)"
assert_eq '' "$(row table calls leaf)"

it 'a thousand times, two at once: all calls between are whole, memory stays'
serve
wait_until recorded_more
before=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)
for _ in 1 2; do
	python3 - "$CTL" "$pid" <<'END' &
import subprocess, sys
for _ in range(250):
    for what in 'stop', 'start':
        subprocess.run([sys.argv[1], what, sys.argv[2]], check=True)
END
done
wait %2 %3 || fail 'a controller'
after=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status)
assert_le "$after" $((before + 4096)) 'KiB of memory'
end
dump_table profile
assert_whole 1000
assert_eq 0 "$("$DUMP" -f info profile 2>/dev/null | sed -n 's/^lost calls: //p')"
"$DUMP" -f info profile >info
assert_not_contains info damaged

it 'a snapshot is a profile, and the process goes on'
serve -m trace --max-size 1M
wait_until recorded_more
capture "$CTL" snapshot snap.%p "$pid"
assert_status 0
capture "$DUMP" -f text "snap.$pid"
assert_status 0
assert_empty err
cp out table
first=$(row table calls leaf)
assert_ge "$first" 1
assert_whole 1
assert_eq 600 "$(stat -c %a "snap.$pid")"
capture "$DUMP" -f chrome -o events "snap.$pid"
assert_status 0
capture "$CTL" mark 'half way' "$pid"
assert_status 0
wait_until recorded_more
end
dump_table profile
assert_ge "$(row table calls leaf)" "$first"
assert_contains table "[snapshot: snap.$pid]"
assert_contains table 'all  half way'
"$DUMP" -q -f chrome -o chrome profile
python3 "$TOP/tests/e2e/read_events.py" chrome chrome >events 2>err ||
	fail "chrome: $(tail -n 1 err)"
assert_contains events 'mark *: half way'

it 'a snapshot has the time of a thread that waits, up to then'
rm -f stop
"$RUN" -q -o profile "$TARGETS/napping" "$TMP/stop" >native &
pid=$!
calls_began() { "$CTL" list $pid >list 2>/dev/null && "$DUMP" -q -f text profile | grep -q ' nap '; }
wait_until calls_began
"$CTL" snapshot first $pid
sleep 0.5
"$CTL" snapshot second $pid
"$CTL" stop $pid
sleep 0.5
"$CTL" snapshot third $pid # when it was stopped
: >stop
wait $pid
# Running and waiting: how they divide a time is an estimate.
whole() { # CSV self|incl FUNCTION
	awk -F , -v of="$2" -v name="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] == name { print $at[of "_ns"] + $at[of "_waiting_ns"] }' "$1"
}
nap() { "$DUMP" -q --no-compensate -f csv -o - "$@" >naps && whole naps incl nap; }
assert_ge "$(nap --since first second)" 500000000 'ns of nap'
sum=$(($(nap first) + $(nap --since first second)))
assert_le "$sum" $(($(nap second) + 1000000)) 'ns of nap'
assert_ge "$sum" $(($(nap second) - 1000000)) 'ns of nap'
assert_ge "$(nap third)" "$(nap second)"
rest=$(($(nap profile) - $(nap second)))
assert_le "$(nap --since second profile)" $((rest + 1000000)) 'ns of nap, the rest'

for mode in '' '--timing sampled' '-m trace --max-size 256M'; do
	it "--since: what came after a snapshot ${mode:+with $mode}"
	# shellcheck disable=SC2086
	serve --off $mode
	"$CTL" start "$pid"
	wait_until recorded_more
	"$CTL" stop "$pid"
	wait_until recorded_none
	rm -f first
	"$CTL" snapshot first "$pid"
	"$CTL" start "$pid"
	wait_until recorded_more
	"$CTL" mark later "$pid"
	end
	"$DUMP" -q -f text first >before
	"$DUMP" -q -f text profile >after
	capture "$DUMP" -q --since first -f text profile
	assert_status 0
	assert_empty err
	cp out table
	for function in leaf step serve; do
		assert_eq $(($(row after calls $function) - $(row before calls $function))) \
			"$(row table calls $function)" "calls of $function"
	done
	assert_contains table later
	assert_not_contains table 'all  [paused]'
	# seconds are those since the program's start
	assert_eq "$(grep 'all  later' after)" "$(grep 'all  later' table)"
	# (the cost of the hooks is known on average only: less that, leaf takes next to
	# nothing, and a part of it may seem longer than the whole)
	"$DUMP" -q --no-compensate -f csv -o - first >before
	"$DUMP" -q --no-compensate -f csv -o - profile >after
	"$DUMP" -q --no-compensate --since first -f csv -o - profile >table
	all=$(whole after self leaf)
	assert_le "$(whole table self leaf)" "$all"
	case $mode in
	*sampled*) ;; # estimates
	*)
		sum=$(($(whole before self leaf) + $(whole table self leaf)))
		assert_le "$sum" $((all + all / 100)) 'time of leaf'
		assert_ge "$sum" $((all - all / 100)) 'time of leaf'
		;;
	esac
	for format in callgrind tree folded csv json info pprof html speedscope; do
		capture "$DUMP" -q --since first -f $format -o "of.$format" profile
		case $mode in
		*trace*) [ $format != info ] || continue ;;
		esac
		assert_status 0
		assert_empty err
	done
	capture "$DUMP" -q --since first -f text first
	assert_status 0
	assert_eq '' "$(row out calls leaf)" 'calls in no time'
done

it '--since: arguments and results are counted from the snapshot on'
serve --off -A 'leaf@arg1/u64,retval/u64'
"$CTL" start "$pid"
wait_until recorded_more
"$CTL" stop "$pid"
wait_until recorded_none
rm -f first
"$CTL" snapshot first "$pid"
"$CTL" start "$pid"
wait_until recorded_more
end
valued() { # OPTION... PROFILE: calls of leaf of which there are values
	"$DUMP" -q -f json "$@" | python3 -c '
import json, sys
print(sum(value["calls"] for part in json.load(sys.stdin)["parts"]
          for value in part.get("values", []) if value["path"][-1] == "leaf"))'
}
"$DUMP" -q -f text --since first profile >table
assert_ge "$(valued first)" 1 'values before'
assert_eq "$(row table calls leaf)" "$(valued --since first profile)" 'values since'
assert_eq 0 "$(valued --since first first)" 'values in no time'
"$DUMP" -q -f calls --since first profile >calls
assert_contains calls 'last: leaf('
capture "$DUMP" --since profile profile
assert_status 1
assert_contains err 'not a snapshot'
capture "$DUMP" --since /dev/null profile
assert_status 1
capture "$DUMP" --since first -f raw profile
assert_status 2
"$RUN" -q -o other "$TARGETS/marks" >native
capture "$DUMP" --since first other
assert_status 1
assert_contains err 'a snapshot of another process'

it 'who has a profile mapped is not profiled by it'
serve
python3 -c 'import mmap, sys, time
with open(sys.argv[1], "r+b") as file:
    page = mmap.mmap(file.fileno(), 4096)
print("mapped", flush=True)
time.sleep(60)' profile >reader.out &
reader=$!
wait_until grep -qs mapped reader.out
capture "$CTL" list "$pid" $reader
assert_status 1
assert_matches out "^ *$pid "
assert_not_contains out " $reader "
assert_contains err "$reader is not profiled: it does not run under swizzle-run"
kill $reader
wait $reader 2>/dev/null
end

it 'start --for'
serve --off
capture "$CTL" start --for 300ms "$pid"
assert_status 0
assert_eq stopped "$(state)"
wait_until recorded_none
end
dump_table profile
assert_ge "$(row table calls leaf)" 10
assert_whole 2

it 'start --for --every, until it is interrupted'
serve --off
"$CTL" start --for 100ms --every 300ms "$pid" &
periods=$!
wait_until is recording
wait_until is stopped
wait_until is recording
kill -INT $periods
wait $periods
assert_eq 0 $? status
assert_eq stopped "$(state)"
end
dump_table profile
assert_ge "$(grep -c '\[resumed\]' table)" 2

is_swizzles() { ! [ "/proc/$pid/exe" -ef "/proc/$$/exe" ]; } # this shell's child no more

start_serving() { # [OPTION...]: as serve, and does not wait until it is served
	rm -f stop served.out profile
	"$RUN" -q -o profile "$@" "$SERVED" "$TMP/stop" 3 >served.out 2>served.err &
	pid=$!
	wait_until is_swizzles
}

is_served() { [ "$(readlink "/proc/$pid/exe")" = "$SERVED" ]; }

it 'a program that is only starting is waited for'
start_serving
capture "$CTL" stop $pid
assert_status 0
assert_empty err
assert_eq stopped "$(state)"
end
start_serving --off
# (it has its name when swizzle-run has become it)
wait_until is_served
capture "$CTL" start "${SERVED##*/}"
assert_status 0
assert_empty err
assert_eq recording "$(state)"
wait_until recorded_more
end
dump_table profile
assert_ge "$(row table calls leaf)" 10

it 'what has no profile although it was started so is not waited for long'
SWIZZLE_OUTPUT=none sleep 60 &
own=$!
# (the kernel sets the name first, and then where the environment is)
is_executed() {
	grep -q -a SWIZZLE_OUTPUT=none /proc/$own/environ
}
wait_until is_executed
capture "$CTL" stop $own
kill $own
assert_refused 1 'it is still starting under swizzle-run. Try again in a moment'

it 'detach: the profile is complete while the program goes on'
serve
wait_until recorded_more
capture "$CTL" detach "$pid"
assert_status 0
assert_eq detached "$(state)"
wait_until recorded_none
capture "$CTL" start "$pid"
assert_status 1
assert_contains err 'was detached'
"$DUMP" -f text profile >before 2>err
assert_empty err
end
"$DUMP" -q -f text profile >after
assert_eq "$(row before calls leaf)" "$(row after calls leaf)"
assert_contains after '[detached]'

it 'many marks: those without room are counted'
serve
long=$(printf '%0900d' 0)
for i in {1..60}; do
	"$CTL" mark "$i $long" "$pid" 2>>refused || true
done
end
refused=$(grep -c 'no room' refused)
dump_table profile
assert_eq 60 "$((refused + $(grep -c ' 0\{900\}$' table)))" 'there or refused'
assert_ge "$(grep -c ' 0\{900\}$' table)" 1

it 'bad input'
for words in '' frob 'start' 'stop 0' 'stop 99999999' 'stop --tree x 1' 'mark' \
	'snapshot' 'start --for 0 1' 'start --for 1x 1' 'start --every 1s 1' \
	'start --for 2s --every 1s 1' 'stop --for 1s 1' 'stop --json 1' '--frob' \
	'stop -n' 'list --json=1'; do
	# shellcheck disable=SC2086
	capture "$CTL" $words
	assert_refused 2 'swizzle: '
done
capture "$CTL" stat 1 # an abbreviation of several
assert_status 1
capture "$CTL" stpo 1
assert_refused 2 "did you mean 'stop'?"
capture "$CTL" stop nobody-is-called-so
assert_refused 1 "no profiled process is called 'nobody-is-called-so'"
capture "$CTL" stop $$
assert_refused 1 'it does not run under swizzle-run'
capture "$CTL" stop --tree 4194304
assert_refused 1 'there is no such process'
capture "$CTL" list --json --name nobody-is-called-so
assert_status 1
serve
capture "$CTL" snapshot no/such/directory "$pid"
assert_status 1
assert_contains err 'no/such/directory'
capture "$CTL" snapshot /dev/null "$pid"
assert_status 1
assert_contains err 'a snapshot needs a regular file'
end

finish
