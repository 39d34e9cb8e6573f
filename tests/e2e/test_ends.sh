# shellcheck shell=bash
# However a process ends, it ends as without us, and the profile is whole.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets ends

ends() { # WAY HOW CALLS-OF-work
	it "$1"
	assert_same_end "$TARGETS/ends" "$1"
	assert_eq "$2" "$(cat end)" 'end'
	assert_readable profile
	assert_calls profile work "$3" below 10 end_now 1 main 1
}

# atexit: 2 calls, the destructor of a static object: 1
ends return 'exit 6' 1003
ends exit 'exit 3' 1003
ends _exit 'exit 4' 1000
ends quick_exit 'exit 5' 1002
ends abort 'signal 6' 1000
ends throw 'signal 6' 1000
ends fault 'signal 11' 1000
ends trap 'signal 4' 1000
ends divide 'signal 8' 1000
ends thread 'exit 9' 1003
ends main-thread 'exit 0' 1003
for signal in 9 11 15 13 2 3 10; do
	ends $signal "signal $signal" 1000
done

it 'orderly ends are marked as such, others not'
"$RUN" -o profile "$TARGETS/ends" exit
assert_complete profile
end_of "$RUN" -o profile "$TARGETS/ends" abort >/dev/null
"$DUMP" -f info profile >info
assert_not_contains info 'ended'
assert_not_contains info 'damaged'

it 'open frames end at the last time seen'
"$DUMP" -f text profile >table
for function in main below; do
	assert_ge "$(row table incl $function)" 1 "time in $function"
done

# Behind the end of a file that was cut each word is a SIGBUS.
if have 'memcheck looks for leaks, and finds no memory that cannot be read' valgrind; then
	capture timeout 240 "$RUN" -q --max-memory 8M -o memcheck.profile \
		valgrind -v --run-libc-freeres=no --run-cxx-freeres=no \
		"$TARGETS/ends" return
	assert_contains err 'Checked '
	assert_not_contains err 'due to read errors'
fi

it 'what has taken the place of the profile is left alone'
rm -f profile
capture "$RUN" -o profile perl -e 'rename("profile", "away");
	open(my $file, ">", "profile"); truncate($file, 64 << 20); exit(4)'
assert_status 4
assert_empty err
assert_eq $((64 << 20)) "$(stat -c %s profile)" 'size of the other file'
assert_complete away
rm -f profile away
mkfifo profile
capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT="$TMP/profile" SWIZZLE_FRESH=1 \
	perl -e 'exit(3)'
assert_status 3
[ -p profile ] || fail 'the named pipe is gone'
assert_complete profile.*
rm -f profile*

finish
