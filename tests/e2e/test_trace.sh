# shellcheck shell=bash
# Trace mode: what the events say is what the tree says, which is what profile
# mode says; nothing is lost when the process is killed.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets calls fib fibers longjmp processes steady tailcalls threads workers
export SWIZZLE_MODE=trace

functions() { # TABLE: calls and names of all functions
	awk '!/^#/ && !/ function  module$/ && NF' "$1" |
		perl -pe 's/^ *(\d+) +\d+ +\d+  /$1  /' | sort
}

# By the events alone. What has no calls in the tree (it was entered before the
# fork that made this process) may have none here.
assert_events_are_counts() { # PROFILE
	"$DUMP" -f text "$1" >tree.table 2>dump.err || fail 'dump of the tree'
	assert_empty dump.err
	"$DUMP" -f text --from 0 "$1" >events.table 2>dump.err ||
		fail 'dump of the events'
	assert_empty dump.err
	functions tree.table >tree.counts
	functions events.table >events.counts
	assert_ge "$(wc -l <tree.counts)" 2 'functions'
	assert_same tree.counts events.counts
}

# Every event has its context, and each end its begin.
assert_events_fit() { # PROFILE
	"$DUMP" -f info "$1" >info
	assert_matches info '^flags:.* traced'
	assert_not_contains info 'events that do not fit'
	assert_not_contains info 'not traced'
}

same_counts() { # PROGRAM ARG...
	local program=$1
	shift
	SWIZZLE_MODE=profile assert_same_as_native "$TARGETS/$program" "$@"
	dump_table profile
	functions table | grep " $program\$" >profile.counts
	assert_same_as_native "$TARGETS/$program" "$@"
	assert_complete profile
	assert_time_is_sane profile "${threads:-1}"
	assert_events_are_counts profile
	assert_events_fit profile
	grep " $program\$" tree.counts >trace.counts
	assert_ge "$(wc -l <trace.counts)" 2 'functions of the program'
	assert_same profile.counts trace.counts
}

# By the kinds of events.
traced() { # COLUMN (2 calls, 3 ends, 4 by exception): of all threads
	awk -v column="$1" '/^ +tid +calls traced/ { on = 1; next }
		on && /^ +[0-9]/ { sum += $column; next }
		on { exit }
		END { printf "%.0f\n", sum }' info
}

it 'recursion'
same_counts fib

it 'threads'
threads=5 same_counts fib 4
assert_ge "$(grep -c '^ *[0-9]* *fib ' info)" 5 'threads'
threads=201 same_counts threads short 200

it 'tail calls, in chains and in circles'
same_counts tailcalls mutual 100000
same_counts tailcalls chain 2000

it 'exceptions: the calls that they end are marked'
threads=5 same_counts workers
assert_ge "$(traced 4)" 100 'ends by exception'
assert_eq "$(sed -n 's/^ended by an exception: \([0-9]*\) calls/\1/p' info)" \
	"$(traced 4)" 'ends by exception'

it 'longjmp'
same_counts longjmp next

it 'fibers: each stretch between two switches'
same_counts fibers switch asm 10 200

it 'forks: each process has a trace of its own'
rm -rf d
assert_same_as_native "$TARGETS/processes" fork 3
"$RUN" -o d/ "$TARGETS/processes" fork 3 >/dev/null
assert_ge "$(find d -type f | wc -l)" 2 'profiles'
for profile in d/*; do
	assert_events_are_counts "$profile"
	assert_events_fit "$profile"
done

it 'real programs'
script='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
	SELECT sum(length(printf("%08x", i))) FROM n;'
for program in /usr/bin/sqlite3 /usr/bin/perl /usr/bin/python3; do
	[ -x $program ] || continue
	case $program in
	*sqlite3) set -- :memory: "$script" ;;
	*perl) set -- -e 'print join(",", sort { $b <=> $a } 1 .. 500), "\n"' ;;
	*) set -- -S -c 'print(sorted({str(i): i for i in range(500)}))' ;;
	esac
	assert_same_as_native $program "$@"
	assert_complete profile
	assert_events_are_counts profile
	assert_events_fit profile
	assert_ge "$(traced 2)" 5000 "calls of $program"
done

it 'filters and depth'
for options in '-N fib' '-F fib' '-D 5' '-H fib'; do
	# shellcheck disable=SC2206
	RUN_OPTIONS=($options)
	assert_same_as_native "$TARGETS/fib"
	assert_complete profile
	assert_events_are_counts profile
done
RUN_OPTIONS=()

it 'calls that are too short are left out, and counted'
RUN_OPTIONS=(-t 1ms)
assert_same_as_native "$TARGETS/fib"
assert_complete profile
assert_events_fit profile
calls=$(calls_of profile fib)
left_out=$(sed -n 's/^left out: \([0-9]*\) calls.*/\1/p' info)
assert_eq "$(awk '/^ +tid +name/ { on = 1; next } on { print $3; exit }' info)" \
	$(($(traced 2) + left_out)) 'traced and left out'
