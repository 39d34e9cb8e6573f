# shellcheck shell=bash
# swizzle-run --caller FUNCTION: the profile says that the function and the paths that
# lead to it are to be shown. (What is shown then: tests/unit/test_dump_trees.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets paths

# alpha 3 times, of which each calls left twice; delta 6 times, one in the other.
assert_paths() { # of the file table
	assert_eq 1 "$(row table calls main)" main
	assert_eq 3 "$(row table calls alpha)" alpha
	assert_eq 6 "$(row table calls left)" left
	assert_eq 7 "$(row table calls goal)" goal
	assert_eq 6 "$(row table calls delta)" delta
	for function in under other right beta; do
		assert_eq '' "$(row table calls $function)" $function
	done
}

total() { # TABLE: of all
	sed -n 's/^# total \([0-9]*\) ns.*/\1/p' "$1"
}

it 'the profile says what is to be shown'
for mode in profile trace; do
	rm -f profile
	"$RUN" -q -m $mode --caller goal -o profile "$TARGETS/paths"
	dump_table profile
	assert_paths
	"$DUMP" -q -f text --caller '*' profile >whole
	assert_eq 19 "$(row whole calls other)" 'with all'
	assert_eq "$(total whole)" "$(total table)" total
	assert_eq goal "$(info_value profile caller)"
done

it 'samples'
rm -f profile*
"$RUN" -q -m both -C goal -o profile "$TARGETS/paths" 3000
"$DUMP" -q -f folded profile.samples >folded
assert_matches folded ';goal '
grep -E ';(under|other|right|beta)[; ]' folded >others
assert_empty others
"$DUMP" -q -f text profile.samples >table
assert_matches table "^# not shown: [1-9][0-9]* samples, whose time is their callers'\$"
"$DUMP" -q -f text -C '*' profile.samples >whole
assert_eq "$(total whole)" "$(total table)" total
assert_eq "$(awk '/^ *[0-9]/ { n += $1 } END { print n }' whole)" \
	"$(awk '/^ *[0-9]/ { n += $1 } END { print n }' table)" samples

it 'a process that runs already, whatever it was started with'
SWIZZLE_CALLER=beta "$TARGETS/paths" 10000000 &
program=$!
"$RUN" -q -m sample -C goal -o profile -p $program --for 1s
"$RUN" -q -m sample -o other -p $program --for 300ms
kill $program
wait $program 2>/dev/null
"$DUMP" -q -f info profile | grep caller >info
assert_eq 'caller: goal' "$(cat info)"
"$DUMP" -q -f folded profile >folded
assert_matches folded ';goal '
"$DUMP" -q -f info other >info
assert_not_contains info 'caller:'

it 'no function'
capture "$RUN" --caller '' "$TARGETS/paths"
assert_refused 2 'the pattern is empty'

finish
