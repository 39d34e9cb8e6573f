# shellcheck shell=bash
# What is recorded, and what is hooked at all, under the filters of swizzle-run.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets shape fib jumps confined late liblate.so libpart.so
need gcc g++ nm objcopy

MODES=(--timing=exact --timing=sampled --mode=trace)

shape() { # "COUNT..." OPTION...
	local counts=$1 mode
	shift
	it "options $*"
	# what is hooked at all is the same in all modes
	local modes=("${MODES[0]}")
	[[ " $*" != *' '-[FND]* && $* != *--[nd]* ]] || modes=("${MODES[@]}")
	for mode in "${modes[@]}"; do
		RUN_OPTIONS=(-q "$mode" "$@")
		assert_same_as_native "$TARGETS/shape"
		assert_complete profile
		assert_shape profile "$counts"
	done
	RUN_OPTIONS=()
}

#      main alpha beta gamma_ delta part_work part_inner
shape '1 3 6 34 4 8 8'
shape '0 3 6 30 0 0 0' -F alpha
shape '0 0 0 4 4 8 8' -F 'del*'
shape '0 3 6 34 4 8 8' -F alpha -F delta
shape '0 3 6 30 0 8 8' -F '?lpha' -F 'part_*'
shape '0 0 0 0 0 0 0' -F nothing_of_that_name
shape '1 3 0 4 4 8 8' -N beta
shape '1 3 6 0 4 8 8' -N 'g*'
shape '1 3 6 30 0 0 0' --notrace=delta
shape '0 3 0 0 0 0 0' -F alpha -N beta
shape '1 3 0 34 4 8 8' -H beta
shape '1 0 0 34 4 8 8' -H alpha -H beta
shape '0 0 0 34 0 8 8' -H main -H '[a-d]*'
shape '1 0 0 0 0 0 0' -D 1
shape '1 3 0 0 4 0 0' -D 2
shape '1 3 6 4 4 8 0' -D3
shape '1 3 6 34 4 8 8' --depth=100
shape '0 3 6 0 0 0 0' -F alpha -D 2
shape '1 3 6 34 4 0 0' -M shape
shape '1 3 6 34 4 0 0' -M '!libpart*'
shape '0 0 0 0 0 8 8' -M 'libpart*'
shape '0 0 0 0 0 8 8' -M 'lib*' -M '!libc.*'
shape '0 0 0 0 0 0 0' -M nothing

it 'that nothing is left is said, once, and only where it is so'
told() { # COUNT OPTION...
	local count=$1
	shift
	"$RUN" -o profile "$@" -- sh -c "$TARGETS/shape; :" >/dev/null 2>told
	assert_eq "$count" "$(grep -c '^swizzle: .*at the start' told)" \
		"messages with $*"
	assert_eq 0 "$(grep -vc -e '^swizzle: .*at the start' \
		-e '^swizzle: -M: there are: .*libc' told)" "others"
}
told 1 -F nothing_of_that_name
told 1 -F nothing_of_that_name --imports
told 1 -M nothing
told 1 -Z 1G
told 1 -H '*'
told 0 -q -M nothing
told 1 -F '!main' # sh has no symbols
told 0 -F strlen --imports
told 1 -H nothing_of_that_name
told 2 -H nothing_of_that_name -N '?' -N '*'
told 1 -H nothing_of_that_name -Z 1G
told 1 -M '!nothing'
told 0 -N '*'
told 0 -M 'libc.*'

# a list that only excludes stands for all else
shape '0 3 0 0 0 0 0' -H '!alpha'
shape '0 3 6 0 0 0 0' -H '!alpha' -H '!b*'
shape '1 0 0 0 0 0 0' -N '!main'
shape '0 3 6 34 4 8 8' -F '!main'
shape '0 0 6 30 0 0 0' -F '*a' -F '!alpha' -F '!delta'

it 'a hidden function gives its time to its caller'
"$RUN" -o profile -H fib "$TARGETS/fib" >/dev/null
assert_calls profile main 1 fib 0
# main calls nothing else; a million calls take more than a millisecond
dump_table profile --no-compensate
assert_ge "$(row table self main)" 1000000 'its time, in ns'
assert_eq "$(row table incl main)" "$(row table self main)" 'time of main'

