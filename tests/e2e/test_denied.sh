# shellcheck shell=bash
# What the system refuses us the program must not notice: no memory may become
# executable; or each of our system calls fails once, or from then on (the points
# are found by tracing a run; strace makes the calls fail).
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib deny processes

for how in seccomp mdwe; do
	it "no execute permission to be had: $how"
	capture "$TARGETS/deny" $how "$TARGETS/fib"
	[ $status -ne 77 ] || {
		echo "the kernel has no $how: not tested"
		continue
	}
	mv out native.out
	native=$status
	rm -f profile
	capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT="$TMP/profile" \
		"$TARGETS/deny" $how "$TARGETS/fib"
	assert_status $native
	assert_same native.out out
	assert_contains err 'swizzle: no function is hooked: no memory may become executable'
	for profile in profile*; do # that of deny, and of what it has executed
		assert_converts "$profile"
	done
	rm -f profile*
done
need strace

traced() { # STRACE-OPTION... -- PROGRAM...: profiled directly, no wrapper
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f profile
	timeout 240 strace -f -q -o log -E LD_PRELOAD="$LIBSWIZZLE" \
		-E SWIZZLE_OUTPUT="$TMP/profile" ${options[@]+"${options[@]}"} \
		"$@" >out 2>err </dev/null
	status=$?
}

traced -- "$TARGETS/fib" || true
grep -q "$TMP/profile" log || skip 'strace cannot trace here'

# So does qemu-user: every advice is taken, none is heeded.
it 'a system that says it will wipe memory in forked children, and does not'
"$TARGETS/processes" fork >native.out
traced -e inject=madvise:retval=0 -- "$TARGETS/processes" fork
assert_status 0
assert_same native.out out
assert_contains err 'swizzle: forked children cannot be known here'
assert_missing profile

# The numbers of the calls CALL that are made from our start on.
points() { # CALL LOG
	awk -v call="$1" -v ours="$TMP/profile" '
		index($0, ours) { started = 1 }
		{ sub(/^[0-9]+ +/, "") }
		index($0, call "(") == 1 { n++; if (started) print n }' "$2"
}

# Same output, same status; what is said is said by us; a profile that is there
# can be read.
unharmed() { # WHAT
	it "$1"
	assert_status "$native"
	assert_same native.out out
	if grep -v '^swizzle: ' err >strange; then
		fail "strange message: $(head -n 1 strange)"
	fi
	[ ! -s profile ] || assert_converts profile
}

sweep() { # PROGRAM CALL=ERROR...
	local program=$1 pair call error point lasting
	shift
	"$program" >native.out 2>/dev/null </dev/null
	native=$?
	traced -- "$program"
	unharmed "strace alone: ${program##*/}"
	cp log whole.log
	for pair; do
		call=${pair%=*} error=${pair#*=}
		for point in $(points "$call" whole.log); do
			# shellcheck disable=SC2154 # of lib.sh
			[ "$failures" -lt 30 ] || return
			count=$((count + 1))
			traced -e "inject=$call:error=$error:when=$point" -- "$program"
			unharmed "${program##*/}: $call number $point fails with $error"
		done
		# text that we have made writable must be executable again
		lasting=$LASTING
		[ "$call" != mprotect ] || lasting=1000
		for point in $(points "$call" whole.log | head -n "$lasting"); do
			[ $failures -lt 30 ] || return
			count=$((count + 1))
			traced -e "inject=$call:error=$error:when=$point+" -- "$program"
			unharmed "${program##*/}: $call fails with $error from number $point on"
		done
	done
}

# ALL=1: every call, and more points from which on they fail; a minute or two
count=0
LASTING=1
calls='mmap=ENOMEM mprotect=EACCES madvise=EINVAL open=EACCES read=EIO'
if [ -n "${ALL:-}" ]; then
	LASTING=12
	calls="$calls fstat=EIO ftruncate=EFBIG prctl=EINVAL readlink=EACCES
		getcwd=ENOENT rt_sigprocmask=EINVAL clock_gettime=EPERM
		truncate=EACCES lstat=EACCES munmap=EINVAL close=EIO"
fi
# shellcheck disable=SC2086
sweep "$TARGETS/fib" $calls
assert_ge $count 30 'points of failure'
finish
