# shellcheck shell=bash
# Modules of every kind of link: the hard cases of libpatching.S in a program at
# a fixed address, in segments that are laid out otherwise, by other linkers;
# and what compilers put at the start of functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
sources="$TOP/tests/targets/patching.c $TOP/tests/targets/libpatching.S"

# What is refused and what is counted, by the names (test_patching.sh).
check() { # PROGRAM
	local name expected names expectations=()
	assert_same_as_native "$1"
	assert_complete profile
	names=$("$1" | sed 's/:.*//')
	assert_ge "$(echo "$names" | wc -l)" 50 'functions that it names'
	for name in $names; do
		expected=10
		case $name in
		no_*) expected=0 ;;
		whence) expected=70 ;; # by others, too
		call_itself) expected=55 ;;
		*alias*) continue ;; # counted as one function
		esac
		expectations+=("$name" "$expected")
	done
	assert_calls profile "${expectations[@]}"
}

build() { # NAME FLAG...: builds libpatching.S and its program into one
	local name=$1
	shift
	# shellcheck disable=SC2086
	if ! gcc -O2 -w -o "$name" $sources "$@" 2>build.err; then
		echo "not built here: $name ($*): $(head -n 1 build.err)"
		return 1
	fi
	if ! ./"$name" >/dev/null 2>build.err; then
		echo "does not run here: $name ($*): $(head -n 1 build.err)"
		return 1
	fi
}

it 'a program at a fixed address'
build fixed -no-pie -fno-pie && check ./fixed
it 'at a high fixed address'
build high -no-pie -fno-pie -Wl,-Ttext-segment=0x60000000 && check ./high

it 'a program that maps all below it by MAP_FIXED, as a loader of another format does'
program over.c >over.c
if gcc -O1 -no-pie -fno-pie -o over over.c && [ "$(./over)" = "done" ]; then
	for cached in no yes; do
		assert_same_as_native ./over
		assert_eq 1001 "$("$DUMP" -q -f csv -o - profile |
			awk -F , '$7 == "step" { print $1 }')" "calls of step ($cached)"
	done
else
	echo 'does not run here: a program that maps all below it'
fi

# As it would be by chance: it looks where they are.
it 'a program that takes the place of its own trampolines: its functions are lost, and not the program'
program takes.c >takes.c
gcc -O1 -no-pie -fno-pie -o takes takes.c || abort 'not built'
./takes m >native.out 2>/dev/null
for mode in profile trace count both 'trace --imports'; do
	for how in m u; do
		rm -f profile
		# shellcheck disable=SC2086 # words are wanted
		capture "$RUN" -m $mode -o profile ./takes $how
		assert_status 0
		assert_same native.out out
		assert_contains err 'places: 1'
		assert_contains err 'its functions are not recorded any more'
		assert_eq 300 "$("$DUMP" -q -f csv -o - profile |
			awk -F , '$7 == "step" { print $1 }')" "calls of step, -m $mode, $how"
	done
done
mkfifo takes.in
rm -f profile
./takes m wait <takes.in >takes.out 2>takes.err &
program=$!
exec 8>takes.in
wait_until grep -qx ready takes.out
"$RUN" -q -m profile -o profile -p $program &
controller=$!
wait_until test -s profile
echo >&8
wait_until grep -qx taken takes.out
kill -INT $controller
wait $controller
assert_eq 0 $? "swizzle-run's exit status"
exec 8>&-
wait $program
assert_eq 0 $? "the program's exit status"
assert_contains takes.err 'places: 1'

it 'the heap of a program at a fixed address grows as far as natively'
program grows.c >grows.c
gcc -O1 -no-pie -fno-pie -o grows grows.c || abort 'not built'
for _ in 1 2 3 4; do # its place is another one each time
	assert_same_as_native ./grows
done
# Then the heap begins right behind the program.
if setarch -R ./grows >native.out 2>/dev/null; then
	assert_same_as_native setarch -R ./grows
else
	echo 'not tested: a heap right behind the program'
fi

# Trampolines near the program must not lie where its heap will be: there is no
# room before it.
if [ -e "$TARGETS/heap" ] && setarch -R "$TARGETS/heap" >native.out 2>/dev/null
then
	for how in '' 'setarch -R'; do
		it "a heap that grows behind such a program ($how)"
		rm -f profile
		# shellcheck disable=SC2086
		capture $how "$RUN" -o profile "$TARGETS/heap"
		assert_status 0
		assert_same native.out out
		assert_empty err
		assert_complete profile
		dump_table profile
		assert_eq 192 "$(row table calls grow)" 'calls of grow'
	done
