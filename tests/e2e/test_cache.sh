# shellcheck shell=bash
# The plan cache: a start that finds plans comes to what one comes to that makes
# them; what is damaged, of another module or of another version is not used.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
need_targets shape late short patching exceptions unwind confined registers \
	longjmp liblate.so
shape=$TARGETS/shape

export XDG_CACHE_HOME=$TMP/cache
plans=$TMP/cache/swizzle
mkdir "$XDG_CACHE_HOME"

# Runs a program with its profile in `profile`; sets $found and $stored to what
# -v says of the cache ("none": it is off).
run() { # PROGRAM [ARG...]
	rm -f profile
	"$RUN" -v -o profile ${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} -- "$@" \
		>out 2>messages </dev/null
	status=$?
	grep -v '^swizzle: ' messages >err
	found=none stored=none
	read -r found stored <<<"$(sed -n \
		's/^swizzle: plan cache: \([0-9]*\) modules\{0,1\} found, \([0-9]*\) stored$/\1 \2/p' \
		messages)"
	found=${found:-none} stored=${stored:-none}
}

# What the last run has recorded, without what differs from run to run: who called
# whom how often, and the modules.
recorded() {
	"$DUMP" -q -f info profile | sed -n '/^module /,$p'
	"$DUMP" -q -f text -n 100000 profile |
		awk '!/^#/ { print $1, $4, $5, $6, $7 }' | sort
	cat out err
	echo "status $status"
}

outcome() { # PROGRAM [ARG...]: that, and --list
	recorded
	"$RUN" ${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} --list -v -- "$@"
}

# Without a cache, with an empty one, with a full one.
assert_same_outcomes() { # PROGRAM [ARG...]
	rm -rf "$plans"
	RUN_OPTIONS+=(--no-cache)
	run "$@"
	outcome "$@" >without
	assert_missing "$plans"
	unset 'RUN_OPTIONS[-1]'
	run "$@"
	assert_eq 0 "$found" 'plans in the empty cache'
	assert_ge "$stored" 1 'plans stored'
	recorded >cold
	assert_same <(head -n "$(wc -l <cold)" without) cold
	last=$stored
	run "$@"
	assert_eq "$last 0" "$found $stored" 'plans found and stored'
	outcome "$@" >warm
	assert_same without warm
}

it 'programs: same output, same calls, same modules, same --list'
assert_same_outcomes "$shape"
assert_shape profile '1 3 6 34 4 8 8'
assert_same_outcomes "$TARGETS/short"
assert_same_outcomes "$TARGETS/patching"
assert_same_outcomes "$TARGETS/registers"
assert_same_outcomes "$TARGETS/longjmp" out
assert_same_outcomes "$TARGETS/exceptions" rethrow
assert_same_outcomes "$TARGETS/unwind" backtrace

it 'functions that are led to wrappers of ours, in modules in scope or not'
RUN_OPTIONS=(-M unwind)
assert_same_outcomes "$TARGETS/unwind" walk
RUN_OPTIONS=(-M 'libgcc_s*')
assert_same_outcomes "$TARGETS/unwind" walk
RUN_OPTIONS=(-M '*')
assert_same_outcomes "$shape"
RUN_OPTIONS=()
assert_same_outcomes "$TARGETS/confined" filter

it 'libc, planned for counting first: dlopen finds its caller nevertheless'
program opens.c >opens.c
mkdir -p beside
echo 'int plugin(void) { return 1; }' | gcc -shared -fPIC -o beside/libplugin.so -x c -
# shellcheck disable=SC2016 # the linker's own
gcc -O2 -o opens opens.c -Wl,--enable-new-dtags,-rpath,'$ORIGIN/beside'
for modes in 'count profile' 'both trace' 'profile count' 'trace both'; do
	rm -rf "$plans"
	for mode in $modes; do
		RUN_OPTIONS=(-m "$mode")
		run ./opens
		assert_eq found "$(cat out)" "$mode, of $modes"
	done
done
RUN_OPTIONS=()

