# shellcheck shell=bash
# What a start finds out that serves the next one too: what the hooks cost, where
# the dynamic linker is changed. What is old, damaged or of another machine, mode
# or build is found out anew.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
need_targets shape late liblate.so
shape=$TARGETS/shape

export XDG_CACHE_HOME=$TMP/cache
mkdir "$XDG_CACHE_HOME"
gcc -D_GNU_SOURCE -I"$TOP/src" -I"$TOP/include" -I"$TOP" -o forge \
	"$TOP/tests/e2e/forge_start_record.c" "$TOP/src/image/cursor.c" ||
	abort 'forge_start_record is not built'
"$shape" >native

run() { # [OPTION...]
	rm -f profile
	"$RUN" -o profile "$@" "$shape" >out 2>err
	assert_eq 0 $? 'status'
	assert_same native out
	assert_empty err
	assert_shape profile '1 3 6 34 4 8 8'
	costs=$("$DUMP" -f raw profile | awk '
		/^  cost_(inside|outside) / { print $2 }' | xargs)
}

facts() {
	find "$XDG_CACHE_HOME/swizzle" -name 'start-*'
}

# No two starts measure just this.
forged='7777 5555'
forge() { # MEMBER VALUE...
	cp whole "$file"
	forge_again "$@"
}

forge_again() { # MEMBER VALUE...: what the latest start has left
	members=("$@")
	./forge "$file" inside 7777 outside 5555 ago 1 confirmed 1 "$@" ||
		fail 'not forged'
}

# Where the machine is half as fast as it was, or twice, a start measures anew, and rightly:
# on a host that others use, too, that comes and goes. So there are ten tries.
assert_used() { # WHAT
	local _
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		run
		[ "$forged" != "$costs" ] || return 0
		forge_again "${members[@]}"
	done
	fail "costs, $1: expected '$forged', got '$costs'"
}

assert_next_is_same() { # WHAT
	local _ kept
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		# (where they were not confirmed, not for long)
		./forge "$file" confirmed 1 ago 1 || fail 'not as the tests know it'
		cp "$file" whole.now
		kept=$costs
		run
		[ "$kept" != "$costs" ] || return 0
	done
	fail "costs of the next start$1: expected '$kept', got '$costs'"
}

assert_not_used() { # WHAT
	run
	[ "$forged" != "$costs" ] || fail "used: $1"
	assert_eq 600 "$(stat -c %a "$file")" "mode of the file, $1"
	cp "$file" new
	./forge new whole 0 || fail "no whole file in its place: $1"
	assert_same "$file" new
	assert_next_is_same ": $1"
}

it 'the next start has the same costs'
run
file=$(facts)
assert_eq 1 "$(facts | wc -l)" files
assert_next_is_same ''
assert_same whole.now "$file"
cp "$file" whole
forge whole 0
assert_used 'as they are'

it 'but not with --no-cache, which leaves them alone'
cp "$file" before
run --no-cache
[ "$forged" != "$costs" ] || fail 'used'
assert_same before "$file"
if have '(nor looks for any)' strace; then
	capture timeout 240 strace -f -q -o log "$RUN" --no-cache -o profile \
		"$shape"
	if grep -q "$TMP/profile" log; then
		! grep -e "$XDG_CACHE_HOME" log || fail 'it does'
	else
		echo 'not tested: strace cannot trace here'
	fi
fi

it 'each choice of hooks has its own'
for options in '-m profile' '-m count' --timing=sampled --mode=trace '-F main'; do
	# shellcheck disable=SC2086
	SWIZZLE_TIMING='' SWIZZLE_MODE='' \
		"$RUN" -o profile $options "$shape" >out 2>err
done
assert_eq 5 "$(facts | wc -l)" files
assert_used 'after these'

it 'costs are as old as they may be'
forge ago 50
assert_used '50 s'
forge ago 61
assert_not_used '61 s'
forge ago -5
assert_not_used 'in the future'
forge ago 1 confirmed 0
assert_used 'not confirmed, 1 s'
forge ago 3 confirmed 0
assert_not_used 'not confirmed, 3 s'

it 'what cannot be a cost is none'
forge outside $((1 << 40))
assert_not_used 'too large'

it 'costs of a machine that was much faster, or slower (valgrind is one)'
forge slower 20
assert_not_used 'slower'
forge faster 20
assert_not_used 'faster'

it 'facts of others'
forge boot 1
assert_not_used 'another boot'
forge magic x
assert_not_used 'another kind of file'
forge ours 1
assert_not_used 'another build'
forge linker 1
assert_not_used 'another linker'
forge hooks 1
assert_not_used 'other hooks'

it 'more modules than there is room for'
forge other_count 13
assert_not_used 'too many'

if have 'libc is looked into once, and again when it has changed' strace; then
	libc=$(ldd "$shape" | awk '/libc\.so/ { print $3 }')
	[ -n "$libc" ] || fail 'no libc'
	assert_opens() { # TIMES WHAT
		strace -f -q -e trace=open,openat -o log "$RUN" -o profile \
			"$shape" >out 2>&1
		[ -s profile ] || fail "not profiled, $2"
		# swizzle-run is a program that has libc, too
		assert_eq "$1" "$(grep -c "\"$libc\"" log)" "libc opened, $2"
	}
	forge whole 0
	if strace -f -q -o log "$RUN" -o profile "$shape" >out 2>&1 &&
		grep -q "$TMP/profile" log; then
		assert_opens 2 'as noted'
		forge others 1
		assert_opens 3 'changed'
		assert_opens 2 'noted anew'
		rm -f "$file"
		assert_opens 3 'nothing noted'
	else
		echo 'not tested: strace cannot trace here'
	fi
