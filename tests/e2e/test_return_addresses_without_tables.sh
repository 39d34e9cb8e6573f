# shellcheck shell=bash
# Functions without unwind tables that look at return addresses: it is seen from
# their code.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc

it 'functions without unwind tables that look at return addresses'
for how in -O0 '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	gcc $how -fno-asynchronous-unwind-tables -fno-unwind-tables -o tableless \
		"$TOP/tests/targets/return_addresses.c" ||
		abort 'return_addresses is not built without tables'
	assert_same_as_native ./tableless
	assert_complete profile
	assert_calls profile harmless 1 own 0 calls_one_above 0 all_four 0
done

it 'a function without a table that goes to where it was called from'
program caller.S >caller.S
program selection.c >selection.c
gcc -O1 -mno-red-zone -o caller selection.c caller.S || abort 'caller is not built'
assert_same_as_native ./caller
assert_complete profile
assert_calls profile main 1 counted 3 pops 0 keeps 0

# As above, in other shapes: what reads its return address behind a way for the
# stack pointer, and what looks alike.
it 'functions without a table, by what they do with the stack'
program shapes.S >shapes.S
program shapes.c >shapes.c
gcc -O1 -o shapes shapes.c shapes.S || abort 'shapes is not built'
assert_same_as_native ./shapes
assert_complete profile
assert_calls profile other_frame 4 other_register 4 with_index 4
"$RUN" --list -v ./shapes >list
assert_eq 0 "$(grep -c ' patched .* no_' list)" 'hooked ones that read theirs'

finish