else
	echo 'not tested: a heap behind a program at a fixed address'
fi
it 'no part of which is made read-only'
build writable -Wl,-z,norelro && check ./writable
it 'code and data in one segment'
build together -Wl,-z,noseparate-code && check ./together
it 'the same at a fixed address'
build together_fixed -no-pie -fno-pie -Wl,-z,noseparate-code &&
	check ./together_fixed
it 'packed relocations'
build packed -Wl,-z,pack-relative-relocs && check ./packed
it 'text in several segments'
if build split -no-pie -fno-pie -Wl,--section-start=.text_far=0x2000000; then
	segments=$(readelf -lW split | grep -c 'LOAD.* R E ')
	assert_eq 2 "$segments" 'segments with text'
	check ./split
fi
if build split_pie -Wl,--section-start=.text_far=0x2000000; then
	check ./split_pie
fi
for linker in gold lld mold; do
	it "linked by $linker"
	build by_$linker -fuse-ld=$linker -Wl,-z,noexecstack && check ./by_$linker
done
it 'linked by lld, relocations packed'
build lld_packed -fuse-ld=lld -Wl,--pack-dyn-relocs=relr && check ./lld_packed

for how in -Wl,-z,nopack-relative-relocs -Wl,-z,pack-relative-relocs; do
	it "a library that is loaded later ($how)"
	sed 's/int main/int patching_main/' "$TOP/tests/targets/patching.c" \
		>later.c
	program load.c >load.c
	gcc -O2 -w -o load load.c -ldl
	if ! gcc -O2 -w -shared -fPIC -o later.so later.c \
		"$TOP/tests/targets/libpatching.S" -Wl,-Bsymbolic \
		-Wl,-z,noexecstack "$how" 2>build.err; then
		echo "not built here: later.so ($how): $(head -n 1 build.err)"
		continue
	fi
	check ./load
done

# Where a function of this library calls dlsym the next library has the symbol;
# for a function that only jumps there it is its caller that asks.
program next.c >next.c
cat >asking.c <<'END'
#include <stdio.h>
int ask(void);
int main(void)
{
	printf("%d\n", ask());
	return 0;
}
END
echo 'VERSION { who; };' >next.map
for n in 1 3; do
	gcc -shared -fPIC -o libwho$n.so -x c - -Wl,--version-script=next.map \
		<<<"int who(void) { return $n; }"
done
without_sections() { # FILE
	head -c 8 /dev/zero | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	head -c 6 /dev/zero | dd of="$1" bs=1 seek=58 conv=notrunc status=none
}
for how in -Wl,-z,lazy -Wl,-z,now '-fcf-protection -Wl,-z,ibtplt' -fno-plt \
	'-DTAKEN -Wl,-z,now' -fuse-ld=gold -fuse-ld=lld -fuse-ld=mold \
	'-fuse-ld=mold -Wl,-z,now' '-DTAKEN -fuse-ld=mold -Wl,-z,now' \
	'-fuse-ld=lld -Wl,-z,retpolineplt' \
	'-fuse-ld=lld -Wl,-z,retpolineplt -Wl,-z,now'; do
	it "a jump to what looks at its return address ($how)"
	# shellcheck disable=SC2086
	if ! gcc -O2 -w -shared -fPIC -o libnext.so next.c $how 2>build.err; then
		echo "not built here: libnext.so ($how): $(head -n 1 build.err)"
		continue
	fi
	[ -x asking ] || gcc -O2 -o asking asking.c -Wl,--no-as-needed -L. -lwho1 -lnext -lwho3 \
		-Wl,-rpath,"$TMP"
	assert_eq 33 "$(./asking)"
	assert_same_as_native ./asking
	assert_complete profile
	assert_calls profile ask 1
	dump_table profile
	assert_eq '' "$(row table calls next)" 'calls of next'
	case $how in
	*TAKEN* | *retpoline*) ;;
	*)
		it "the same without section headers ($how)"
		without_sections libnext.so
		assert_same_as_native ./asking
		"$RUN" --list -v ./asking >list
		assert_eq 2 "$(sed -n '/libnext/,/^\//p' list |
			grep -cE '^ +[0-9a-f]+ +[0-9]+ +tail-calls')" \
			'those that only jump there'
		;;
	esac
