# shellcheck shell=bash
# Exceptions that pass deep recursions, and a timer's handler that calls functions
# all the time: counts are exact wherever it comes.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets ticks

for options in '' '--timing sampled' '-m trace'; do
	for round in 1 ${TEST_LONG:+2 3 4}; do
		it "round $round $options"
		# shellcheck disable=SC2086
		use_options $options || continue
		capture timeout 300 "$RUN" ${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} -o profile \
			"$TARGETS/ticks" 800
		RUN_OPTIONS=()
		assert_status 0
		assert_complete profile
		assert_rows_are_sane profile
		# what is printed is names and numbers
		# shellcheck disable=SC2046
		assert_calls profile $(cat out) run 4
		assert_ge "$(row table calls down)" 100000 'calls of down'
		assert_ge "$(row table calls on_tick)" 1 'ticks'
	done
done

finish