fi

it 'what asks for a wrapper is known from there, too'
forge whole 0
"$RUN" -o profile sh -c 'exec true' >out 2>err
assert_eq 0 $? 'status'
"$RUN" -o profile sh -c 'ulimit -v 4000000; ulimit -v' >out 2>err
assert_eq 4000000 "$(cat out)" 'limit, as the program reads it'

it 'damaged ones'
for at in 0 8 16 100 400 450 500; do
	forge whole 0
	byte=$(od -An -tu1 -j$at -N1 "$file")
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $((byte ^ 0x5a)))" |
		dd of="$file" bs=1 seek=$at conv=notrunc status=none
	assert_not_used "byte $at"
done
size=$(stat -c %s whole)
for length in 0 1 $((size - 1)); do
	forge whole 0
	truncate -s $length "$file"
	assert_not_used "$length bytes"
done
forge whole 0
echo >>"$file"
assert_not_used 'a byte more'
forge whole 0
chmod g+w "$file"
assert_not_used 'writable by others'
mv whole elsewhere
cp elsewhere whole
forge whole 0
mv "$file" elsewhere
ln -s "$TMP/elsewhere" "$file"
assert_not_used 'a symbolic link'

assert_late() {
	assert_calls profile late_constructor 1 late_made 3 late_entry 1 \
		late_leaf 11 late_destructor 1
}

it "calls of the linker that are none: libraries that come later are hooked"
"$TARGETS/late" once >native.late
for what in 'whole 0' 'count 0' 'count 17' 'count 4000000000' 'farther 1' 'call 0' \
	'call 4294967295'; do
	# shellcheck disable=SC2086
	forge $what
	"$RUN" -o profile "$TARGETS/late" once >out 2>err
	assert_eq 0 $? "status, $what"
	assert_same native.late out
	assert_empty err
	assert_late
done

if have 'what a debugger hides in the linker is not for others' gdb readelf; then
	./forge whole >calls
	assert_matches calls '^0x'
	linker=$(readelf -lW "$shape" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	entry=$(readelf -hW "$linker" | awk '/Entry point/ { print $NF }')
	# all calls but one, such that the program comes to one that is hidden
	for left in $(seq "$(wc -l <calls)"); do
		{
			cat <<-END
				set startup-with-shell off
				set environment LD_PRELOAD $LIBSWIZZLE
				set environment SWIZZLE_OUTPUT $TMP/debugged
				starti
				set \$entry = \$pc
			END
			sed "${left}d; s/^/break *(\$entry - $entry + /; s/$/)/" calls
			sed 's/.*/continue 1000/' calls
		} >commands
		rm -f "$file"
		timeout 240 "${GDB[@]}" -x commands "$shape" >out 2>&1 </dev/null
		! grep -q 'Breakpoint [0-9]*, ' out || break
	done
	assert_matches out 'Breakpoint [0-9]*, '
	[ -e "$file" ] || fail 'it has kept nothing'
	"$RUN" -o profile "$TARGETS/late" once >out 2>err
	assert_same native.late out
	assert_empty err
	assert_late
	./forge "$file" >calls.now
	assert_same calls calls.now
fi

finish
