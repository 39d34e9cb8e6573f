# shellcheck shell=bash
# Functions that are hard to patch run as natively, hooked.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets atomics

it 'loops of a few instructions that go back into the first five bytes'
assert_same_as_native "$TARGETS/atomics"
assert_complete profile
assert_calls profile run 4
"$RUN" --list "$TARGETS/atomics" >list
# such loops are displaced as a whole, not refused
read -r functions patched < <(awk '$1 ~ /libatomic/ { print $2, $3 }' list)
assert_ge $((100 * patched)) $((95 * functions)) 'hooked functions of libatomic'

finish