it 'programs with an unwinder of their own'
program throws.cc >throws.cc
if g++ -O1 -static-libgcc -static-libstdc++ -o throws throws.cc &&
	strip -s -o throws_stripped throws; then
	for program in ./throws ./throws_stripped; do
		assert_same_outcomes "$program"
		# 0 to 29 have the sum 435, those that are thrown 135
		assert_eq $((435 - 135 + 20 - 135)) "$(cat out)" 'output'
	done
else
	echo 'no g++: not tried'
fi

it 'the same program wherever its modules are loaded'
run "$shape"
for i in 1 2 3 4 5 6 7 8; do
	run "$shape"
	assert_eq 0 "$stored" 'plans stored'
	assert_shape profile '1 3 6 34 4 8 8'
done
if setarch -R true 2>/dev/null; then
	rm -f profile
	setarch -R "$RUN" -o profile "$shape" >/dev/null
	assert_shape profile '1 3 6 34 4 8 8'
fi

it 'options: filters, what is recorded, and what tests ask for'
for options in '-H gamma_' '-Z 40' '-M libpart*' '-M !libpart*' '--imports' '--timing sampled' '-H * -H !delta' \
	'-F alpha -N gamma_ -H beta' '-L shape.c'; do
	read -ra RUN_OPTIONS <<<"$options"
	case $options in
	'-L shape.c') # is planned anew each time
		rm -rf "$plans"
		run "$shape"
		assert_eq '0 0' "$found $stored" "found and stored, $options"
		;;
	*) assert_same_outcomes "$shape" ;;
	esac
done
for tactic in padding neighbour; do
	RUN_OPTIONS=()
	export SWIZZLE_TEST_TACTIC=$tactic
	assert_same_outcomes "$TARGETS/short"
	unset SWIZZLE_TEST_TACTIC
done

it 'filters of functions use plans that were made without, or with others'
rm -rf "$plans"
RUN_OPTIONS=()
run "$shape"
kept=$stored
for options in '-F alpha' '-N beta' '-D 1' '-F !alpha'; do
	read -ra RUN_OPTIONS <<<"$options"
	run "$shape"
	assert_eq "$kept 0" "$found $stored" "found and stored, $options"
	outcome "$shape" >warm
	RUN_OPTIONS+=(--no-cache)
	run "$shape"
	outcome "$shape" >without
	assert_same without warm
done
RUN_OPTIONS=(-H gamma_) # changes what is patched
run "$shape"
assert_eq "0 $kept" "$found $stored" 'found and stored with another -H'
RUN_OPTIONS=(--timing sampled) # has to know which functions call nothing
run "$shape"
assert_eq "0 $kept" "$found $stored" 'found and stored with --timing sampled'
RUN_OPTIONS=()

it '--no-cache and SWIZZLE_CACHE=0: nothing is read or written'
rm -rf "$plans"
RUN_OPTIONS=(--no-cache)
run "$shape"
assert_eq 'none none' "$found $stored" 'found and stored'
RUN_OPTIONS=()
SWIZZLE_CACHE=0 run "$shape"
assert_eq 'none none' "$found $stored" 'found and stored'
assert_missing "$plans"

it 'libraries that are loaded later'
run "$TARGETS/late" once
cp out native
assert_not_contains messages 'by the plan cache'
run "$TARGETS/late" once
assert_same native out
assert_matches messages 'functions hooked in .*/liblate\.so, by the plan cache$'
assert_complete profile
assert_calls profile late_constructor 1 late_made 3 late_entry 1 late_leaf 11 \
	late_destructor 1
run "$TARGETS/late" reload 100
assert_calls profile late_constructor 100 late_leaf 1100 late_destructor 100

# ------------------------------------------------------------------- damage

# The plan of the program's first module in scope.
own_plan() {
	local id
	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	echo "$plans/plan-$id"-*
}

# The damaged plan is left alone; the program and what is recorded are as ever;
# the next start finds a plan that is whole.
assert_replaced() { # WHAT
	run "$shape"
	assert_same native out
	assert_shape profile '1 3 6 34 4 8 8'
	assert_eq "$((kept - 1)) 1" "$found $stored" "found and stored, $1"
}

