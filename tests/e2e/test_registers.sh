# shellcheck shell=bash
# The hooks change no register and no flag, on the fast path nor on the slow.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets registers abi

all_the_same() { # what `registers` must print
	assert_status 0
	assert_eq 5 "$(grep -c ': 2000 rounds, 0 differences$' out)" \
		'cases without a difference'
	[ "$(wc -l <out)" -eq 5 ] || fail "differences:
$(excerpt out)"
}

it 'natively: the target itself is right'
capture "$TARGETS/registers"
all_the_same

it 'every register at entry and after return'
capture "$RUN" -o profile "$TARGETS/registers"
all_the_same
assert_complete profile
assert_calls profile snapshot 10000 hop 2000 hop1 4000 hop10 4000 \
	probe 6000 probe_misaligned 4000

it 'with the hooks of each kind of recording'
for hooks in SWIZZLE_TIMING=sampled SWIZZLE_MODE=trace SWIZZLE_TEST_OWN_THUNKS=0 \
	'SWIZZLE_TIMING=sampled SWIZZLE_TEST_OWN_THUNKS=0' \
	'SWIZZLE_MODE=trace SWIZZLE_MIN_TIME=1ms' \
	'SWIZZLE_TIMING=sampled SWIZZLE_DEPTH=1000' \
	'SWIZZLE_MODE=trace SWIZZLE_DEPTH=1000'; do
	# shellcheck disable=SC2086
	capture env $hooks "$RUN" -o profile "$TARGETS/registers"
	all_the_same
	assert_complete profile
	assert_calls profile snapshot 10000 hop 2000 hop1 4000 hop10 4000
done

it 'while signals interrupt, and at the first hooked call of a thread'
for options in '' '--timing=sampled' '--mode=trace'; do
	for what in signals threads; do
		# nothing before the probed function is hooked in these threads
		# shellcheck disable=SC2086
		capture "$RUN" $options -H probe -H probe_misaligned -H run_probe \
			-o profile "$TARGETS/registers" $what
		all_the_same
		assert_complete profile
		assert_calls profile snapshot 10000 hop 2000 hop10 4000
	done
done

it 'also when filters decide at each entry'
capture "$RUN" -F '*' -o profile "$TARGETS/registers"
all_the_same
assert_calls profile snapshot 10000 hop10 4000
capture "$RUN" -F 'hop5' -o profile "$TARGETS/registers"
all_the_same
assert_calls profile hop5 4000

it 'also when nothing beneath is recorded'
capture "$RUN" -N 'probe*' -o profile "$TARGETS/registers"
all_the_same
assert_calls profile snapshot 0 fill 20000
# jumps to what is not recorded either
capture "$RUN" -N 'hop5' -o profile "$TARGETS/registers"
all_the_same
assert_calls profile hop6 4000 hop5 0 hop4 0 snapshot 6000 fill 20000
capture "$RUN" -D 2 -o profile "$TARGETS/registers"
all_the_same
assert_calls profile snapshot 0 test 5
capture "$RUN" -H 'snapshot' -H 'hop*' -o profile "$TARGETS/registers"
all_the_same

it 'arguments and results of every kind'
assert_same_as_native "$TARGETS/abi"
assert_complete profile
assert_calls profile main 1 round_of 1000 keep_many 1000 keep_mmx 1000 \
	sum_doubles 2000 sum_mixed 1000 make_large 1000 take_large 1000 \
	make_two 1000 make_floats 1000 make_complex 1000 many 1000 \
	microsoft 1000 in_rounding_mode 3000 third 3000
RUN_OPTIONS=(-F '*')
assert_same_as_native "$TARGETS/abi"

finish
