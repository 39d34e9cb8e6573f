# shellcheck shell=bash
# Where a thread has very many call edges, those with the same function and call
# site share their thunks, and those that are called often get their own again.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets crowd contexts

# What the program says of itself is in `said`.
assert_counts_as_said() { # PROFILE
	local expected
	mapfile -t expected < <(tr ' ' '\n' <said)
	assert_eq 26 ${#expected[@]} 'words that the program said'
	assert_calls "$1" "${expected[@]}"
}

# Each function from two places only, whatever the contexts.
assert_edges() { # PROFILE
	local i
	for i in 0 5 6 11; do
		assert_eq "level_$((i + 1))" "$(callees_of "$1" level_$i |
			tr ' ' '\n' | grep '^level' | xargs)" "called by level_$i"
	done
}

it 'counts the calls of more contexts than have thunks of their own'
assert_same_as_native "$TARGETS/contexts"
assert_complete profile
for i in 0 1 8 16; do
	assert_calls profile level_$i $((1 << i))
done
assert_eq $((1 << 17)) "$("$DUMP" -f raw profile | grep -c ' calls 1  ')" \
	'contexts that were entered, with main'

it 'counts the calls of 8191 contexts, seldom and often called'
export SWIZZLE_TEST_OWN_THUNKS=1024
for rounds in 3 1500; do
	assert_same_as_native "$TARGETS/crowd" $rounds
	cp out said
	assert_complete profile
	assert_time_is_sane profile
	assert_counts_as_said profile
	assert_edges profile
	assert_eq $((rounds * 4096)) "$(sed -n 's/^level_12 //p' said)" 'leaves'
	assert_eq 8191 "$("$DUMP" -f raw profile | grep -c " calls $rounds  ")" \
		'contexts that were entered in each round'
done

it 'and where exceptions and longjmp leave them'
for how in throw jump; do
	assert_same_as_native "$TARGETS/crowd" 100 $how
	cp out said
	assert_complete profile
	assert_counts_as_said profile
	assert_edges profile
done

it 'in two threads'
assert_same_as_native "$TARGETS/crowd" 300 thread
cp out said
assert_complete profile
assert_time_is_sane profile 2
assert_counts_as_said profile

it 'in a child that was forked amid them'
assert_same_as_native "$TARGETS/crowd" 10 fork
assert_complete profile
head -n 13 out >said
# the child has the parent's numbers in its memory, but counts its own calls
forked=$(echo profile.*)
assert_complete "$forked"
assert_edges "$forked"
assert_eq $((9 * 4096 + 3096)) "$(calls_of "$forked" level_12)" "the child's leaves"
assert_eq 9 "$(calls_of "$forked" level_0)" "the child's rounds"
assert_counts_as_said profile

it 'and where handlers of signals come between'
for how in '' throw jump; do
	# shellcheck disable=SC2086
	capture "$RUN" -q -o profile "$TARGETS/crowd" 200 signals $how
	assert_status 0
	cp out said
	assert_complete profile
	assert_counts_as_said profile
	assert_ge "$(calls_of profile handler)" 1 'handlers'
done

it 'what depends on the order of signals, exceptions and stacks, all thunks shared'
unset SWIZZLE_TEST_OWN_THUNKS
TESTS='exceptions signals tail_calls'
[ -z "${TEST_LONG:-}" ] || TESTS+=' longjmp continuations'
for test in $TESTS; do
	TEST_SHARING=1 bash "$TOP/tests/e2e/test_$test.sh" >log 2>&1
	case $? in
	0) ;;
	77) echo "not tested: $test: $(tail -n 1 log)" ;;
	*) fail "$test: $(cat log)" ;;
	esac
done

finish
