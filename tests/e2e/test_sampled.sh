# shellcheck shell=bash
# --timing sampled: every call is counted, some are timed.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib tailcalls exceptions contexts longjmp leaves heavy jumped

functions() { # MODULE: calls and names of the program's own functions
	awk -v module="$1" '!/^#/ && $NF == module { print $1, $(NF - 1) }' table |
		sort
}

counts_are_exact() { # PROGRAM ARG...
	local program=$1
	shift
	RUN_OPTIONS=()
	assert_same_as_native "$TARGETS/$program" "$@"
	dump_table profile
	functions "$program" >exact
	RUN_OPTIONS=(--timing sampled)
	assert_same_as_native "$TARGETS/$program" "$@"
	assert_complete profile
	dump_table profile
	functions "$program" >sampled
	assert_ge "$(wc -l <exact)" 2 'functions'
	assert_same exact sampled
	assert_time_is_sane profile "${threads:-1}"
}

it 'counts are those of exact timing: recursion'
counts_are_exact fib
assert_matches "$TMP/info" '^flags:.* sampled'
assert_matches "$TMP/info" '^cost per call that is not timed: [0-9.]+ ns \([0-9.]+ of a function that calls nothing\)$'

it 'the table says how far times may be off'
assert_matches table '^ *calls +self +incl +\+/- +function  module$'
assert_eq 0 "$(awk '$(NF - 1) == "main" { print $4 }' table)" 'error of main, which is timed'
"$DUMP" -q -f callgrind -o callgrind.out profile || fail 'callgrind'

it 'counts are those of exact timing: threads'
threads=5 counts_are_exact fib 4

it 'counts are those of exact timing: tail calls'
counts_are_exact tailcalls mutual 100000
counts_are_exact tailcalls chain 2000

it 'counts are those of exact timing: exceptions'
threads=5 counts_are_exact exceptions deep
counts_are_exact exceptions next
# each of these is left by an exception, timed or not
assert_eq 130000 "$(unwound table thrower)" 'unwound'

# Caller, callee, calls: by the callgrind file.
edges() { # PROFILE
	"$DUMP" -q -f callgrind -o - "$1" | awk '
		match($0, /^c?fn=\([0-9]+\)/) {
			id = substr($0, index($0, "("), RLENGTH - index($0, "(") + 1)
			if (length($0) > RLENGTH)
				name[id] = substr($0, RLENGTH + 2)
			if (/^fn/) caller = name[id]
			else callee = name[id]
		}
		/^calls=/ { split($0, part, /[= ]/); n[caller " " callee] += part[2] }
		END { for (edge in n) print edge, n[edge] }' | sort
}

# Calls of such functions go by without a return thunk, where they are not
# timed: what is none of them must not be taken for one.
it 'calls out of functions that seem to call nothing are theirs'
for timing in exact sampled; do
	RUN_OPTIONS=(--timing "$timing")
	assert_same_as_native "$TARGETS/leaves"
	assert_complete profile
	edges profile >edges.$timing
done
for edge in 'main plain' 'goes_on reached' 'goes_on_if reached' \
	'goes_through reached' 'main goes_home' 'calls_late reached' \
	'asks_kernel on_signal' 'on_signal note' 'on_signal plain' 'main moves'; do
	assert_contains edges.exact "$edge 3000"
done
assert_same edges.exact edges.sampled

# A jump that is not timed has no record; what must be known of it is found by the
# nodes.
it 'calls by functions that have been jumped to are theirs'
for timing in exact sampled; do
	RUN_OPTIONS=(--timing "$timing")
	assert_same_as_native "$TARGETS/jumped"
	assert_complete profile
	edges profile >edges.$timing
	"$DUMP" -q -f csv profile | awk -F, 'NR > 1 && $6 { print $6, $7 }' | sort >unwound.$timing
	mv profile.[0-9]* child.$timing || fail 'no profile of the child'
	edges child.$timing >child_edges.$timing