need readelf
rm -rf "$plans"
"$shape" >native
run "$shape"
kept=$stored
plan=$(own_plan "$shape")
assert_exists "$plan"
cp "$plan" whole
size=$(stat -c %s whole)

it 'a plan that is cut short'
for ((length = 0; length < size; length += length / 2 + 13)); do
	head -c $length whole >"$plan"
	assert_replaced "$length bytes"
done
head -c $((size - 1)) whole >"$plan"
assert_replaced 'one byte short'
{ cat whole && echo; } >"$plan"
assert_replaced 'one byte more'

it 'bytes that are others (each one: tests/unit/test_saved_plan.c)'
for ((at = 0; at < size; at += at < 64 ? 7 : size / 20)); do
	cp whole "$plan"
	printf '\x5a' | dd of="$plan" bs=1 seek=$at conv=notrunc status=none
	cmp -s whole "$plan" || assert_replaced "byte $at"
done

it 'another file, or none, in its place'
cp /bin/true "$plan"
assert_replaced 'a program'
head -c "$size" /dev/zero >"$plan"
assert_replaced 'zeros'
mv "$(own_plan "$TARGETS/libpart.so")" "$plan"
run "$shape"
assert_shape profile '1 3 6 34 4 8 8'
assert_eq "$((kept - 2)) 2" "$found $stored" "found and stored"
cp whole elsewhere
ln -sf "$TMP/elsewhere" "$plan"
assert_replaced 'a symbolic link'
assert_same whole elsewhere
rm "$plan"
mkfifo "$plan"
assert_replaced 'a pipe'
rm "$plan"
mkdir "$plan"
run "$shape"
assert_eq "$((kept - 1)) 0" "$found $stored" 'found and stored, a directory'
assert_shape profile '1 3 6 34 4 8 8'
rmdir "$plan"
run "$shape"
chmod g+w "$plan"
assert_replaced 'writable by others'
assert_eq 600 "$(stat -c %a "$plan")" 'mode'

# Whole plans that say something else.
gcc -D_GNU_SOURCE -I"$TOP/src" -I"$TOP/include" -I"$TOP" -o forge \
	"$TOP/tests/e2e/forge_plan.c" "$TOP/thunks/saved_plan.c" "$TOP/thunks/counting.c" \
	"$TOP/src/image/cursor.c" || abort 'forge_plan is not built'
members='key.ours version text_hash key.build_id key.inode key.ctime_ns key.mtime_ns
	key.file_bytes key.options key.flags key.texts'
declare -A offset # of members of struct swz_saved_header
{
	printf '#include <stddef.h>\n#include <stdio.h>\n#include "thunks/saved_plan.h"\n'
	echo '#define AT(x) printf("%s %zx\n", #x, offsetof(struct swz_saved_header, x));'
	echo 'int main(void) {'
	printf 'AT(%s)\n' facts $members
	echo '}'
} >offset.c
gcc -D_GNU_SOURCE -I"$TOP/src" -I"$TOP/include" -I"$TOP" -o offset offset.c ||
	abort 'offset is not built'
while read -r member at; do
	offset[$member]=$at
done < <(./offset)

it 'a plan by another build of us, of another version, of another text'
for member in $members; do
	cp whole "$plan"
	./forge "$plan" "${offset[$member]}" other || fail 'not forged'
	# (a plan of what the file has is one of a text that was not changed)
	[ $member != text_hash ] || ./forge "$plan" "${offset[facts]}" 0
	assert_replaced "$member"
done
it '(a plan that is forged to what it was is used)'
cp whole "$plan"
./forge "$plan" 0 53
run "$shape"
assert_eq "$kept 0" "$found $stored" 'found and stored'