assert_ge "$left_out" $((calls * 9 / 10)) 'left out'
assert_ge "$(traced 2)" 1 'traced'
RUN_OPTIONS=()

it 'the process does not hold what it has written'
assert_same_as_native "$TARGETS/calls" 15000000
assert_complete profile
"$DUMP" -f info profile >info
assert_ge "$(sed -n 's/^trace: \([0-9]*\) bytes.*/\1/p' info)" 25000000 'bytes'
assert_calls profile leaf 15000000

it 'stops when there is as much as is allowed; counts go on'
RUN_OPTIONS=(--max-size 1M)
assert_same_as_native "$TARGETS/fib" 4
assert_complete profile
"$DUMP" -f info profile >info
assert_matches info '^not traced: [0-9]+ events'
assert_matches info '^trace: [0-9]+ bytes of events in [0-9]+ chunks$'
SWIZZLE_MODE=profile "$RUN" -o counted "$TARGETS/fib" 4 >/dev/null
assert_eq "$(calls_of counted fib)" "$(calls_of profile fib)" 'calls'
bytes=$(sed -n 's/^trace: \([0-9]*\) bytes.*/\1/p' info)
assert_le "$bytes" 1048576 'bytes of events'
assert_ge "$bytes" 900000 'bytes of events'
assert_ge "$(traced 2)" $((bytes / 16)) 'calls, which are packed'

# TABLE: its total in ns
total_of() {
	awk '/^# total/ && !ns { ns = $3 } /^# running/ && !all { all = $3 + $6 }
		END { printf "%.0f\n", all ? all : ns }' "$1"
}

# The threads' time is that of the nodes: no more than 1 % off, by times that
# compensation has made 0 in one and not in the other.
assert_total() { # TABLE
	local whole part
	"$DUMP" -q -f text profile >whole.table
	whole=$(total_of whole.table) part=$(total_of "$1")
	assert_ge "$part" $((whole * 99 / 100)) total
	assert_le "$part" $((whole * 101 / 100)) total
}

it 'what had no room is not charged to what was open'
assert_same_as_native "$TARGETS/fib"
capture "$DUMP" -f text --from 0 profile
assert_status 0
assert_contains err 'was full (--max-size) at '
assert_contains err ' events are missing; the time after that is shown as [not traced]'
assert_eq 1 "$(wc -l <err)" 'lines'
assert_total out
"$DUMP" -f info profile >info
# the time from the start to the last event
end=$(awk '/calls traced/ { getline; printf "%.0f", $NF * 1e9 }' info)
assert_le "$(row out incl main)" "$end" 'time of main'
assert_ge "$(row out self '[not traced]')" $(($(row whole.table incl main) / 4)) '[not traced]'
"$DUMP" -q -f text --no-compensate --from 0 profile >raw.table
# (rounding)
rest=$((end + $(row raw.table self '[not traced]') - $(total_of raw.table)))
assert_eq 0 $((rest / 3)) 'raw: until then, and the rest'
# a range behind it
capture "$DUMP" -q -f csv --from 90% profile
assert_empty err
assert_eq '[not traced],[outside]' "$(sed 1d out | cut -d, -f7 | sort | paste -sd,)" 'rows'
"$DUMP" -q -f text --to 0.00001 profile >table
assert_eq '' "$(row table self '[not traced]')" 'before it'
late=$(awk -v end="$end" 'BEGIN { printf "%.6f", 0.99e-9 * end }') # in s
for format in chrome speedscope perfetto; do
	capture "$DUMP" -f $format --from "$late" -o events profile
	assert_contains err 'is shown as [not traced]'
	python3 "$TOP/tests/e2e/read_events.py" $format events >events.calls ||
		fail "$format: not as it should be"
	assert_matches events.calls '  1  \[not traced\]$'
	# (a speedscope file has no place for it)
	[ $format = speedscope ] || assert_matches events.calls '^ended by trace full: [1-9]'
	assert_contains events 'raw times, with the cost of the hooks'