done

it 'stripped'
for name in split by_lld; do
	[ -e $name ] || continue
	calls=$(calls_of profile invoke)
	strip -s -o stripped $name
	assert_same_as_native ./stripped
	assert_complete profile
done

it 'an unwind table in which a function begins in the midst of another'
program midst.c >midst.c
gcc -O2 -o midst midst.c
# The entry of second is moved to the fifth byte of first.
first=$(nm midst | sed -n 's/ T first$//p')
second=$(nm midst | sed -n 's/ T second$//p')
at=$(readelf -wf midst | sed -n "s/^0*\([0-9a-f]*\) .* FDE .*pc=$second\..*/\1/p")
section=$(readelf -SW midst |
	sed -n 's/.* \.eh_frame *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
at=$((0x$at + 0x$section + 8))
moved=$(($(od -An -td4 -j $at -N 4 midst) - 0x$second + 0x$first + 4))
# shellcheck disable=SC2059
printf "$(printf '\\x%02x' $((moved & 255)) $((moved >> 8 & 255)) \
	$((moved >> 16 & 255)) $((moved >> 24 & 255)))" |
	dd of=midst bs=1 seek=$at conv=notrunc status=none
assert_eq 1 "$(readelf -wf midst 2>/dev/null |
	grep -c "pc=0*$(printf %x $((0x$first + 4)))\.\.")" 'entries there'
assert_same_as_native ./midst
strip midst
assert_same_as_native ./midst

it 'a library at an address of its own'
gcc -shared -fPIC -o libpatching.so "$TOP/tests/targets/libpatching.S" \
	-Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,-Ttext-segment=0x3100000000
gcc -O2 -o prelinked "$TOP/tests/targets/patching.c" -L. -lpatching \
	-Wl,-rpath,"$TMP"
check ./prelinked
it 'a library that is linked at a higher address than it is mapped at'
gcc -shared -fPIC -o libbefore.so -x c - -Wl,-Ttext-segment=0x7ffef0000000 \
	<<<'int before(void) { return 1; }'
gcc -shared -fPIC -o libpatching.so "$TOP/tests/targets/libpatching.S" \
	-Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,-Ttext-segment=0x7ffef0000000
gcc -O2 -o unlucky "$TOP/tests/targets/patching.c" -Wl,--no-as-needed -L. \
	-lbefore -lpatching -Wl,-rpath,"$TMP"
check ./unlucky

it 'a module with no room within reach: arrays behind it, and nothing may be below'
program huge.c >huge.c
if gcc -O1 -mcmodel=medium -fno-pie -no-pie -Wl,-Ttext-segment=0x10000 -o huge \
	huge.c && ./huge >/dev/null 2>&1; then
	capture "$RUN" -o profile ./huge
	assert_contains err 'swizzle: no function is hooked: no memory for trampolines'
	RUN_OPTIONS=(-q)
	assert_same_as_native ./huge
	RUN_OPTIONS=()
	assert_complete profile
	assert_matches info '^ +no trampoline memory within reach +[1-9]'
else
	echo 'a program of 3 GiB does not run here: not tested'
fi

it 'aliases, versions, folded functions, indirect functions'
program names.c >names.c
echo 'V1 { }; V2 { } V1;' >names.map
for flags in '' '-fuse-ld=gold -Wl,--icf=all' '-fuse-ld=lld -Wl,--icf=all'; do
	# shellcheck disable=SC2086
	gcc -O1 -fno-ipa-icf -fPIE -pie -ffunction-sections -o names names.c \
		-Wl,--version-script=names.map $flags 2>/dev/null || {
		echo "not built here: ICF with $flags"
		continue
	}
	assert_same_as_native ./names
	assert_complete profile
	dump_table profile
	assert_eq 20 "$(row table calls two)" "calls of the indirect function $flags"
	for alike in 'aliased|other' 'same_one|same_two' \
		'old_name|new_name|versioned'; do
		awk -v names="^($alike)" '!/^#/ && $(NF - 1) ~ names { n += $1 }
			END { print n + 0 }' table >sum
		assert_eq 40 "$(cat sum)" "calls of $alike $flags"
	done
done

