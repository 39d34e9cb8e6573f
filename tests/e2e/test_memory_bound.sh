# shellcheck shell=bash
# --max-memory: a parser that is 10,000 deep in twenty functions that call each
# other has far more contexts than fit in. It counts itself how often each
# function called each other, or jumped to it; the profile must say the same.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets parser lifetimes
DEPTH=10000
TOKENS=800000

edges() { # PROFILE: "CALLER CALLEE COUNT" of the program's own functions
	"$DUMP" -q -f callgrind -o - "$1" | awk '
		function named(line,   id, name) {
			id = substr(line, index(line, "("), index(line, ")") - index(line, "(") + 1)
			name = substr(line, index(line, ")") + 2)
			if (name != "")
				names[id] = name
			return names[id]
		}
		/^fn=/ { caller = named($0) }
		/^cfn=/ { callee = named($0) }
		/^calls=/ {
			split($1, part, "=")
			count[caller " " callee] += part[2]
		}
		END {
			for (edge in count)
				if (edge ~ / rule_/ && count[edge]) # 0: of before a fork
					print edge, count[edge]
		}' | sort
}

check_profile() { # PROFILE LIMIT-IN-BYTES: against what the program said
	assert_le "$(stat -c %s "$1")" "$2" 'size'
	"$DUMP" -f info "$1" >info 2>/dev/null
	assert_matches info '^lost calls: 0$'
	edges "$1" >recorded || fail "swizzle-dump"
	assert_ge "$(wc -l <said)" 400 'edges'
	assert_same said recorded
}

check() { # LIMIT-IN-BYTES
	assert_same_as_native "$TARGETS/parser" $DEPTH $TOKENS
	assert_contains out "depth $DEPTH"
	grep rule_ native.out | sort >said
	check_profile profile "$1"
}

it 'with memory enough there is a context for each path'
RUN_OPTIONS=(--max-memory 512M)
check $((512 << 20))
assert_not_contains info 'folded,'
assert_matches info '^folded calls: 0$'
assert_ge "$(info_value profile contexts)" 20000 'contexts'

for timing in exact sampled; do
	for size in 1024 1280; do
		it "a bound of $size KiB holds, edges and counts are exact ($timing)"
		RUN_OPTIONS=(--max-memory "${size}K" --timing "$timing")
		check $((size << 10))
		assert_matches info '^flags:.*folded'
		assert_ge "$(info_value profile 'folded calls')" 1000 'folded calls'
	done
done

it 'says that counts are exact, but not of a file of which a part is missing'
capture "$DUMP" -f text -n 1 profile
assert_contains err 'calls have no exact context (--max-memory was reached); counts are exact'
used=$(info_value profile used)
head -c $((${used%% *} - 64)) profile >part
capture "$DUMP" -f text -n 1 part
assert_contains err 'truncated'
assert_contains err 'calls have no exact context (--max-memory was reached)'
assert_not_contains err 'exact context (memory bound);'

it 'the same in a process that is forked from a folded context'
RUN_OPTIONS=(--max-memory 1M)
assert_same_as_native "$TARGETS/parser" $DEPTH $TOKENS $((TOKENS / 3))
assert_eq 2 "$(grep -c "^depth $DEPTH$" out)" 'processes'
sed '/^depth/,$d' out | sort >said
check_profile profile.* $((1 << 20))
sed '1,/^depth/d' out | grep rule_ | sort >said
check_profile profile $((1 << 20))
assert_matches info '^flags:.*folded'
rm profile.*
RUN_OPTIONS=()

# Without randomization the space around libraries is narrow.
it 'leaves room for trampolines beside a large bound'
setarch -R true 2>/dev/null || skip 'the personality cannot be changed here'
setarch -R "$RUN" --no-cache --max-memory 4G -o large "$TARGETS/lifetimes" \
	>/dev/null 2>&1
assert_complete large
"$DUMP" -f info large >info
assert_not_contains info 'no trampoline memory within reach'
finish
