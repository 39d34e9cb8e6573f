# shellcheck shell=bash
# SIGKILL at any moment: the profile is readable and holds every call up to then,
# so a later kill of the same program never finds fewer than an earlier one.
#   KILLS   how many [40]
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets steady deny fib
KILLS=${KILLS:-40}
status=0

it 'while the program runs'
for ((i = 0; i < KILLS; i++)); do
	delay=$((i % 10 * 30000 + RANDOM % 30000))
	rm -f profile at
	kill_after $delay 0 "$RUN" -o profile "$TARGETS/steady" at
	assert_readable profile
	# what the program itself says: it was killed in that round
	at=$(od -An -tu8 -N8 at | xargs)
	rounds=$(calls_of profile round_of)
	calls=$(calls_of profile fib)
	ticks=$(calls_of profile tick)
	echo "$at $calls $ticks" >>kills
	[ $((at - rounds)) -eq 0 ] || [ $((at - rounds)) -eq 1 ] ||
		fail "killed in round $at, recorded $rounds"
	# fib(15) is 1973 calls, 987 of them leaves; the last round is partial
	[ $((rounds * 1973 - calls)) -ge 0 ] &&
		[ $((rounds * 1973 - calls)) -le 1973 ] ||
		fail "$rounds rounds, but $calls calls of fib"
	[ $((rounds * 987 - ticks)) -ge 0 ] &&
		[ $((rounds * 987 - ticks)) -le 987 ] ||
		fail "$rounds rounds, but $ticks calls of tick"
done

it 'counts do not decrease from one kill to a later one'
sort -n kills | awk '$2 < fib || $3 < tick; { fib = $2; tick = $3 }' >less
assert_empty less
assert_eq "$KILLS" "$(wc -l <kills)" kills

it 'while the profiler itself begins'
for ((i = 0; i < KILLS / 2; i++)); do
	rm -f profile
	kill_after $((RANDOM % 40000)) 1 "$RUN" -o profile "$TARGETS/steady" at
	[ -e profile ] || continue
	# an empty file is refused, in words
	capture "$DUMP" -f text profile
	case $status in
	0) ;;
	*)
		assert_matches err '^swizzle: '
		[ "$status" -lt 126 ] || fail "swizzle-dump: status $status"
		;;
	esac
done

# Else a later profile of that name would go elsewhere, to leave alone what is
# none.
it 'when it has just made the file: that is a profile, and makes room for the next'
rm -f profile*
capture "$TARGETS/deny" profile "$RUN" --no-cache -o profile "$TARGETS/fib"
if [ "$status" -ne 77 ]; then
	assert_eq 159 "$status" 'status (128 + SIGSYS)'
	capture "$DUMP" -f text profile
	assert_status 0
	assert_contains err 'no thread was recorded'
	capture "$RUN" -o profile "$TARGETS/fib"
	assert_status 0
	assert_empty err
	assert_calls profile main 1
	assert_eq profile "$(echo profile*)" 'profiles'
fi

finish
