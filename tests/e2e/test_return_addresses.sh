# shellcheck shell=bash
# Functions that look at their callers' return addresses see the real ones.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets return_addresses returned
need gcc
program=$TARGETS/return_addresses

it '__builtin_return_address of the levels 0 to 3'
assert_same_as_native "$program"
assert_complete profile

it 'only those are refused that are looked at'
assert_calls profile harmless 1 one_above 2 two_above 1 jumps 1 \
	own 3 calls_one_above 0 calls_two_above 1 calls_calls_two_above 0 \
	seldom_above 1 calls_in_part 0 \
	all_four 1 four_1 0 four_2 0 four_3 0 calls_jumps 0
"$RUN" --list -v "$program" >list
assert_matches list '  reads its return address +spread$'
assert_matches list '  patched +harmless_vectors$'
reason="calls a function that reads its caller's return address"
for name in calls_one_above calls_calls_two_above four_1 four_2 four_3 \
	calls_jumps; do
	assert_matches list "  $reason +$name\$"
done

it 'a function that is not hooked itself looks at its callers all the same'
RUN_OPTIONS=(-H one_above -H two_above)
assert_same_as_native "$program"
assert_calls profile one_above 0 two_above 0 calls_one_above 0 harmless 1

# GCC pushes the return address once more, where a debugger looks for it.
it 'a return address is read in a frame that is aligned and grows'
RUN_OPTIONS=()
program aligned.c >aligned.c
for flags in -O0 -O1 -O2 -Os; do
	gcc $flags -o aligned aligned.c || abort 'aligned is not built'
	assert_same_as_native ./aligned
	assert_complete profile
	assert_calls profile main 1 note 2 aligned 0 calls 0
done

it 'code that is returned to has no return address of its own'
assert_same_as_native "$TARGETS/returned"
assert_complete profile
assert_calls profile caller 1000 work 1000 returned 0 put_back 1000
for timing in exact sampled; do
	[ "$timing${TEST_MODE:-}" != sampledtrace ] || break # it has exact times
	RUN_OPTIONS=(--timing "$timing" -H work)
	assert_same_as_native "$TARGETS/returned"
done
RUN_OPTIONS=()

it 'a function that jumps to one that jumps to one that reads its return address'
program chain.S >chain.S
program chain.c >chain.c
gcc -O2 -o chain chain.c chain.S || abort 'chain is not built'
for stripped in '' yes; do
	[ -z "$stripped" ] || strip chain
	assert_same_as_native ./chain
	assert_complete profile
done
gcc -O2 -o chain chain.c chain.S
assert_same_as_native ./chain
assert_calls profile main 1 other 3 calls_reader 3
"$RUN" --list -v ./chain >list
for name in reader one two three warm to_warm next next_but_one; do
	assert_matches list " tail-calls a function.* $name\$| reads its return.* $name\$"
done

it 'functions that jump through pointers to what reads its return address'
mkdir lib
echo 'int pointed(void) { return 1; }' >pointed.c
gcc -shared -fPIC -o lib/libpointed.so pointed.c || abort 'no libpointed.so'
pointed() { # NAME COMPILER...
	# shellcheck disable=SC2016
	"${@:2}" -O2 -g -w -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib' -o "$1" \
		"$TOP/tests/targets/pointed_readers.cc" 2>build.log
}
pointed pointed g++ || abort 'pointed is not built'
pointed pointed-fixed g++ -no-pie -fno-pie || abort 'pointed-fixed is not built'
pointed pointed-bound g++ -fno-plt || abort 'pointed-bound is not built'
! command -v clang++-14 >/dev/null || pointed pointed-clang clang++-14
for program in ./pointed ./pointed-*; do
	for options in '' '-m trace' '--timing exact' --imports '-M *'; do
		set -f
		# shellcheck disable=SC2086
		set -- $options
		set +f
		use_options "$@" || continue
		assert_same_as_native "$program"
		assert_complete profile
		assert_calls profile to_open 30 to_open_in 30 to_find 30 \
			to_find_version 30 to_set_jump 31 to_get_context 1 \
			to_swap_context 60 to_walk 1 catches 1200 \
			_Unwind_RaiseException 800
	done
done

finish
