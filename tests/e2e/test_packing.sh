# shellcheck shell=bash
# After a run profiles with many contexts are packed, those of killed processes,
# too. Nothing else changes in them.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets contexts fib
CONTEXTS=131072 # that the program makes, or some more

is_packed() { # PROFILE
	"$DUMP" -f raw "$1" 2>/dev/null | grep -q '^chunk at .*: PACKED_NODES '
}

blocks() { # FILE: what it takes on the disk, in KiB
	du -k "$1" | cut -f 1
}

# What does not depend on the clock.
shape() { # PROFILE
	"$DUMP" -q -f text "$1" >table
	awk '!/^#/ { print $1, $4, $5, $6 }' table | sort
	info_value "$1" contexts
}

packs() { # OPTION...: runs the program with the line at its end, and so packing
	SWIZZLE_SUMMARY=1 "$RUN" "$@" "$TARGETS/contexts" >/dev/null 2>"$TMP/said"
}

it 'a profile is packed once its process has ended'
# without the line at the end there is nobody who does it
"$RUN" -o plain "$TARGETS/contexts" >/dev/null
packs -o packed
wait_until is_packed packed || abort 'it is not'
shape plain >expected
shape packed >got
assert_same expected got
assert_ge "$(tail -n 1 got)" $CONTEXTS contexts
is_packed plain && fail 'it is packed though nobody was to do it'
assert_le "$(($(blocks packed) * 3))" "$(blocks plain)" 'a third of the blocks'
"$DUMP" -f raw packed >raw || fail 'problems in it'
assert_not_contains raw '!'
assert_eq 1 "$(grep -c '^swizzle: ' said)" 'lines'

it 'where standard error is a pipe, too, and nothing but the profile is left'
mkdir piped
SWIZZLE_SUMMARY=1 "$RUN" -o piped/p "$TARGETS/contexts" 2>&1 | cat >out
wait_until is_packed piped/p || fail 'it is not'
assert_eq p "$(ls -A piped)"

it 'rights and times stay'
"$RUN" -o rights "$TARGETS/contexts" >/dev/null
assert_eq "$(stat -c %a rights)" "$(stat -c %a packed)" rights
assert_le "$(stat -c %Y packed)" "$(stat -c %Y piped/p)" 'time of the last change'

it 'of a process that was killed'
SWIZZLE_SUMMARY=1 "$RUN" -o killed "$TARGETS/contexts" wait >/dev/null 2>err &
program=$!
has_contexts() {
	[ "$("$DUMP" -q -f info killed 2>/dev/null | sed -n 's/^contexts: *//p')" -ge $CONTEXTS ]
} 2>/dev/null
wait_until has_contexts || fail 'it has not run'
kill -9 $program
wait $program 2>/dev/null
wait_until is_packed killed || fail 'it is not packed'
assert_matches <("$DUMP" -f info killed) '^end: by _exit, exec or a signal$'
calls=$(calls_of plain level_16)
assert_calls killed level_16 "$calls" level_15 $((calls / 2))

it 'what reads and writes packed profiles gives the same'
"$DUMP" -q -f archive -o archive packed
"$DUMP" -q -f text packed >want
"$DUMP" -q -f text archive >got
assert_same want got
cp packed embedded
"$DUMP" --embed embedded
"$DUMP" -q -f text embedded >got
assert_same want got
"$DUMP" --merge-into sum packed
assert_calls sum level_16 "$calls"

it 'a run that replaces the profile of the one before is never lost'
for _ in 1 2 3; do
	packs -o again
done
wait_until is_packed again || fail 'it is not packed'
assert_eq again "$(echo again*)"
assert_calls again level_16 "$calls"
last=$(info_value again pid)
packs -o again
[ "$(info_value again pid)" != "$last" ] || fail 'it is the older one'

it 'who looks at an older profile is in nobody'"'"'s way, a writer is'
flock again sh -c 'echo locked; exec sleep 0.03' >held &
wait_until grep -q locked held
"$RUN" -q -o again "$TARGETS/fib" >/dev/null
assert_eq again "$(echo again*)"
wait
"$RUN" -q -o again sleep 5 &
program=$!
wait_until sh -c '"$0" -q -f info again 2>/dev/null | grep -q "^command: sleep"' "$DUMP"
"$RUN" -q -o again "$TARGETS/fib" >/dev/null
assert_eq 2 "$(echo again* | wc -w)" profiles
kill $program
wait

it 'a small profile stays as it is'
SWIZZLE_SUMMARY=1 "$RUN" -o small "$TARGETS/fib" >/dev/null 2>err
before=$(stat -c %i small)
sleep 0.5
assert_eq "$before" "$(stat -c %i small)" inode

finish