done
for format in tree folded pprof json speedscope html; do
	capture "$DUMP" -f $format --from "$late" -o part profile
	assert_status 0
	assert_contains err 'is shown as [not traced]'
	case $format in
	pprof) gzip -dc <part 2>/dev/null >text || cp part text ;;
	*) cp part text ;;
	esac
	[ $format = html ] || assert_contains text '[not traced]'
done

it 'or keeps the newest'
RUN_OPTIONS=(--max-size 1M --ring)
assert_same_as_native "$TARGETS/fib"
assert_complete profile
assert_eq "$(calls_of counted main)" "$(calls_of profile main)" 'calls of main'
"$DUMP" -f info profile >info
assert_matches info '^flags:.* ring'
assert_not_contains info 'not traced'
# main is the first to begin and the last to end: its end is there only
"$DUMP" -q -f text --from 0 profile >table
assert_eq 0 "$(row table calls main)" 'begins of main'
assert_ge "$(row table calls fib)" 10000 'calls of fib'

it 'and what was overwritten is no time of main'
capture "$DUMP" -f text --from 0 profile
assert_status 0
assert_contains err 'as the newest events were kept (--ring); the time before that is shown as [not traced]'
assert_total out
start=$(awk '/calls traced/ { getline; printf "%.0f", $(NF - 1) * 1e9 }' info)
"$DUMP" -q -f text --no-compensate --from 0 profile >raw.table
rest=$(($(row raw.table self '[not traced]') - start))
assert_eq 0 $((rest / 3)) 'until the first event'
"$DUMP" -f text --no-compensate profile >whole.table
assert_eq "$(total_of whole.table)" "$(total_of raw.table)" 'raw total'
# a ring that was not full has lost nothing
RUN_OPTIONS=(--ring)
assert_same_as_native "$TARGETS/calls" 1000
capture "$DUMP" -f text --from 0 profile
assert_empty err
assert_eq '' "$(row out self '[not traced]')" 'not traced'
RUN_OPTIONS=()

it 'a kill at any moment loses nothing'
for i in $(seq 12); do
	rm -f profile at
	kill_after $((i * 7000 + RANDOM % 7000)) 0 "$RUN" -o profile "$TARGETS/steady" at
	# a call may be counted and have no event yet, or the other way round:
	# the latest of the only thread
	"$DUMP" -q -f text profile >tree.table
	"$DUMP" -q -f text --from 0 profile >events.table
	for name in round_of fib tick; do
		a=$(row tree.table calls $name) b=$(row events.table calls $name)
		assert_le $((a - b)) 1 "calls of $name that have no event"
		assert_le $((b - a)) 1 "events of $name that were not counted"
	done
	# what the program itself says: it was killed in that round
	at=$(od -An -tu8 -N8 at | xargs)
	rounds=$(row events.table calls round_of)
	[ $((at - rounds)) -eq 0 ] || [ $((at - rounds)) -eq 1 ] ||
		fail "killed in round $at, traced $rounds"
	"$DUMP" -f info profile >info
	assert_not_contains info 'damaged'
done

it 'times by the events are those of the tree, also where a chunk ends'
assert_same_as_native "$TARGETS/calls" 100000
# (the tree may know that the thread waited for a processor: a part of the time
# that the events have)
whole_times() {
	awk -F, -v OFS=, 'NR > 1 {
		$2 += $11; $3 += $12; $11 = $12 = ""; print }' | sort
}
"$DUMP" -f csv --no-compensate profile | whole_times >tree.csv
"$DUMP" -f csv --no-compensate --from 0 profile | whole_times >events.csv
assert_matches tree.csv '^100000,.*,leaf,'
assert_same tree.csv events.csv

it 'options that do not fit'
for option in '--ring' '--max-size 1M' '-t 1us'; do
	# shellcheck disable=SC2086
	SWIZZLE_MODE=profile capture "$RUN" $option true
	assert_status 2
	assert_contains err 'is for --mode trace only'
done
capture "$RUN" --timing sampled true
assert_status 2
for time in 5x ms 1h 1001s 1000000000001 ''; do
	capture "$RUN" -t "$time" true
	assert_status 2
done
capture "$RUN" --max-size 1K true
assert_status 2

it 'a core file would not be longer by what lies beside the events'
cat >large.pl <<'END'
open(my $maps, '<', '/proc/self/smaps');
while (<$maps>) {
	$large = hex($2) - hex($1) >= 64 << 20 if /^(\w+)-(\w+) rw-p/;
	$large = 0 if /^\w+-\w+ (?!rw-p)/;
	print if $large && /^VmFlags:/ && !/ dd/;
}
END
capture "$RUN" -m trace -o profile perl large.pl
assert_status 0
assert_empty out

finish
