# shellcheck shell=bash
# -m count: calls are counted at function entries alone, for each call edge and
# thread, exactly; the program notices nothing.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets fib siblings exceptions longjmp tailcalls signals threads clones \
	fibers return_addresses steady marks attached late liblate.so
RUN_OPTIONS=(-m count)

# "CALLS FUNCTION MODULE" of all that was called.
calls_in() { # PROFILE
	"$DUMP" -q -f csv "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["calls"] > 0 { print $at["calls"], $at["function"], $at["module"] }' |
		sort
}

# A program whose calls do not depend on time: its counts are those of -m profile,
# and maybe there are more. (Thunks make the unwinder look once more.)
equal() { # PROGRAM [ARG...]
	assert_same_as_native "$@"
	assert_complete profile
	calls_in profile >counted
	"$RUN" -q -o exact -- "$@" >out 2>err </dev/null
	calls_in exact >exactly
	[ -s exactly ] || fail 'nothing was called'
	comm -13 counted exactly | grep -v ' libgcc_s\.so' >missing
	assert_empty missing
	rm -f exact
}

it 'counts each of four threads for itself'
assert_same_as_native "$TARGETS/fib" 4
assert_complete profile
assert_calls profile fib $((4 * 2692537)) run 4 main 1
"$DUMP" -q -f text --by thread,parts profile >parts
assert_eq '4 2692537' "$(awk 'NF > 1 && $(NF - 1) == "fib" { print $1 }' parts |
	sort | uniq -c | xargs)" 'calls of fib in each'

for program in siblings 'exceptions rethrow' 'longjmp frames' tailcalls fibers \
	return_addresses; do
	it "counts what -m profile counts: $program"
	# shellcheck disable=SC2086 # words
	equal "$TARGETS/"$program
done

it 'the same with a plan of an earlier start, and without'
export XDG_CACHE_HOME=$TMP/cache
equal "$TARGETS/siblings"
equal "$TARGETS/siblings"
for i in 1 2; do
	"$RUN" -v -m count -o perl.profile perl -e 1 2>messages
done
assert_matches messages '^swizzle: plan cache: [1-9][0-9]* modules found, 0 stored$'
RUN_OPTIONS=(-m count --no-cache)
equal "$TARGETS/siblings"
RUN_OPTIONS=(-m count)
unset XDG_CACHE_HOME

it 'counts functions that read their return address, which others refuse'
"$RUN" -m count --list -v "$TARGETS/return_addresses" >list
assert_matches list '/return_addresses +[1-9]'
assert_eq '' "$(grep 'reads its return address' list)"
assert_matches <("$RUN" --list -v "$TARGETS/return_addresses") \
	'reads its return address'

it 'and functions that end in a frame of their choice'
"$RUN" -q -m count -o thrown "$TARGETS/exceptions" turns >out
assert_calls thrown _Unwind_RaiseException 200 _Unwind_Resume 10000

it 'what finds a stack overflow by the place of the fault: only C beside it'
program overflows.c >overflows.c
"${CC:-gcc}" -O1 -D_GNU_SOURCE -fno-toplevel-reorder \
	-fcf-protection=none -o overflows overflows.c ||
	abort 'overflows.c is not built'
assert_same_as_native ./overflows
assert_status 3
assert_calls profile collect 3 main 1 recurse 0
"$DUMP" -f info profile >info
assert_matches info '^ +runtime that looks code addresses up +1$'

it 'libc, too'
assert_same_as_native "$RUN" -q -m count -M '*' -o libc "$TARGETS/fib"
assert_ge "$("$DUMP" -q -f text libc | awk '$NF ~ /^libc\.so/' | wc -l)" 3 \
	'functions of libc'

it 'by SWIZZLE_MODE=count and LD_PRELOAD alone'
SWIZZLE_MODE=count SWIZZLE_OUTPUT=$TMP/plain LD_PRELOAD=$LIBSWIZZLE \
	"$TARGETS/fib" >out
assert_calls "$(echo plain*)" fib 2692537 main 1

it 'a forked child has a profile of its own, and leaves its parent alone'
program forks.c >forks.c
"${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o forks forks.c ||
	abort 'forks.c is not built'
rm -rf d
"$RUN" -q -m count -o d/ ./forks
assert_eq 21 "$(find d -type f | wc -l)" profiles
for file in d/*; do
	calls_of "$file" step
done | sort -n >steps
{ echo 1140; seq 10 10 200; } | sort -n >expected
assert_same expected steps

it 'handlers that come 10,000 times a second lose nothing'
program ticks.c >ticks.c
"${CC:-gcc}" -O1 -o ticks ticks.c || abort 'ticks.c is not built'
"$RUN" -q -m count -o ticked ./ticks >out
assert_eq "$(cat out)" "$(calls_of ticked step)" 'calls of step'

it 'a kill loses nothing'
for ((i = 0; i < 10; i++)); do
	rm -f profile at
	kill_after $((i * 20000 + RANDOM % 20000)) 0 "$RUN" -m count -o profile \
		"$TARGETS/steady" at
	at=$(od -An -tu8 -N8 at | xargs)
	rounds=$(calls_of profile round_of)
	calls=$(calls_of profile fib)
	[ $((at - rounds)) -eq 0 ] || [ $((at - rounds)) -eq 1 ] ||
		fail "killed in round $at, recorded $rounds"
	[ $((rounds * 1973 - calls)) -ge 0 ] &&
		[ $((rounds * 1973 - calls)) -le 1973 ] ||
		fail "$rounds rounds, but $calls calls of fib"
done

it 'a process that runs: counted for a time, twice'
program works.c >works.c
"${CC:-gcc}" -O1 -pthread -o works works.c || abort 'works.c is not built'
mkfifo to_works
./works <to_works >works.out &
pid=$!
exec 9>to_works
wait_until grep -q ready works.out
for i in 1 2; do
	capture "$RUN" -q -m count -o attached.$i -p $pid --for 300ms
	assert_status 0
	assert_ge "$(calls_of attached.$i step)" 1000 'calls of step'
done
echo >&9
exec 9>&-
wait $pid
assert_eq 0 $? 'exit status'
assert_contains works.out good

it 'pauses and goes on'
program paused.c >paused.c
"${CC:-gcc}" -O1 -I"$TOP/include" -o paused paused.c || abort 'paused.c is not built'
"$RUN" -q -m count -o paused.out ./paused
assert_calls paused.out step 5 other 5

it 'functions that a view leaves out have no row'
"$RUN" -q -m count -o fib.out "$TARGETS/fib" >/dev/null
assert_calls fib.out main 1 fib 2692537
"$DUMP" -q -f csv -o csv -N fib fib.out
assert_matches csv '^1,.*,main,fib,'
assert_not_contains csv ',fib,fib,'
"$DUMP" -q -f csv -o csv --script fib.out # all of them
assert_matches csv '^calls,'
assert_not_contains csv ',fib,'

it 'refuses what needs the end of a call'
for option in '-F x' '-N x' '-D 3' --args '--timing sampled' '--start-at x'; do
	# shellcheck disable=SC2086 # words
	capture "$RUN" -m count $option "$TARGETS/fib"
	assert_status 2
	assert_contains err 'profile or trace'
done

finish
