# shellcheck shell=bash
# Several threads plan a program with much code. They find what one finds, and
# nothing is left of them when anything of the program runs; where they might do
# harm there are none.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets planned deny fib exceptions
need taskset
unset SWIZZLE_TEST_WORKERS
export SWIZZLE_CACHE=0 # what was planned before is patched only

planners() { # the number that -v says, of the program and not its launcher
	sed -n 's/^swizzle: ready after [0-9]* ms, threads that planned: //p' \
		err | tail -n 1
}

processors=$(nproc)
"$TARGETS/planned" >native
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
# Not so in many a container.
if grep -q '^Seccomp:[[:space:]]*0' /proc/self/status &&
	grep -q '^TracerPid:[[:space:]]*0' /proc/self/status; then
	free=yes
else
	free=
	echo 'this shell is confined or traced: one thread plans everything'
fi

it 'several threads plan, where there are processors, and the program has one'
capture "$RUN" -v -o profile "$TARGETS/planned"
assert_status 0
assert_same native out
assert_ge "$(planners)" $((processors > 1 && ${#free} ? 2 : 1)) threads
assert_le "$(planners)" "$processors" threads
assert_converts profile

it 'all that they find is what one finds'
for program in "$TARGETS/planned" "$(command -v gdb)" "$(command -v python3)"; do
	[ -n "$program" ] || continue
	taskset -c "$first" "$RUN" --list -v -M '*' "$program" --version \
		>one 2>&1
	SWIZZLE_TEST_WORKERS=5 "$RUN" --list -v -M '*' "$program" --version \
		>several 2>&1
	assert_ge "$(wc -l <one)" 1000 "lines about $program"
	assert_same one several
done

it 'several threads for the least of programs, with exceptions'
for program in fib exceptions; do
	"$TARGETS/$program" >native.small
	for team in 2 8; do
		capture env SWIZZLE_TEST_WORKERS=$team \
			"$RUN" -o profile "$TARGETS/$program"
		assert_status 0
		assert_same native.small out
		assert_complete profile
	done
done

it 'where there is one processor, one'
capture taskset -c "$first" "$RUN" -v -o profile "$TARGETS/planned"
assert_status 0
assert_same native out
assert_eq 1 "$(planners)" threads

it 'where making a thread is death, one'
capture "$TARGETS/deny" threads "$TARGETS/planned"
# shellcheck disable=SC2154 # of lib.sh
if [ $status -eq 77 ]; then
	echo 'no seccomp filters: not tested'
else
	assert_status 0
	rm -f profile*
	capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_VERBOSE=1 \
		SWIZZLE_OUTPUT="$TMP/profile" \
		"$TARGETS/deny" threads "$TARGETS/planned"
	assert_status 0
	assert_same native out
	assert_eq 1 "$(planners)" threads
fi

it 'where the process is traced, one'
if have 'a process that is traced' strace &&
	strace -o log true 2>/dev/null; then
	capture strace -f -q -o log -E LD_PRELOAD="$LIBSWIZZLE" \
		-E SWIZZLE_VERBOSE=1 -E SWIZZLE_OUTPUT="$TMP/profile" \
		"$TARGETS/planned"
	assert_status 0
	assert_same native out
	assert_eq 1 "$(planners)" threads
fi

it 'where the user may have no more threads, one'
if [ "$(id -u)" -ne 0 ] || ! chmod 755 "$TMP" ||
	! nobody_executes "$TMP" "$LIBSWIZZLE" "$TARGETS/planned"; then
	echo 'no other user to be: not tested'
else
	mkdir -m 777 open
	capture setpriv --reuid 65534 --clear-groups prlimit --nproc=1 \
		env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_VERBOSE=1 \
		SWIZZLE_OUTPUT="$TMP/open/profile" "$TARGETS/planned"
	assert_status 0
	assert_same native out
	assert_eq 1 "$(planners)" threads
fi
finish
