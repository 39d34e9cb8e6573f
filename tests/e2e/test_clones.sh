# shellcheck shell=bash
# Processes and threads by system calls of their own, and in unusual company.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets clones

# Native and profiled into the directory d; then the calls of all processes:
# the file table.
run_both() { # PROFILES ARG...
	local profiles=$1
	shift
	timeout 240 "$TARGETS/clones" "$@" >native.out 2>native.err </dev/null
	local native=$?
	rm -rf d
	capture timeout 240 "$RUN" -o d/ "${options[@]}" "$TARGETS/clones" "$@" \
		</dev/null
	assert_status $native
	assert_same native.out out
	assert_same native.err err
	assert_eq "$profiles" "$(ls d | wc -l)" profiles
	for profile in d/*; do
		assert_converts "$profile"
		[ "$may_lose" ] ||
			assert_eq 0 "$(info_value "$profile" 'lost calls')" 'lost calls'
	done
	"$DUMP" -f text d >table 2>dump.err
	[ "$may_lose" ] || assert_empty dump.err
}
may_lose=
options=()

it 'clone(2) as a fork: each child has its profile'
run_both 4 clone 3
assert_eq 3 "$(row table calls work)" 'calls of work'
assert_eq 300 "$(row table calls child_work)" 'calls of child_work'
assert_eq 3030 "$(row table calls nest)" 'calls of nest'

it 'a process in our memory that we wait for: recorded with ours'
run_both 1 vm-vfork 20
assert_eq 20 "$(row table calls cloned)" 'calls of cloned'
assert_eq 400 "$(row table calls child_work)" 'calls of child_work'
assert_eq 20 "$(row table calls work)" 'calls of work'
assert_time_is_sane d/*

# Both change the same state: numbers may be off, and calls are lost where both
# want it at the same moment; the program must not be.
it 'a process that shares memory and thread-local storage, beside us'
may_lose=yes
run_both 1 vm 10

it 'functions of both go on to others by jumps'
run_both 1 vm-jumps 5
options=(--timing=exact)
[ -n "${TEST_MODE:-}${TEST_TIMING:-}" ] || run_both 1 vm-jumps 5
options=()

it 'such a process makes threads, which are not the ones of ours that are gone'
run_both 1 vm-threads 500
may_lose=

it 'a thread of clone(2) with thread-local storage of its own'
run_both 1 tls 5
assert_eq 5 "$(row table calls cloned)" 'calls of cloned'
assert_eq 25000 "$(row table calls child_work)" 'calls of child_work'
assert_eq 25000 "$(row table calls work)" 'calls of work'
assert_time_is_sane d/* 6

# Nothing of ours is to be found there, nor may anything be put there.
it 'a process in our memory with zeros for thread-local storage: calls are lost'
may_lose=yes
kinds=(--imports -D9 -M'*')
[ -n "${TEST_MODE:-}${TEST_TIMING:-}" ] ||
	kinds+=(--timing=exact --timing=sampled --mode=trace)
for kind in "${kinds[@]}"; do
	options=("$kind")
	run_both 1 bare-tls 5
	assert_eq 5 "$(row table calls work)" "$kind: calls of work"
	assert_eq '' "$(row table calls cloned)" "$kind: calls of cloned"
	assert_ge "$(info_value d/* 'lost calls')" 605 "$kind: lost calls"
done
options=() may_lose=

it 'forks of three threads, while two others run and more come and go'
run_both 19 storm 6
assert_eq $((3 * 6 * 10)) "$(row table calls child_work)" 'calls of child_work'
assert_eq 60 "$(row table calls short_one)" 'calls of short_one'
assert_eq 2 "$(row table calls busy)" 'calls of busy'

it 'popen'
run_both 7 popen 3
assert_eq 3 "$(row table calls work)" 'calls of work'
assert_eq 3 "$(row table calls child_work)" 'calls of child_work'

it 'daemon(), and close_range() of every descriptor'
timeout 240 "$TARGETS/clones" daemon >native.out
rm -rf d
timeout 240 "$RUN" -o d/ "$TARGETS/clones" daemon >out 2>err
daemon_has_ended() { # it goes on when its parent has ended
	[ -s out ] && "$DUMP" -q -f info d/*.[0-9]* 2>/dev/null |
		grep -q '^flags: .*forked.*ended'
}
wait_until daemon_has_ended
wait_until test -s native.out
assert_same native.out out
assert_empty err
"$DUMP" -f text d >table
assert_eq 10010 "$(row table calls nest)" 'calls of nest'
assert_eq 1001 "$(row table calls child_work)" 'calls of child_work'

finish
