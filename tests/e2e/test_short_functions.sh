# shellcheck shell=bash
# A library of many short functions side by side returns the same with and
# without swizzle, and every function that is said to be hooked is counted each
# time that it is entered, whatever jump leads to its trampoline.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets short short_late

"$TARGETS/short" counts | sort >expected
assert_ge "$(wc -l <expected)" 1000 'functions'

check_short() {
	assert_same_as_native "$TARGETS/short"
	assert_complete profile
	"$RUN" -v --list "$TARGETS/short" |
		sed -n '/libshort/,/^\//p' >functions
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' functions |
		sort >patched
	join expected patched >wanted
	# of 1 byte: nothing fits; else what is out of reach of any island
	assert_ge $((100 * $(wc -l <wanted))) $((90 * $(wc -l <expected))) \
		'hooked functions'
	dump_table profile -n 100000
	awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
	assert_same wanted counted
}

it 'short functions'
check_short
assert_ge "$(grep -c 'patched by a short jump' functions)" 300 'short jumps'

for tactic in padding neighbour; do
	it "short functions, all with a short jump into $tactic that can"
	export SWIZZLE_TEST_TACTIC=$tactic
	check_short
	assert_ge "$(grep -c 'patched by a short jump' functions)" 300 \
		'short jumps'
	unset SWIZZLE_TEST_TACTIC
done

it 'a library with short jumps that is loaded again'
"$TARGETS/short" counts | awk '{ print $1, $2 / 3 * 4 }' | sort >expected
"$RUN" -v --list "$TARGETS/short" | sed -n '/libshort/,/^\//p' |
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' | sort >patched
join expected patched >wanted
assert_same_as_native "$TARGETS/short_late"
assert_complete profile
dump_table profile -n 100000
awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
assert_same wanted counted

finish