it 'filters hold where a longjmp has left what they named'
jumps() { # "COUNT..." of the four functions, OPTION...
	local counts=$1 name line mode
	shift
	for mode in "${MODES[@]}"; do
		RUN_OPTIONS=("$mode" "$@")
		assert_same_as_native "$TARGETS/jumps"
		RUN_OPTIONS=()
		dump_table profile
		line=
		for name in main jumper after inner; do
			calls=$(row table calls "$name")
			line="$line ${calls:-0}"
		done
		assert_eq "$counts" "${line# }" "calls with $* $mode"
	done
}
jumps '1 10 10 20'
jumps '1 0 10 10' -N jumper
jumps '0 10 0 10' -F jumper
jumps '0 0 10 10' -F after
jumps '1 10 10 0' -D 2
jumps '0 10 10 0' -F jumper -F after -D 1

it 'functions of C++ are named as in the source'
program names.cc >names.cc
g++ -O2 -fno-optimize-sibling-calls -fno-ipa-pure-const -o names names.cc ||
	abort 'no program'
named() { # "COUNT..." OPTION...: of writer, hidden, add, both::stay
	local counts=$1 name line='' n
	shift
	RUN_OPTIONS=("$@")
	assert_same_as_native ./names
	RUN_OPTIONS=()
	dump_table profile --demangle=no
	# (what is in an unnamed namespace has an L in its name since GCC 16)
	for name in _ZL6writerPv "$(nm names | awk '/hidden/ { print $3 }')" \
		_ZN4both3addILi10EEEvv _ZN4both4stayEv; do
		n=$(row table calls "$name")
		line="$line ${n:-0}"
	done
	assert_eq "$counts" "${line# }" "calls with $*"
}
named '1 1 1 1'
named '0 1 1 1' -N writer
named '0 1 0 0' -F '(anonymous namespace)::*'
named '0 0 1 0' -F 'both::add'
named '1 1 0 0' -N 'both::*'

it 'the cost of the hooks is known under every filter, and subtracted'
for options in '-F fib' '-F main' '-N nothing' '-D 100'; do
	# shellcheck disable=SC2086 # words are wanted
	"$RUN" -o profile $options "$TARGETS/fib" >/dev/null
	cost=$(info_value profile 'cost per call')
	assert_ne '0.00 ns (inside 0.00, outside 0.00)' "$cost" \
		"cost with $options"
	dump_table profile
	assert_ge "$(sed -n 's/^# total.* after \([0-9]*\) ns.*/\1/p' table)" 1 \
		"subtracted with $options"
done

# --- by size -----------------------------------------------------------------

size_of() { # FUNCTION: in bytes, as its symbol says
	local file=$TARGETS/shape
	case $1 in
	part_*) file=$TARGETS/libpart.so ;;
	esac
	echo $((0x$(nm -S "$file" | awk -v name="$1" '$4 == name { print $2 }')))
}

by_size() { # BYTES VALUE-OF-THE-OPTION
	local name counts='' i=0
	local -a full=(1 3 6 34 4 8 8)
	for name in $SHAPE_NAMES; do
		if [ "$(size_of "$name")" -ge "$1" ]; then
			counts="$counts ${full[$i]}"
		else
			counts="$counts 0"
		fi
		i=$((i + 1))
	done
	shape "${counts# }" -Z "$2"
}

for name in gamma_ alpha main; do
	size=$(size_of "$name")
	assert_ge "$size" 4 "size of $name"
	by_size "$size" "$size"
	by_size $((size + 1)) $((size + 1))
done
by_size 0 0
by_size 1024 1K
by_size 4294967295 4294967295
RUN_OPTIONS=()

# --- by source file ----------------------------------------------------------