done
for edge in 'first_longjmp second_longjmp 3000' 'second_longjmp last_longjmp 3000' \
	'last_longjmp after_longjmp 3000' 'last_throw thrower 3000' \
	'last_switch after_switch 300' 'second_fork last_fork 3000'; do
	assert_contains edges.exact "$edge"
done
assert_contains child_edges.exact 'last_fork in_child 10'
assert_contains unwound.exact '3000 second_throw'
assert_same edges.exact edges.sampled
assert_same child_edges.exact child_edges.sampled
assert_same unwound.exact unwound.sampled

it 'filters and depth'
RUN_OPTIONS=(--timing sampled -N level_1)
assert_same_as_native "$TARGETS/contexts"
assert_complete profile
assert_calls profile level_0 1 level_1 0 level_2 0
RUN_OPTIONS=(--timing sampled -D 3)
assert_same_as_native "$TARGETS/contexts"
assert_complete profile
assert_calls profile level_0 1 level_16 0

program hot.c >hot.c
if have 'only some calls of a hot function are timed, all of the others' gcc; then
	gcc -O1 -o hot hot.c
	RUN_OPTIONS=(--timing sampled)
	assert_same_as_native ./hot
	assert_calls profile leaf 1000000 once 1 main 1
	# without a way to look at it but the costs: had all been timed, there
	# would be no error; had none, no time
	assert_ge "$(awk '$(NF - 1) == "leaf" { print $4 }' table)" 1 'error of leaf'
	"$DUMP" -q -f text --no-compensate profile >raw
	assert_ge "$(row raw self leaf)" 1000000 'raw time of leaf, in ns'
fi

# One call in 2,000 of each of 512 functions takes 400 us, so some eight of these are
# timed, and would count 64 times each: 25 ms. (Where others use the machine, a second
# one may come by chance.)
program strays.c >strays.c
if have 'a long call by chance counts for itself' gcc; then
	gcc -O1 -o strays strays.c || abort 'no program'
	RUN_OPTIONS=(--timing sampled)
	assert_same_as_native ./strays
	dump_table profile
	assert_eq 512 "$(awk '!/^#/ && $1 == 2000 && $(NF - 1) ~ /^f[0-9]+$/' table | wc -l)" \
		'functions with 2,000 calls'
	assert_le "$(awk '!/^#/ && $(NF - 1) ~ /^f[0-9]+$/ { n += $2 > 14000000 }
		END { print n + 0 }' table)" 2 'functions that seem to take 14 ms'
	# they are there, if not all by themselves
	assert_ge "$(awk '!/^#/ && $(NF - 1) ~ /^f[0-9]+$/ { n += $2 > 50000 }
		END { print n }' table)" 2 'long ones that were timed'
fi

it 'a name that is not known is wrong usage'
capture "$RUN" --timing often true
assert_status 2
assert_contains err "unknown kind of timing 'often'. There are: exact, sampled"
SWIZZLE_TIMING=often capture "$RUN" -o profile true
assert_refused 2 "SWIZZLE_TIMING in the environment: unknown kind of timing 'often'. There are: exact, sampled"

# Starts of frames tell stale links, so they must be in order also where a timed
# call follows an untimed one within a step of the clock. Not in each run.
it 'keeps the order of frames that a longjmp cuts off'
for _ in {1..25}; do
	"$RUN" -q --timing sampled -o jumps "$TARGETS/longjmp" altstack >/dev/null
	assert_eq 'leaf raise_below resident_kb say_growth' "$(
		callees_of jumps jump_out_of_handlers
	)" 'called by the frame that was jumped to'
	# shellcheck disable=SC2154 # of lib.sh
	[ "$failures" -eq 0 ] || break
done
it 'times of an outermost function that ends in a jump are its own'
program outermost.c >outermost.c
gcc -O2 -o outermost outermost.c || abort 'no program'
"$RUN" -q --timing sampled -F outermost -o profile ./outermost
assert_calls profile main 0 outermost 20000 target 20000
# a hundred instructions of many thousands
assert_le "$(($(row table incl outermost) * 4))" "$(row table incl '[outside]')" \
	'its time'

