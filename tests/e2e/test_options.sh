# shellcheck shell=bash
# The options of swizzle-run that are no filters (those: test_filters.sh).
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets shape contexts fib processes room

it '--list shows what would be patched, and does not run the program'
capture "$RUN" --list "$TARGETS/shape"
assert_status 0
assert_matches out '/shape +[0-9]+ +[0-9]+ +[0-9]+$'
assert_matches out '/libpart\.so +[0-9]+ +[0-9]+ +[0-9]+$'
assert_not_contains out "$("$TARGETS/shape")"
assert_empty err
assert_missing "$(echo swizzle.out.*)"
capture "$RUN" --list -v "$TARGETS/shape"
assert_status 0
for name in $SHAPE_NAMES; do
	assert_matches out "patched +$name\$"
done
# Each heading begins where its column does.
assert_eq 1 "$(grep -c '^    address ' out)" 'headings of functions'
assert_eq 2 "$(grep -n '^    address ' out | cut -d: -f1)" 'line of the heading'
awk '/^    address/ { size = index($0, "size"); result = index($0, "result")
		name = index($0, "name"); next }
	/^    [0-9a-f]+ +[0-9]+ +patched +alpha$/ {
		if (substr($0, size) ~ /^[0-9]/ && substr($0, result) ~ /^patched/ &&
				substr($0, name) == "alpha")
			found++
	} END { exit found != 1 }' out || fail 'columns are not below their headings'
long=$(head -c 3000 /dev/zero | tr '\0' n)
echo "void $long(void) {} int main(void) { $long(); }" | gcc -o long -x c - ||
	abort 'not built'
capture "$RUN" --list -v -M long ./long
assert_status 0
assert_matches out "^    [0-9a-f]+ .* patched +$long\$"
capture "$RUN" --list -v -M 'libpart*' "$TARGETS/shape"
assert_matches out 'patched +part_work$'
assert_not_contains out 'alpha'
awk '/^\// && $2 != $3 + $4 + $5' out >bad
assert_empty bad
"$RUN" --list "$TARGETS/shape" >/dev/full 2>err
assert_eq 1 $? 'status where the list cannot be written'
assert_contains err 'swizzle: standard output'
"$RUN" --list "$TARGETS/shape" >&- 2>err
assert_eq 1 $? 'status where standard output is closed'

it '-v names the profile, -q says nothing'
capture "$RUN" -v -o profile "$TARGETS/shape"
assert_status 0
assert_matches err '^swizzle: [0-9]+ of [0-9]+ functions hooked; profile .*/profile$'
capture "$RUN" -q -o profile "$TARGETS/shape"
assert_empty err
capture "$RUN" -q -M '!*' -o profile "$TARGETS/shape"
assert_empty err

it '-o FILE: a second run takes its place'
rm -f profile
"$RUN" -o profile "$TARGETS/fib" >/dev/null
"$RUN" -o profile "$TARGETS/shape" >/dev/null
assert_calls profile alpha 3 fib 0
assert_eq profile "$(echo profile*)" 'files'
assert_eq 600 "$(stat -c %a profile)" 'mode'

it '-o FILE with %p, and DIR/'
"$RUN" -o 'run-%p.prof' "$TARGETS/shape" >/dev/null &
wait $!
assert_exists run-$!.prof
"$RUN" -o new/place/ "$TARGETS/shape" >/dev/null &
wait $!
assert_exists new/place/swizzle.out.$!
mkdir plain
cd plain || exit 1
"$RUN" "$TARGETS/shape" >/dev/null &
wait $!
assert_exists swizzle.out.$!
capture "$DUMP" -f text
assert_status 0
cp "$TMP/out" "$TMP/newest"
assert_eq 34 "$(row "$TMP/newest" calls gamma_)" 'the newest here is taken'
cd ..

it 'a directory that has %p in its name'
mkdir '100%pure' && cd '100%pure' || exit 1
capture "$RUN" -o profile "$TARGETS/shape"
assert_empty "$TMP/err"
assert_calls profile alpha 3
capture "$RUN" -o 'a%p/' "$TARGETS/shape"
assert_empty "$TMP/err"
assert_eq 1 "$(compgen -G 'a%p/swizzle.out.[0-9]*' | wc -l)" files
cd ..

it 'writes through no symbolic link'
echo precious >victim
ln -s victim link
ln -s nowhere dangling
for name in link dangling; do
	capture "$RUN" -o $name "$TARGETS/shape"
	assert_status 0
	assert_eq "$("$TARGETS/shape")" "$(cat out)"
done
assert_eq precious "$(cat victim)"
assert_missing nowhere