mkdir src
cp "$TOP"/tests/targets/*located* src
FLAGS='-O2 -fno-optimize-sibling-calls -fno-ipa-pure-const'

#       main begins_inlined other_file header_one header_two
located() { # "COUNT..." PROGRAM OPTION...
	local counts=$1 program=$2 name line=
	shift 2
	RUN_OPTIONS=(-q "$@")
	assert_same_as_native "./$program"
	RUN_OPTIONS=()
	dump_table profile
	for name in main begins_inlined other_file header_one header_two; do
		calls=$(row table calls "$name")
		line="$line ${calls:-0}"
	done
	assert_eq "$counts" "${line# }" "calls with $*"
}

by_file() { # PROGRAM
	located '1 3 0 0 0' "$1" -L located.c
	located '0 0 0 3 5' "$1" -L 'src/*.h'
}

for format in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 '-gdwarf-5 -gz=zlib' \
	'-gdwarf-4 -gz=zlib' '-gdwarf64 -gdwarf-5'; do
	it "source files by $format"
	# shellcheck disable=SC2086 # words are wanted
	if gcc $FLAGS $format -o by-file src/located.c src/liblocated.c 2>err; then
		by_file by-file
	else
		echo "not tested: gcc cannot do $format"
	fi
done
for cc in clang clang-14; do
	command -v "$cc" >/dev/null || continue
	it "source files by $cc"
	"$cc" -O2 -fno-optimize-sibling-calls -g -o by-clang src/located.c src/liblocated.c
	by_file by-clang
	break
done

it 'source files by patterns, absolute names, and in part'
# shellcheck disable=SC2086 # words are wanted
gcc $FLAGS -g -Wl,--build-id -o by-file "$PWD/src/located.c" \
	"$PWD/src/liblocated.c"
located '1 3 5 3 5' by-file
located '0 0 5 0 0' by-file -L 'lib*.c'
located '1 3 5 0 0' by-file -L '!located.h'
located '1 3 0 0 0' by-file -L '*.c' -L '!*/liblocated.c'
located '0 0 0 0 0' by-file -L locate -L 'located.c/*'
located '1 3 0 0 0' by-file -L "$PWD/src/located.c"
located '1 3 0 0 0' by-file -L "${PWD#/}/src/located.c"
located '0 0 0 0 0' by-file -L "${PWD#/?}/src/located.c"