it 'a program that begins at a function of its own'
for how in '' -DTABLE; do
	# shellcheck disable=SC2086
	gcc -O2 -nostartfiles -Wl,-e,begin $how -o own_start \
		"$TOP/tests/targets/own_start.c" || abort 'own_start is not built'
	timeout 60 ./own_start a b >native.out 2>native.err
	native=$?
	rm -f profile
	capture timeout 60 "$RUN" -o profile ./own_start a b
	assert_status $native
	assert_same native.out out
	assert_empty err
	assert_complete profile
	dump_table profile
	assert_eq 10 "$(row table calls work)" 'calls of work'
done

it 'sections of code far apart cost no memory for what is between them'
program apart.c >apart.c
gcc -O2 -no-pie -fno-pie -mcmodel=large -fno-asynchronous-unwind-tables \
	-o apart apart.c -Wl,--section-start=.apart=0x8000000000
capture "$RUN" -o profile ./apart
assert_contains err 'swizzle: no function is hooked: no memory for trampolines'
RUN_OPTIONS=(-q)
assert_same_as_native ./apart
RUN_OPTIONS=()
assert_complete profile
assert_matches info '^ +no trampoline memory within reach +[1-9]'

it 'parts of functions without unwind tables: those that are called are counted'
program parts.c >parts.c
gcc -O1 -fno-asynchronous-unwind-tables -o parts parts.c
assert_same_as_native ./parts
assert_complete profile
dump_table profile
assert_eq 11 "$(row table calls split)" 'calls of split'
assert_eq 7 "$(row table calls split.part.0)" 'calls of its part'
assert_eq '' "$(row table calls split.cold)" 'calls of its cold part'

it 'text in dozens of segments: up to 64 are hooked, kept plans included'
for count in 40 70; do
	{
		echo '#include <stdio.h>'
		# what nothing leads out of may be copied, and is left alone
		echo '__attribute__((noinline)) int outside(int x) { return x + 5; }'
		sections=
		for ((i = 0; i < count; i++)); do
			printf '__attribute__((noinline, section(".at%d"))) ' $i
			printf 'int f%d(int x) { return outside(x) * %d; }\n' $i $((i + 2))
			printf -v section ' -Wl,--section-start=.at%d=0x%x' \
				$i $((0x10000000 + i * 0x10000))
			sections+=$section
		done
		printf 'int main(void)\n{\n\tint x = 1;\n'
		printf '\tfor (int i = 0; i < 3; i++) {\n'
		for ((i = 0; i < count; i++)); do
			printf '\t\tx = f%d(x) %% 1000;\n' $i
		done
		printf '\t}\n\tprintf("%%d\\n", x);\n\treturn 0;\n}\n'
	} >dozens.c
	# shellcheck disable=SC2086
	gcc -O1 -no-pie -fno-pie -o dozens dozens.c $sections
	for start in first second; do
		assert_same_as_native ./dozens
		assert_complete profile
		dump_table profile
		expected=3
		if [ "$count" = 70 ]; then
			expected=
		fi
		read_calls table f0 f15 f16 f39
		for i in 0 15 16 39; do
			assert_eq "$expected" "${called[f$i]}" \
				"calls of f$i of $count, $start start"
		done
	done
done

it 'what compilers put at the start of functions'
program entries.c >entries.c
for flags in '-fpatchable-function-entry=5,0' '-fpatchable-function-entry=16,5' \
	'-fpatchable-function-entry=2,1' '-fcf-protection=full' \
	'-fcf-protection=full -fpatchable-function-entry=16,5' '-pg' \
	'-pg -mfentry' '-fsplit-stack -fuse-ld=gold' \
	'-mindirect-branch=thunk -fcf-protection=none' \
	'-mindirect-branch=thunk-inline -fcf-protection=none' '-fno-plt' \
	'-fstack-protector-all' '-Os' '-fstack-clash-protection' '-fsanitize=address' \
	'-mtls-dialect=gnu2' '-mforce-drap' '-mstackrealign'; do
	if [ "$flags" = -fsanitize=address ] && too_random_for_sanitizers; then
		echo "not tested: $flags, addresses are too random for it"
		continue
	fi
	it "what compilers put at the start of functions ($flags)"
	# shellcheck disable=SC2086
	gcc -O0 -DPART -c -o part.o entries.c $flags 2>/dev/null &&
		gcc -O2 -fno-ipa-icf -o entries entries.c part.o $flags 2>/dev/null || {
		echo "not built here: $flags"
		continue
	}
	rm -f gmon.out
	# LeakSanitizer's thread shares our state: its calls may be lost
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 assert_same_as_native ./entries
	assert_complete profile
	assert_calls profile leaf 100 middle 1 leaf_of_part 100 middle_of_part 1
