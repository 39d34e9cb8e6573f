# shellcheck shell=bash
# What processes call themselves (setproctitle) is their command line in all
# formats, and what they are among those of their program their name.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets title

title() { # HOW
	rm -rf dir
	"$RUN" "${options[@]}" -o dir/ "$TARGETS/title" "$1" secret \
		and-room-for-a-title >out 2>err
	assert_eq 0 $? "status, $1"
	"$DUMP" -q --by process dir >by
	assert_eq 1 "$(grep -v '^#' by | grep -c " $TARGETS/title $1 secret")" \
		"parent's, $1"
}

options=()
it 'a title in place of the arguments'
title same
assert_matches by '  title --type=short$'
assert_matches by '^# 2 profiles'

it 'a title that goes on in the environment'
title longer
assert_matches by '  title --type=longer -*$'

it 'arguments that were made unreadable'
title edited
assert_matches by "  $TARGETS/title edited xxxxxx and-room-for-a-title\$"

it 'the name of a process is its type'
options=(-m trace)
title same
"$DUMP" -q -f chrome -o chrome dir
assert_matches chrome '"name":"process_name".*"name":"title short"'
assert_matches chrome '"name":"process_name".*"name":"title"[^ ]'
"$DUMP" -q -f perfetto -o perfetto dir
grep -aq 'title short' perfetto || fail 'not its name in perfetto'
for file in dir/*; do
	"$DUMP" -q -f raw "$file"
done >raw
assert_matches raw 'TITLE'
assert_matches raw 'title --type=short'
it 'or the last word of the command, as Firefox has it'
"$RUN" -m trace -o content "$TARGETS/title" same -contentproc 3 tab >out 2>err
"$DUMP" -q -f chrome -o chrome content
assert_matches chrome '"name":"process_name".*"name":"title tab"'

finish