# Two of 200,000 calls take nearly all of the time. An estimate from one in 64
# has none of it, or 64 times as much. (A thread that waits for a processor in a
# timed call is 64 ms off: hence the median. Where it waited is not known.)
own_time() { # WORK RUNS: the median, in percent of what it was, and without what waited
	rm -f percent running
	for ((run = 0; run < $2; run++)); do
		capture "$RUN" --timing sampled -o profile "$TARGETS/heavy" "$1"
		assert_status 0
		dump_table profile
		own=$(awk '$(NF - 1) == "long_or_short" { print $2 / 1e6 }' table)
		assert_eq 200000 "$(row table calls long_or_short)" calls
		assert_time_is_sane profile 1
		echo $((${own%.*} * 100 / $(cut -d' ' -f1 out))) >>percent
		waited=$("$DUMP" -q -f json profile | grep -o '"unplaced_waiting_ns":[0-9]*')
		echo $(((${own%.*} - ${waited#*:} / 1000000) * 100 / $(cut -d' ' -f1 out))) >>running
	done
	median=$(sort -n percent | sed -n $(($2 / 2 + 1))p)
	median_running=$(sort -n running | sed -n $(($2 / 2 + 1))p)
}
for work in calls jumps; do
	it "few long $work among many short ones"
	own_time $work 5
	assert_ge "$median" 90 'self time, percent of what it was'
	assert_le "$median_running" 115 'self time, percent of what it was'
done

it 'frames that are open at a fork, several of a function'
program forked.c >forked.c
gcc -O1 -o forked forked.c || abort 'forked is not built'
for lasting in '' lasting; do
	for timing in exact sampled; do
		rm -rf forks
		"$RUN" -q --timing $timing -o forks/ ./forked $lasting
		assert_eq 2 "$(find forks -type f | wc -l)" 'profiles'
		for profile in forks/*; do
			assert_complete "$profile"
			assert_not_contains "$TMP/info" repaired
			# a thread that waits for a processor does so somewhere
			"$DUMP" -q -f csv -o csv "$profile"
			assert_ge "$(awk -F, '$7 == "back" { print $2 + $11 }' csv)" \
				10000 'time of back itself'
		done
	done
done

it 'a long call ends where the memory for call edges is used up'
for edges in {1..16}; do
	capture "$RUN" --timing sampled -o profile "$TARGETS/heavy" calls "$edges"
	dump_table profile
	own=$(awk '$(NF - 1) == "long_or_short" { print $2 / 1e6 }' table)
	assert_ge "${own%.*}" $(($(cut -d' ' -f2 out) / 2)) "self time, ms, after $edges edges"
done

# Calls that are not so long, 400 of 200,000: an estimate of these from six or so
# would be off by half. What they call is short, so only the hooks in assembly
# see that they are long.
it 'some calls that last longer than others'
own_time less 3
assert_ge "$median" 80 'self time, percent of what it was'
assert_le "$median_running" 140 'self time, percent of what it was'

# Half of 200,000 calls take all of the time, and one in 64 is timed: that is off
# by sqrt(63 / 200000) of it, 1.8 percent, and by more if others use the machine.
for jumps in '' jumps; do
	it "the error is that of the estimate $jumps"
	for _ in {1..20}; do
		capture "$RUN" --timing sampled -o profile "$TARGETS/heavy" \
			mixed $jumps
		dump_table profile
		error=$(awk '!/^#/ && $(NF - 1) == "mixed" { printf "%.0f", $4 / $2 * 1e4 }' table)
		[ "$error" -lt 150 ] || [ "$error" -gt 260 ] || break
	done
	assert_ge "$error" 150 'error, of 10000'
	assert_le "$error" 260 'error, of 10000'
done

finish
