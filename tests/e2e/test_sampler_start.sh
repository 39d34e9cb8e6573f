# shellcheck shell=bash
# -m sample, by pauses: the sampler takes neither itself nor what has started it for
# a child of the program, however slow its start is.
. "${BASH_SOURCE%/*}/lib.sh"
need cc
unset SWIZZLE_MODE

# Its own processes, the one between the program and the sampler, which is a child
# of the program's while it lives, are slow to end.
program slow.c >slow.c
cc -shared -fPIC -o slow.so slow.c -ldl || abort 'cannot compile'

it 'the process between the two is slow to end'
capture timeout 60 env LD_PRELOAD="$TMP/slow.so" "$RUN" -q -m sample --engine pause \
	-o 'profile.%p' sleep 1
assert_status 0
assert_empty err
# it ends when the program has ended
profiles=(profile.*)
assert_eq 1 ${#profiles[@]} "profiles: ${profiles[*]}"
"$DUMP" -f info "${profiles[0]}" >info
assert_matches info '^command: sleep 1$'
root=$(sed -n 's/^pid: *//p' info)
is_over() {
	! pgrep -f "^swizzle-run: samples $root\$" >/dev/null
}
wait_until is_over || fail 'the sampler does not end'

it 'the sampler is below the process that it samples'
# shellcheck disable=SC2016 # that shell expands it
capture timeout 60 sh -c '"$0" -q -m sample --engine pause --for 500ms -o "below.%p" -p $$ &&
	echo $$' "$RUN"
assert_status 0
assert_empty err
assert_eq "below.$(cat out)" "$(echo below.*)" profiles

finish
