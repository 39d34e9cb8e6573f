# shellcheck shell=bash
# swizzle-dump on files that may not be read or written, and where programs are gone.
# (Damaged profiles, and what is none: tests/unit/test_dump_damage.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets calls fib shape exceptions

refuses() { # TEXT FILE: says so in one line, status 1, and writes nothing
	capture timeout 120 "$DUMP" -f text "$2"
	assert_refused 1 "$1"
	assert_eq 1 "$(wc -l <err)" 'lines of the message'
	rm -f cg
	capture timeout 120 "$DUMP" -o cg "$2"
	assert_refused 1 "$1"
	assert_missing cg
}

it 'what may not be read'
"$RUN" -o profile "$TARGETS/exceptions" rethrow >/dev/null
cp profile unreadable
chmod 0 unreadable
if [ "$(id -u)" -ne 0 ]; then
	refuses 'ermission' unreadable
elif chmod 755 "$TMP" && nobody_executes "$TMP" "$DUMP"; then
	capture setpriv --reuid 65534 --clear-groups "$DUMP" -f text \
		"$TMP/unreadable"
	assert_refused 1 'ermission'
fi

system_calls() { # WHICH FORMAT FILE: how many, of an attempt to write the trace there
	strace -f -qq -o log -e trace="$1" "$DUMP" -q -f "$2" -o "$3" trace 2>err
	wc -l <log
}

if have 'what can be written no more' strace; then
	# (a page is compressed before it is written: how much of the trace was read tells more there)
	it 'where nothing more can be written it does not go on'
	SWIZZLE_TIMING='' "$RUN" -q -m trace -o trace "$TARGETS/calls" 600000 >/dev/null
	for format in chrome perfetto speedscope html; do
		which='write'
		[ $format != html ] || which=pread64
		whole=$(system_calls $which $format /dev/null)
		begun=$(system_calls $which $format /dev/full)
		assert_le "$begun" $((whole - 3)) "$format: calls of $which"
		[ $format = html ] || assert_le "$begun" 6 "$format: calls of write"
		assert_eq 1 "$(wc -l <err)" 'lines of the message'
		capture "$DUMP" -q -f $format -o /dev/full trace
		assert_refused 1 'No space left on device'
	done
	rm -f trace
fi

it 'samples that are lost: calls without times, and a word'
mkdir halves
SWIZZLE_MODE=both "$RUN" -q -r 1000 -o halves/both "$TARGETS/fib" >/dev/null
mv halves/both.samples samples
[ -s samples ] || abort 'no samples were written'
for size in 0 1 100 4096; do
	head -c "$size" samples >halves/both.samples
	capture "$DUMP" -f text halves/both
	assert_status 1
	assert_matches err '^swizzle: halves/both.samples: .*without their times$'
	assert_eq 1 "$(wc -l <err)" 'lines of the message'
	assert_matches out ' fib  fib$'
done
rm halves/both.samples
capture "$DUMP" -f text halves/both
assert_status 0

it 'what only a trace has: one line'
cp samples halves/both.samples
capture "$DUMP" -f calls halves/both
assert_refused 1 'not a trace'
assert_eq 1 "$(wc -l <err)" 'lines of the message'

it 'a program that is gone, no program, or another one'
cp "$TARGETS/fib" program
"$RUN" -o named ./program >/dev/null
assert_calls named main 1
addresses() { # REASON
	capture timeout 120 "$DUMP" -f text named
	assert_status 0
	assert_contains err "program $1; its functions are shown by address"
	assert_not_contains out main
}
mv program moved
addresses 'cannot be read'
mkfifo program
addresses 'cannot be read'
rm program
echo text >program
addresses 'is not an ELF file'
cp "$TARGETS/shape" program
addresses 'has changed since it was profiled (other build-id)'
if have 'one without a build-id' gcc; then
	echo 'int f(void) { return 0; } int main(void) { return f(); }' >f.c
	gcc -O0 -Wl,--build-id=none -o program f.c
	"$RUN" -o named ./program
	assert_calls named f 1
	gcc -O2 -Wl,--build-id=none -o program f.c
	capture "$DUMP" -f text named
	assert_status 0
	assert_contains err 'program has no build-id and is newer than the profile'
fi

it 'standard files that are closed'
cp "$TARGETS/exceptions" gone
"$RUN" -o gone.profile ./gone rethrow >/dev/null 2>&1
rm gone
"$DUMP" -f json --by thread,parts -o output gone.profile 2>&-
assert_eq 0 $? status
assert_not_contains output 'swizzle: '
"$DUMP" -q -f archive -o archive gone.profile
"$DUMP" -f text archive <&- >&- 2>err
assert_eq 1 $? 'status where there is no standard output'
assert_contains err 'cannot write standard output'

finish