it 'replaces profiles and empty files only'
capture "$RUN" -o victim "$TARGETS/shape"
assert_status 0
assert_contains err 'victim is not a profile and is left alone'
assert_eq precious "$(cat victim)"
assert_calls "$(compgen -G 'victim.[0-9]*')" alpha 3
: >one
for _ in 'an empty file' 'a profile'; do
	capture "$RUN" -o one "$TARGETS/shape"
	assert_empty err
	assert_calls one alpha 3
done
"$DUMP" -q -f archive -o one one
capture "$RUN" -o one "$TARGETS/shape"
assert_empty err
assert_eq 1 "$(compgen -G 'one*' | wc -l)" files

it 'plain LD_PRELOAD with variables'
SWIZZLE_OUTPUT=$TMP/env.%p SWIZZLE_FILTER=alpha LD_PRELOAD=$LIBSWIZZLE \
	"$TARGETS/shape" >out 2>err &
wait $!
assert_empty err
assert_shape env.$! '0 3 6 30 0 0 0'
SWIZZLE_OUTPUT=env.two SWIZZLE_HIDE=beta SWIZZLE_DEPTH=9 SWIZZLE_VERBOSE=1 \
	SWIZZLE_MODULE=$'lib*\nshape' LD_PRELOAD=$LIBSWIZZLE \
	"$TARGETS/shape" >out 2>err &
wait $!
assert_matches err '^swizzle: .* functions hooked'
assert_shape env.two.$! '1 3 0 34 4 8 8'
SWIZZLE_OUTPUT=env.three SWIZZLE_DEPTH=many LD_PRELOAD=$LIBSWIZZLE \
	"$TARGETS/shape" >out 2>err
assert_eq "$("$TARGETS/shape")" "$(cat out)"
assert_matches err '^swizzle: SWIZZLE_DEPTH'
assert_missing env.three
SWIZZLE_OUTPUT=d/ SWIZZLE_FOLLOW=0 LD_PRELOAD=$LIBSWIZZLE \
	"$TARGETS/processes" system >/dev/null 2>err
assert_empty err
assert_eq 1 "$(ls d | wc -l)" 'files with SWIZZLE_FOLLOW=0'

unprofiled() { # TEXT COMMAND...: runs as it would, with one line from us
	local text=$1
	shift
	capture "$@"
	assert_status 0
	assert_eq "$("$TARGETS/shape")" "$(cat out)" output
	assert_eq 1 "$(wc -l <err)" 'lines on stderr'
	assert_matches err "^swizzle: .*$text"
}

it 'sizes that do not fit in 64 bits, from the environment'
for size in 17179869185G 18014398509483008K; do
	unprofiled 'SWIZZLE_MAX_MEMORY' env SWIZZLE_OUTPUT="$TMP/large" \
		SWIZZLE_MAX_MEMORY="$size" LD_PRELOAD="$LIBSWIZZLE" \
		"$TARGETS/shape"
done

it 'a directory where nothing can be written'
unprofiled 'not profiled' env SWIZZLE_OUTPUT=/nowhere/at/all \
	LD_PRELOAD="$LIBSWIZZLE" "$TARGETS/shape"
mkdir readonly
chmod 555 readonly
by_user=()
[ "$(id -u)" -ne 0 ] || by_user=(setpriv --reuid 65534 --clear-groups)
if [ "$(id -u)" -ne 0 ] || { chmod 755 "$TMP" &&
	nobody_executes "$TMP" "$TARGETS/shape" "$RUN"; }; then
	unprofiled 'not profiled' ${by_user[@]+"${by_user[@]}"} env \
		LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT="$TMP/readonly/p" \
		"$TARGETS/shape"
	capture ${by_user[@]+"${by_user[@]}"} "$RUN" -o "$TMP/readonly/p" \
		"$TARGETS/shape"
	assert_refused 126 'readonly/: Permission denied'
fi

it 'a limit on the size of files'
unprofiled 'no room' bash -c 'ulimit -f 8; exec "$@"' - \
	env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT="$TMP/limited" "$TARGETS/shape"
assert_missing limited
for limit in 64 100 200 500 1100; do
	capture bash -c 'ulimit -f '$limit'; exec "$@"' - \
		"$RUN" -o limited "$TARGETS/contexts"
	assert_status 0
	assert_eq "$("$TARGETS/contexts")" "$(cat out)"
	assert_converts limited
	assert_le "$(stat -c %s limited)" $((limit * 1024)) 'size'
done

it 'what stderr does not take of our lines is no signal to the program'
"$TARGETS/shape" >native.out
(ulimit -f 0 && exec env LD_PRELOAD="$LIBSWIZZLE" \
	SWIZZLE_OUTPUT="$TMP/limited" "$TARGETS/shape" 2>full) | cat >out