it 'source files by a separate file of debug information'
cp by-file whole
objcopy --only-keep-debug by-file separate.debug
strip -g by-file
objcopy --add-gnu-debuglink=separate.debug by-file
located '1 3 0 0 0' by-file -L located.c
mkdir .debug
mv separate.debug .debug
located '0 0 5 0 0' by-file -L liblocated.c
rm -r .debug
objcopy --only-keep-debug --compress-debug-sections=zlib whole separate.debug
located '0 0 0 3 5' by-file -L located.h
# of another build
# shellcheck disable=SC2086 # words are wanted
gcc $FLAGS -g -DOTHER -Wl,--build-id=0x0123456789 -o other src/*located.c
objcopy --only-keep-debug other separate.debug
capture "$RUN" --list -L located.c ./by-file
assert_status 0
assert_contains err "-L: no function's source file is known"
assert_matches out '/by-file  [0-9]+  0  0  [0-9]+$'

it 'source files by a file named after the build-id'
libc=$(ldd "$TARGETS/shape" | awk '$1 == "libc.so.6" { print $3 }')
id=$(readelf -n "$libc" | awk '/Build ID/ { print $3 }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
	capture "$RUN" --list -v -M 'libc.so*' -L malloc.c "$TARGETS/shape"
	assert_status 0
	for name in cfree posix_memalign malloc_trim; do
		assert_matches out "patched +$name\$"
	done
	for name in printf qsort strtol; do
		assert_matches out "excluded by a filter +$name\$"
	done
else
	echo 'not tested: debug information of libc by its build-id (package libc6-dbg)'
fi

it 'without debug information -L names nothing, and this is said'
capture "$RUN" -o profile -L shape.c "$TARGETS/shape"
assert_status 0
assert_eq "$("$TARGETS/shape")" "$(cat out)"
assert_eq "swizzle: -L: no function's source file is known (no debug information)" \
	"$(cat err)"
assert_shape profile '0 0 0 0 0 0 0'
capture "$RUN" -q -o profile -L '!shape.c' "$TARGETS/shape"
assert_empty err
assert_shape profile '1 3 6 34 4 8 8'

# --- what filters leave out --------------------------------------------------

it 'what a filter leaves out is counted apart from what is refused'
capture "$RUN" --list -v -H alpha -H 'part*' "$TARGETS/shape"
assert_eq 'module functions patched refused filtered' \
	"$(head -n 1 out | xargs)" header
assert_matches out '/shape  [0-9]+  [0-9]+  [0-9]+  1$'
assert_matches out '/libpart\.so  2  0  0  2$'
awk '/^\// && $2 != $3 + $4 + $5' out >bad
assert_empty bad
for name in alpha part_work part_inner; do
	assert_matches out "excluded by a filter +$name\$"
done
assert_matches out 'patched +beta$'
"$RUN" -o profile -H alpha -H 'part*' "$TARGETS/shape" >/dev/null
"$DUMP" -f info profile >info
assert_matches info '^module +functions +patched +refused +filtered$'
assert_matches info '/shape +[0-9]+ +[0-9]+ +[0-9]+ +1$'
assert_matches info '/libpart\.so +2 +0 +0 +2$'
"$RUN" -o profile "$TARGETS/shape" >/dev/null
"$DUMP" -f info profile >info
assert_matches info '^module +functions +patched +refused$'

it 'what is decided when the program starts costs nothing at each call'
for options in '-H alpha' '-Z 20' '-L !x' '-M shape'; do
	# shellcheck disable=SC2086 # words are wanted
	"$RUN" -o profile $options "$TARGETS/shape" >/dev/null 2>&1
	info_value profile flags >flags
	assert_not_contains flags filtered
done
"$RUN" -o profile -N alpha "$TARGETS/shape" >/dev/null
info_value profile flags >flags
assert_contains flags filtered

it 'they hold for libraries that are loaded, unloaded and loaded again'
reload() { # LEAVES ENTRIES OPTION...
	local leaves=$1 entries=$2
	shift 2
	RUN_OPTIONS=(-q "$@")
	assert_same_as_native "$TARGETS/late" reload 20
	RUN_OPTIONS=()
	assert_calls profile late_leaf "$leaves" late_entry "$entries"
}
reload 220 20
reload 0 20 -H late_leaf
reload 220 0 -H '!late_leaf'
reload 0 0 -H '*'
reload 0 0 -Z 1M
reload 220 20 -q -L liblate.c
reload 0 0 -q -L libother.c
reload 0 0 -q -L '!liblate.c'

it 'functions without a symbol have the name that is shown for them'
cp "$TARGETS/fib" stripped
strip stripped
capture "$RUN" --list -M stripped -H '*' ./stripped
assert_matches out '/stripped  [0-9]+  0  0  [0-9]+$'
capture "$RUN" --list -M stripped -H 'sub_*' ./stripped
assert_matches out '/stripped  [0-9]+  0  0  [0-9]+$'
assert_not_contains err 'matches no function'
fib=$(nm "$TARGETS/fib" | awk '$3 == "fib" { sub("^0*", "", $1); print $1 }')
"$RUN" -o profile ./stripped >/dev/null
assert_ge "$(calls_of profile "sub_$fib")" 1000 'calls of fib without a name'
"$RUN" -o profile -H "sub_$fib" ./stripped >/dev/null
assert_eq 0 "$(calls_of profile "sub_$fib")" 'the same, hidden'
capture "$RUN" --list -M stripped -H fib ./stripped
assert_matches out '/stripped  3  3  0$'
assert_eq "swizzle: -H 'fib' matches no function (of what is loaded at the start)" \
	"$(cat err)"

it 'prctl and syscall say why they are watched, not that they walk the stack'
capture "$RUN" --list -v -M 'libc.so*' "$TARGETS/confined"
for name in prctl syscall; do
	assert_matches out "limits or replaces the process .* $name\$"
done
assert_not_contains out 'walks the stack'

it 'plain LD_PRELOAD with variables'
SWIZZLE_OUTPUT=env.size SWIZZLE_MIN_SIZE=$(size_of main) \
	LD_PRELOAD=$LIBSWIZZLE "$TARGETS/shape" >out 2>err
assert_empty err
assert_shape env.size* '1 0 0 0 0 0 0'
SWIZZLE_OUTPUT=env.file SWIZZLE_LOCATION=$'*.c\n!lib*' \
	LD_PRELOAD=$LIBSWIZZLE ./whole >out 2>err
assert_empty err
assert_calls env.file* main 1 begins_inlined 3 other_file 0 header_one 0 header_two 0
for bad in SWIZZLE_MIN_SIZE=x SWIZZLE_MIN_SIZE=4294967296 SWIZZLE_FILTER='a[b' \
	SWIZZLE_HIDE='[' SWIZZLE_NOTRACE=$'a\n!' SWIZZLE_MODULE='[!]' \
	SWIZZLE_LOCATION='x[]'; do
	capture env "$bad" SWIZZLE_OUTPUT=env.bad LD_PRELOAD="$LIBSWIZZLE" \
		"$TARGETS/shape"
	assert_status 0
	assert_eq "$("$TARGETS/shape")" "$(cat out)" "output with $bad"
	assert_matches err "^swizzle: ${bad%%=*}: "
	assert_missing "$(echo env.bad*)"
done

finish