done
gcc -O0 -DPART -c -o part.o entries.c
# these look at their return address, by what is called or jumped to
for flags in -finstrument-functions \
	'-mfunction-return=thunk -fcf-protection=none'; do
	# shellcheck disable=SC2086
	gcc -O2 -o entries entries.c part.o $flags || continue
	assert_same_as_native ./entries
	assert_complete profile
done

it 'stacks that grow by segments, also in the large code model'
program segments.c >segments.c
for flags in '' '-mcmodel=large'; do
	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		gcc $level -fsplit-stack -o segments segments.c $flags &&
			./segments >/dev/null || {
			echo "not built here: -fsplit-stack $flags"
			continue
		}
		for stripped in '' yes; do
			[ -z "$stripped" ] || strip segments
			assert_same_as_native ./segments
			assert_complete profile
			[ -n "$stripped" ] || assert_calls profile deep 3820
		done
	done
done

it 'labels near the start of a function, whose addresses are in the code'
program printable.c >printable.c
for flags in '-fPIE -pie' '-fPIE -pie -Os' '-fno-pie -no-pie' '-fno-pie -no-pie -Os' \
	'-fno-pie -no-pie -O1' '-fPIE -pie -mcmodel=large'; do
	# shellcheck disable=SC2086
	gcc -O2 -fcf-protection=none -o labels printable.c $flags || continue
	assert_same_as_native ./labels
	assert_complete profile
	assert_calls profile main 1
done

it 'tables of labels with 32 bits each, at a fixed address'
program narrow.S >narrow.S
program narrow.c >narrow.c
for flags in '' -Wl,-z,noseparate-code; do
	# shellcheck disable=SC2086
	gcc -O1 -no-pie -fno-pie -o narrow narrow.c narrow.S $flags ||
		abort 'narrow is not built'
	assert_same_as_native ./narrow
	assert_complete profile
	assert_calls profile narrow 10
	assert_calls profile enter 20
done

it 'what looks like an entry behind a table of labels, and what is one'
program behind.S >behind.S
program behind.c >behind.c
for flags in -pie '-no-pie -fno-pie'; do
	# shellcheck disable=SC2086
	gcc -O1 $flags -o behind behind.c behind.S || abort 'behind is not built'
	assert_same_as_native ./behind
	assert_complete profile
	assert_calls profile main 1 behind 10
done

it 'where a table of labels ends, and the next one begins'
# The second table's first entry, counted from the first table, leads to the
# second byte of `beside`; the last of `amid`'s, whose address is taken besides,
# is its own.
program beside.S >beside.S
program beside.c >beside.c
for flags in -pie '-no-pie -fno-pie'; do
	# shellcheck disable=SC2086
	gcc -O1 $flags -o beside beside.c beside.S || abort 'beside is not built'
	assert_same_as_native ./beside
	assert_complete profile
	assert_calls profile main 1 beside 10
	"$RUN" -q --list -v ./beside >list
	assert_matches list ' patched +beside$'
	! grep -E ' patched +amid$' list || fail 'amid has a plain jump'
done

it 'arrays of more than 2 GiB'
program arrays.c >arrays.c
while read -r bytes patched flags; do
	# shellcheck disable=SC2086
	gcc -O1 -DBYTES=$bytes -o arrays arrays.c $flags && ./arrays >/dev/null || {
		echo "not built or run here: $bytes bytes $flags"
		continue
	}
	for cache in --no-cache --cache --cache; do # the last finds a plan
		RUN_OPTIONS=("$cache")
		assert_same_as_native ./arrays
		assert_complete profile
		"$DUMP" -q -f text profile >table_of_arrays
		for name in main store near_end; do
			expected=10
			[ $name = main ] && expected=1
			[ $name = near_end ] && [ "$patched" -eq 2 ] && expected=
			assert_eq "$expected" "$(awk -v name=$name \
				'$(NF - 1) == name { print $1 }' table_of_arrays)" \
				"$name, $cache"
		done
	done
	RUN_OPTIONS=()
done <<'END'
3221225472L 3 -mcmodel=medium -fno-pie -no-pie
3221225472L 3 -mcmodel=medium -fPIE -pie
3221225472L 3 -mcmodel=large -fno-pie -no-pie
2080374784L 3 -fno-pie -no-pie
2147463168L 2 -fPIE -pie
1500000000L 3 -fPIE -pie
END

finish
