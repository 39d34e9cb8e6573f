# shellcheck shell=bash
# Functions whose frame is found by a register that holds the address of the return
# slot, as hand-written cryptography keeps it.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc

# As hand-written cryptography keeps its frames: the address of the return slot is
# taken to a register, by which the frame is found then.
it 'the frame is found by another register, which holds the address of its slot'
program frames.S >frames.S
program frames.c >frames.c
gcc -O2 -o frames frames.c frames.S || abort 'frames is not built'
assert_same_as_native ./frames
assert_complete profile
assert_calls profile aligned 1000 at_the_end 1000 handed_on 1000 ask 2000
"$RUN" --list -v ./frames >list
for name in loads loads_a_vector loads_by_an_index keeps copies pushes \
	exchanges asks strings vector_to_general not_said; do
	assert_matches list " reads its return address .* $name\$"
done

finish
