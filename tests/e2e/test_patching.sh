# shellcheck shell=bash
# Functions that are hard to patch run as natively, hooked.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets atomics blocks copied late objects patching

it 'loops of a few instructions that go back into the first five bytes'
assert_same_as_native "$TARGETS/atomics"
assert_complete profile
assert_calls profile run 4
"$RUN" --list "$TARGETS/atomics" >list
# such loops are displaced as a whole, not refused
read -r functions patched < <(awk '$1 ~ /libatomic/ { print $2, $3 }' list)
assert_ge $((100 * patched)) $((95 * functions)) 'hooked functions of libatomic'

it 'code that is copied and runs at the copy'
assert_same_as_native "$TARGETS/copied"
assert_complete profile
assert_calls profile calling 10
assert_calls profile called 10
dump_table profile
assert_eq '' "$(row table calls copied)" 'calls of a function that may be copied'

it 'blocks with symbols of their own are no functions'
assert_same_as_native "$TARGETS/blocks"
assert_complete profile
assert_calls profile in_blocks 10
dump_table profile
assert_eq '' "$(row table calls in_blocks.__part.1)" 'calls of a block'

it 'data with the symbol of a function'
assert_same_as_native "$TARGETS/objects"
assert_complete profile
assert_calls profile with_table 10
assert_calls profile typed 10
assert_calls profile padded 10

# All functions of libpatching.so, called ten times each: those named no_* are
# refused, all others are counted, however often they jump to their first byte.
check_patching() { # PROGRAM LIBRARY [OPTION...]
	local program=$1 library=$2
	shift 2
	RUN_OPTIONS=("$@")
	assert_same_as_native "$program"
	assert_complete profile
	dump_table profile
	"$RUN" "$@" -v --list "$program" >list
	sed -n "s|^[^ ]*$library  .*|&|;/^[^ ]*$library  /,/^\//p" list >functions
	awk '$3 == "patched" && $4 ~ /^no_/ || $3 != "patched" && /  [a-z]/ &&
		$NF !~ /^no_/ && $1 ~ /^[0-9a-f]+$/ && NF > 3 && $2 ~ /^[0-9]+$/ &&
		$NF ~ /_/' functions >bad
	assert_empty bad
	# shellcheck disable=SC2086 # names are words
	read_calls table $names alias_one alias_two carry load_frame
	for name in $names; do
		expected=10
		case $name in
		no_*) expected=0 ;;
		whence) expected=70 ;; # by others, too
		call_itself) expected=55 ;;
		alias_*) continue ;; # counted as one function
		esac
		calls=${called[$name]}
		[ "$name" = has_aliases ] && calls=$((${called[alias_one]:-0} + \
			${called[alias_two]:-0} + ${calls:-0})) && expected=30
		assert_eq $expected "${calls:-0}" "calls of $name"
	done
	assert_eq 10 "${called[carry]}" 'calls of carry'
	assert_eq 10 "${called[load_frame]}" 'calls of load_frame'
}
names=$("$TARGETS/patching" | sed 's/:.*//')
assert_ge "$(echo "$names" | wc -l)" 50 'functions in the table'

it 'functions that are hard to patch'
check_patching "$TARGETS/patching" libpatching.so
assert_ge "$(grep -c 'patched by a short jump' functions)" 10 'short jumps'
assert_matches functions ' patched  .* behind_a_text$'
assert_matches functions ' patched by a short jump .* behind_a_word$'
assert_eq 1 "$(awk '$1 == 10 && / sub_/' table | wc -l)" \
	'called functions without a symbol that have a part'

# The same results and counts where every function that can gets a short jump.
for tactic in padding neighbour; do
	it "short jumps into $tactic"
	export SWIZZLE_TEST_TACTIC=$tactic
	check_patching "$TARGETS/patching" libpatching.so
	assert_ge "$(grep -c 'patched by a short jump' functions)" 20 'short jumps'
	unset SWIZZLE_TEST_TACTIC
done

# Processors with protection keys heed that a segment is executable alone.
make_execute_only() { # FILE...
	python3 - "$@" <<-'END'
		import struct, sys

		for name in sys.argv[1:]:
		    with open(name, "r+b") as file:
		        data = file.read()
		        headers, = struct.unpack_from("<Q", data, 32)
		        count, = struct.unpack_from("<H", data, 56)
		        for at in range(headers, headers + 56 * count, 56):
		            kind, flags = struct.unpack_from("<II", data, at)
		            if (kind, flags) == (1, 5):
		                file.seek(at + 4)
		                file.write(struct.pack("<I", 1))
	END
}

it 'text that may be executed but not read'
mkdir unreadable
cp "$TARGETS"/{late,liblate*.so} unreadable
make_execute_only unreadable/{late,liblate.so,liblate_other.so}
for option in --timing=exact --imports; do
	RUN_OPTIONS=("$option")
	assert_same_as_native unreadable/late alternate
	assert_complete profile
	assert_calls profile main 1
	"$DUMP" -f info profile >modules
	assert_matches modules '/unreadable/liblate.so +[1-9][0-9]* +[1-9]'
done

finish