assert_eq 0 "${PIPESTATUS[0]}" 'status with a file that may not grow'
assert_same native.out out
mkfifo unread
exec 3<>unread 4>unread 3<&-
"$RUN" -v -o unheard "$TARGETS/shape" >out 2>&4
assert_eq 0 $? 'status with a pipe that nobody reads'
exec 4>&-
assert_same native.out out

it 'a limit on the address space'
capture bash -c 'ulimit -v 300000; exec "$@"' - "$RUN" -o limited "$TARGETS/shape"
assert_status 0
assert_eq "$("$TARGETS/shape")" "$(cat out)" output

# A part of ours may fit, or so much that nothing is left for the program: then
# it is not profiled, and what has been mapped is given back, but for the arena,
# which is a part of the library.
it 'a limit on the address space that is too low for ours and the program'\''s'
for limit in 600 700 750 800 850 900 1000 1200 1400; do
	rm -f limited
	capture bash -c "ulimit -v $((limit << 10)); exec \"\$@\"" - \
		"$RUN" -o limited "$TARGETS/room"
	assert_status 0
	assert_matches err '(not profiled|cannot be preloaded)'
	assert_le $((limit - 512 - 32)) "$(cat out)" "MiB of $limit"
	assert_missing limited
done
for limit in 2000 4000; do
	capture bash -c "ulimit -v $((limit << 10)); exec \"\$@\"" - \
		"$RUN" -o limited "$TARGETS/room"
	assert_status 0
	assert_empty err
	assert_le $((limit / 2)) "$(cat out)" "MiB of $limit"
	assert_calls limited main 1
done
capture bash -c 'ulimit -d 50000; exec "$@"' - "$RUN" -o data "$TARGETS/shape"
assert_status 0
assert_matches err 'not profiled'
assert_eq "$("$TARGETS/shape")" "$(cat out)" output
assert_missing data

it 'a memory bound: contexts fold, counts stay exact'
RUN_OPTIONS=(--max-memory 1M)
assert_same_as_native "$TARGETS/contexts"
RUN_OPTIONS=()
for n in 0 4 8 12 15 16; do
	assert_eq $((1 << n)) "$(calls_of profile level_$n)" "calls of level_$n"
done
assert_converts profile
assert_le "$(stat -c %s profile)" $((1 << 20)) 'size'
"$DUMP" -f info profile >info 2>/dev/null
assert_matches info '^flags:.*folded'
assert_matches info '^lost calls: 0$'
"$RUN" -o profile "$TARGETS/contexts" >/dev/null
assert_complete profile
assert_not_contains info 'flags: folded'
assert_calls profile level_0 1 level_8 256 level_15 32768 level_16 65536
# a context per path through the 17 levels, and those of what starts and ends it
contexts=$(info_value profile contexts)
assert_le 131071 "$contexts" 'contexts'
assert_le "$contexts" $((131071 + 64)) 'contexts'

it 'a full disk'
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=256k none small 2>/dev/null; then
	capture "$RUN" -o small/profile "$TARGETS/contexts"
	assert_status 0
	assert_eq "$("$TARGETS/contexts")" "$(cat out)" output
	assert_converts small/profile
	assert_eq 1 "$(calls_of small/profile level_0)" 'calls of level_0'
	dd if=/dev/zero of=small/full bs=4k count=64 2>/dev/null
	rm -f small/profile
	dd if=/dev/zero of=small/full bs=4k count=64 2>/dev/null
	unprofiled 'no room|cannot create' env LD_PRELOAD="$LIBSWIZZLE" \
		SWIZZLE_OUTPUT="$TMP/small/profile" "$TARGETS/shape"
	umount small
else
	echo 'not tested: a full disk, no such mount'
fi

# Where a huge page (2 MiB of the file) does not find its place, what is left is
# for small ones.
truncate -s 4M image
if ! have 'a disk with less room than a huge page' mkfs.ext4; then
	:
elif ! mkfs.ext4 -q image || ! mount -o loop image small 2>/dev/null; then
	echo 'not tested: a disk with less room than a huge page, no such mount'
else
	free=$(stat -f -c '%a * %S' small)
	head -c $((free - 1500000)) /dev/zero >small/full
	capture "$RUN" -o small/profile "$TARGETS/contexts"
	assert_status 0
	assert_eq "$("$TARGETS/contexts")" "$(cat out)" output
	assert_converts small/profile
	assert_ge "$(info_value small/profile contexts)" 10000 'contexts'
	umount small
fi

finish