it '(the plan just stored is known to be that of the file, if the kernel tells)'
if [ -r /proc/self/pagemap ]; then
	facts=$(od -An -tu4 -j $((16#${offset[facts]})) -N 4 "$plan")
	assert_eq 8 $((facts & 8)) 'SWZ_SAVED_OF_FILE'
fi

if have 'a text that a debugger has changed is planned by itself' gdb; then
	run "$shape"
	cat >commands <<-END
		set startup-with-shell off
		set environment LD_PRELOAD $LIBSWIZZLE
		set environment SWIZZLE_OUTPUT $TMP/debugged
		break *alpha
		run
		delete
		continue
	END
	timeout 240 "${GDB[@]}" -x commands "$shape" >out 2>&1 </dev/null
	mv debugged.* debugged
	assert_matches out 'Breakpoint 1, .*alpha'
	assert_calls debugged alpha 0 beta 6 gamma_ 34
	assert_replaced "the debugger's"
fi

# -------------------------------------------------------------------- stale

it 'a module that is another by now'
build() { # SUMMAND LETTER-OF-THE-BUILD-ID
	cat >part.c <<-END
		int more(int n) { return n + $1; }
	END
	gcc -O0 -shared -fPIC -o built.so \
		"-Wl,--build-id=0x$(printf "%040d" 0 | tr 0 "$2")" part.c
	cp built.so libchanged.so # the same file, with other contents
}
cat >user.c <<'END'
#include <stdio.h>
int more(int);
int main(void)
{
	int n = 0;
	for (int i = 0; i < 5; i++)
		n = more(n);
	printf("%d\n", n);
	return 0;
}
END
build 3 a
gcc -o user user.c -L. -lchanged -Wl,-rpath,"$PWD"
run ./user
run ./user
assert_eq 0 "$stored" 'stored'
assert_eq 15 "$(cat out)"
kept=$found
for change in '4 b' '5 a' '6 a'; do # built anew; and with the same id
	touch -r libchanged.so time
	# shellcheck disable=SC2086
	build $change
	touch -r time libchanged.so
	run ./user
	assert_eq "$((kept - 1)) 1" "$found $stored" 'found and stored'
	assert_eq $((5 * ${change% *})) "$(cat out)"
	assert_calls profile more 5
	run ./user
	assert_eq "$kept 0" "$found $stored" 'found and stored'
	assert_calls profile more 5
done

it 'a module that was changed behind a plan that tells by its times'
sleep 2.2
rm -rf "$plans"
run ./user
assert_eq "0 $kept" "$found $stored" 'found and stored'
touch -r libchanged.so time
build 7 a
touch -r time libchanged.so
run ./user
assert_eq "$((kept - 1)) 1" "$found $stored" 'found and stored'
assert_eq 35 "$(cat out)"

it 'a module without a build-id has no plan'
gcc -O0 -shared -fPIC -Wl,--build-id=none -o libchanged.so part.c
run ./user
run ./user
assert_eq "$((kept - 1)) 0" "$found $stored" 'found and stored'
assert_calls profile more 5

# ---------------------------------------------------------------- directory

it 'no directory, or one that is not ours alone: no cache, and no complaint'
assert_off() { # WHAT
	run "$shape"
	assert_eq 'none none' "$found $stored" "found and stored, $1"
	assert_empty err
	assert_shape profile '1 3 6 34 4 8 8'
}
XDG_CACHE_HOME=/proc assert_off 'a directory that cannot be written to'
XDG_CACHE_HOME=/dev/null assert_off 'no directory'
XDG_CACHE_HOME=$TMP/a/b assert_off 'two that are missing'
assert_missing a
mkdir -p open/swizzle
chmod 777 open/swizzle
XDG_CACHE_HOME=$TMP/open assert_off 'one that all may write to'
mkdir plain && : >plain/swizzle
XDG_CACHE_HOME=$TMP/plain assert_off 'a file'
XDG_CACHE_HOME=$TMP/$(printf '%01000d' 0) assert_off 'a name that is too long'
if [ "$(id -u)" = 0 ]; then
	mkdir -p foreign/swizzle
	chown 65534 foreign/swizzle
	XDG_CACHE_HOME=$TMP/foreign assert_off "another user's"
fi
XDG_CACHE_HOME=$TMP/made// run "$shape"
assert_eq "0 $kept" "$found $stored" 'found and stored, one that is missing'
assert_eq 700 "$(stat -c %a made)" 'mode'
assert_eq 700 "$(stat -c %a made/swizzle)" 'mode'
(
	failures=0
	unset XDG_CACHE_HOME
	if [ "$(id -u)" = 0 ]; then
		mkdir foreign/home
		chown 65534 foreign/home
		HOME=$TMP/foreign/home assert_off "another user's home"
		assert_missing foreign/home/.cache
		XDG_CACHE_HOME=$TMP/foreign/home/cache assert_off 'missing there'
		assert_missing foreign/home/cache
	fi
	unset HOME
	assert_off 'neither variable'
	export HOME=$TMP/nowhere
	assert_off 'no home'
	part=$(printf '%0200d' 0)
	long=$TMP/$part/$part/$part/$part/$part/$part
	mkdir -p "$long"
	[ -e /.cache ] || root_had_none=1
	HOME=$long assert_off 'a home with a name that is too long'
	[ -z "${root_had_none-}" ] || assert_missing /.cache
	mkdir home
	HOME=$TMP/home run "$shape"
	assert_eq "0 $kept" "$found $stored" 'found and stored, a new home'
	assert_eq 700 "$(stat -c %a home/.cache/swizzle)" 'mode'
	HOME=$TMP/home XDG_CACHE_HOME=relative run "$shape"
	assert_eq "$kept 0" "$found $stored" 'found and stored, not absolute'
	assert_missing relative
	[ $failures -eq 0 ]
) || fail 'without XDG_CACHE_HOME'

it 'a limit of the size of files is not a signal'
rm -rf "$plans"
# (swizzle-run would say that there can be no profile, and not run it)
(ulimit -f 4 && exec env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_QUIET=1 "$shape" >out 2>err)
assert_eq 0 $? 'status'
assert_same native out

"$shape" >native
rm -rf "$plans"
run "$shape"
kept=$stored
plan=$(own_plan "$shape")

it 'eight processes at once, on an empty cache and on a damaged one'
for round in empty damaged; do
	rm -rf "$plans"
	if [ $round = damaged ]; then
		run "$shape"
		for file in "$plans"/plan-*; do
			printf x | dd of="$file" bs=1 seek=700 conv=notrunc \
				status=none
		done
	fi
	for i in 1 2 3 4 5 6 7 8; do
		"$RUN" -q -o "many.$i" "$shape" >"out.$i" 2>&1 &
	done
	wait
	for i in 1 2 3 4 5 6 7 8; do
		assert_same native "out.$i"
		assert_shape "many.$i" '1 3 6 34 4 8 8'
	done
	run "$shape"
	assert_eq "$kept 0" "$found $stored" 'found and stored'
	assert_eq '' "$(find "$plans" -name 'new-*')" 'files that are left'
done

it 'the least recently used are removed when there is too much'
rm -rf "$plans"
run "$shape"
for i in 1 2 3 4 5; do
	fallocate -l 60M "$plans/plan-$i" 2>/dev/null ||
		head -c 60M /dev/zero >"$plans/plan-$i"
	touch -d "200$i-01-01" "$plans/plan-$i"
done
touch -d 2000-01-01 "$plans/new-0" "$plans/plan-6"
: >"$plans/mine" && touch -d 1999-01-01 "$plans/mine"
cp "$plan" used
rm "$plan"
run "$shape"
assert_eq 1 "$stored" 'stored'
assert_eq 'mine plan-3 plan-4 plan-5' \
	"$(cd "$plans" && echo [m]ine plan-[0-9])" 'what is left'
assert_exists "$plan"
assert_missing "$plans/new-0"
touch -d 2001-01-01 "$plan"
before=$(date +%s)
run "$shape"
assert_eq "$kept 0" "$found $stored" 'found and stored'
# the kernel's clock of files may be some milliseconds behind
assert_ge "$(stat -c %Y "$plan")" $((before - 1)) 'time of the last use'

# Going past that limit would be a signal to the program.
it 'a plan that is longer than files may be is not stored'
rm -rf "$plans"
RUN_OPTIONS=(-M '*')
ulimit -S -f 96
run "$shape"
assert_eq 0 $status 'exit status'
find "$plans" -name 'new-*' >unfinished
assert_empty unfinished
ulimit -S -f unlimited
run "$shape"
assert_ge "$(find "$plans" -type f -size +96k | wc -l)" 1 'plans that were too long'
RUN_OPTIONS=()

finish
