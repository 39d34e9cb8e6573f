# shellcheck shell=bash
# gdb attaches to a profiled program, sees the frames that it would see, stops
# in functions whose first bytes are ours, and finishes them.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gdb
need_targets debugged

# Runs the program, attaches, and gives gdb the commands in the file `commands`.
# What gdb says is in SAID, what the program printed in `out`.
attach() { # SAID COMMAND...
	local said=$1 pid
	shift
	: >out # not what another run has said
	"$@" >out 2>err &
	pid=$!
	# swizzle-run becomes the program
	wait_until grep -q started out
	timeout 240 "${GDB[@]}" -p $pid -ex 'set pagination off' \
		-ex 'set confirm off' -x commands >"$said" 2>&1
	if grep -q 'Operation not permitted' "$said"; then
		kill $pid
		skip 'gdb may not attach here'
	fi
	wait $pid
	# shellcheck disable=SC2034 # for assert_status
	status=$?
}

# The functions of a backtrace, without our frames. Optimized code may lose an
# argument's value in an outer frame where a thunk's is between.
frames() { # FILE
	sed -nE -e '/swz_arena_start/d' \
		-e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ ]+) .*( at .*)?$/\2/p' "$1"
}

assert_same_frames() { # FILE FILE
	frames "$1" >native.frames
	frames "$2" >our.frames
	[ -s native.frames ] || fail "no frames in $1: $(excerpt "$1")"
	cmp -s native.frames our.frames || fail "other frames:
$(diff native.frames our.frames | sed 's/^/    | /')
gdb said:
$(sed 's/^/    | /' "$2")"
}

both() { # MODE
	attach native.said "$TARGETS/debugged" "$1"
	assert_status 5
	cp out native.out
	rm -f profile
	attach our.said "$RUN" -o profile "$TARGETS/debugged" "$1"
	assert_status 5
	assert_same native.out out
	assert_readable profile
}

it 'shows the native frames of all threads, and moves among them'
cat >commands <<'END'
break pause_here
continue
delete
thread apply all -q bt
up
frame function inner
print n
info locals
frame function run
print wrong
set var enough = 1
detach
END
both waiting
assert_same_frames native.said our.said
for name in inner middle outer run start_thread main; do
	assert_eq yes "$(grep -qx $name our.frames && echo yes)" "frame of $name"
done
assert_contains native.said '$1 = 12'
assert_contains our.said '$1 = 12'
assert_contains our.said '$2 = 0'

it 'finishes functions, from their first byte and from within'
cat >commands <<'END'
tbreak *twice
continue
finish
tbreak twice
continue
finish
tbreak *outer
continue
finish
tbreak pause_here
continue
up
finish
set var enough = 1
detach
END
both waiting
values() {
	sed -n 's/^Value returned is \$[0-9]* = //p' "$1" | xargs
}
# outer(10) calls middle(11), inner(12), twice(12)
assert_eq '24 24 27 24' "$(values native.said)" 'values that gdb shows natively'
assert_eq '24 24 27 24' "$(values our.said)" 'values that gdb shows'

it 'stops at a breakpoint each time, counted by gdb'
cat >commands <<'END'
break middle
ignore 1 25
continue
info breakpoints
delete
set var enough = 1
detach
END
both waiting
assert_contains native.said 'already hit 26 times'
assert_contains our.said 'already hit 26 times'

it 'steps into a hooked function, through our code'
cat >commands <<'END'
tbreak *outer
continue
tbreak *inner
continue
bt
delete
set var enough = 1
detach
END
both waiting
assert_same_frames native.said our.said

finish
