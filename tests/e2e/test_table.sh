# shellcheck shell=bash
# The table for people: what is missing in profiles. (Figures, rows and what stands around
# them: tests/unit/test_dump_trees.c; on a terminal: test_dump_terminal.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets workers recursion

"$RUN" -q --timing exact -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'

it 'what is missing stands above the rows, and only that'
"$DUMP" -f table profile >out
grep -vE 'hooks took|self has' out >others
assert_not_contains others Note:
"$RUN" -q --timing exact -o deep "$TARGETS/recursion" deep 90 >/dev/null
"$DUMP" -f table deep >out
assert_eq 'Note: 75 recursive calls are folded into earlier ones (--recursion).' \
	"$(grep Note: out | grep -vE "hooks took|self has")"
head -c $(($(wc -c <profile) / 2)) profile >half
"$DUMP" -q -f table half >out
assert_contains out 'Note: 1 profile is damaged or cut off.'
"$RUN" -q -m trace --timing exact --max-size 1M -o full "$TARGETS/recursion" tree 22 >/dev/null
"$DUMP" -q -f table full >out
assert_matches out '^Note: [0-9,]+ events had no room in the trace \(--max-size\)\.$'
"$RUN" -q -m trace --timing exact --ring -o ring "$TARGETS/recursion" deep 3 >/dev/null
"$DUMP" -q -f table ring >out
assert_contains out 'Note: 1 trace holds the newest events only (--ring).'
"$RUN" -q -m profile --timing sampled -o sampled "$TARGETS/recursion" deep 3 >/dev/null
"$DUMP" -q -f table sampled >out
assert_contains out 'Note: sampled. Counts are exact, times are estimates'

finish
