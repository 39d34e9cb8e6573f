# shellcheck shell=bash
# swizzle-dump and memory: whichever allocation fails, it ends with an
# error that says so, or says what is missing, or the result is whole; never a
# crash. And what it takes is no matter of how long a trace is.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib libfailing.so
case $DUMP in
*/asan/*) skip 'not with the checked build, which has an allocator of its own' ;;
esac

need gcc
gcc -O1 -g -o located "$TOP"/tests/targets/*located.c || abort 'no program'

"$RUN" -o plain "$TARGETS/fib" >out || abort 'no profile'
"$RUN" -o lines ./located >out || abort 'no profile'

dump() { # FORMAT VARIABLE=VALUE...
	local format=$1
	shift
	timeout 240 env LD_PRELOAD="$TARGETS/libfailing.so" "$@" \
		"$DUMP" -f "$format" -o - "$profile" >out 2>err
	status=$?
}

try() { # FORMAT VARIABLE=VALUE...
	dump "$@"
	it "$* $profile"
	tried=$((tried + 1))
	if [ $status -eq 0 ]; then
		[ -s err ] || assert_same "whole.$1" out
	else
		assert_eq 1 $status 'exit status'
		[ -s err ] || fail 'an error without a message'
	fi
}

# what reads debug information, and what does not (raw needs no memory;
# sqlite writes no standard output)
kinds=$(echo "$FORMATS" | grep -v -x -e raw -e sqlite | sed 's/$/ plain 30/'; echo 'callgrind lines 65')
while read -r format profile first; do
	"$DUMP" -f "$format" -o - "$profile" >whole."$format"
	it "with $format of $profile: nothing fails"
	dump "$format" COUNT_TO="$TMP/count"
	assert_status 0
	assert_same whole."$format" out
	count=$(cat count)
	assert_ge "$count" 10 'allocations'
	tried=0
	# all of the first, then a part of the rest; ALL=1: all. What the formats
	# have in common is tried with some of them.
	step=$((count / 20 + 1))
	case $format in
	text | callgrind | info) ;;
	*) first=1 step=$((count / 15 + 1)) ;;
	esac
	[ -z "${ALL:-}" ] || step=1
	for ((at = 1; at <= count; at += at < first ? 1 : step)); do
		# shellcheck disable=SC2154 # of lib.sh
		[ "$failures" -lt 20 ] || break
		try "$format" FAIL_AT=$at
		[ $((at % 5)) -ne 0 ] || try "$format" FAIL_AT=$at FAIL_ON=1
	done
	assert_ge $tried 10 'points of failure'
	[ "$profile" = plain ] ||
		assert_contains whole.callgrind "located.c"
done <<<"$kinds"

it 'the length of a trace costs no memory'
need python3
peak() { # OPTION...: kB, of swizzle-dump
	python3 -c '
import os, resource, sys
status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if not status else 0)
' "$DUMP" -q -o out "$@"
}
"$RUN" -m trace --max-size 1M -o trace.short "$TARGETS/fib" >out || abort 'no trace'
"$RUN" -m trace -o trace.long "$TARGETS/fib" >out || abort 'no trace'
# (a trace has more bytes where times take more)
assert_ge "$(stat -c %s trace.long)" $((3 * $(stat -c %s trace.short))) \
	'bytes of the longer trace'
for options in '' '--from 0' '-f perfetto'; do
	# shellcheck disable=SC2086 # words are wanted
	{
		short=$(peak $options trace.short)
		long=$(peak $options trace.long)
	}
	assert_ge "$short" 1000 "kB ($options)"
	assert_le "$long" $((short + 3000)) "kB of the longer one ($options)"
done
finish
