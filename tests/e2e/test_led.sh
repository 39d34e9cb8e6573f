# shellcheck shell=bash
# Frames so deep that they go through the code of a leader end in every way there is:
# each is accounted, and where the program goes on is where it would have gone.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets led

# What the program has counted itself, of what it did last, is what the profile says.
assert_counts_as_said() { # PROFILE WHAT [OTHER]: which function that is
	local said
	said=$(grep "^$2 sum" out)
	# shellcheck disable=SC2046
	assert_calls "$1" $(grep -o -E '(down|half_way|bottom) [0-9]+' <<<"$said")
	[ -z "${3:-}" ] || assert_calls "$1" \
		"$3" "$(sed 's/.* other \([0-9]*\) .*/\1/' <<<"$said")"
}

assert_whole() { # PROFILE
	assert_complete "$1"
	assert_eq 0 "$(info_value "$1" 'lost calls')" 'lost calls'
}

for depth in 30 100 5000; do
	rounds=$((depth == 5000 ? 3 : 40))
	# each fiftieth calls end(), but that which calls half_way()
	ends=$((depth / 50 - (depth / 2 % 50 == 0)))
	[ $ends -gt 0 ] || ends=
	it "$depth deep: frames return"
	assert_same_as_native "$TARGETS/led" $depth $rounds return
	assert_whole profile
	assert_time_is_sane profile
	assert_counts_as_said profile return
	assert_eq "bottom down ${ends:+end }half_way is" "$(callees_of profile down)" \
		'called by down'

	for how in jump throw bare; do
		it "$depth deep: $how"
		assert_same_as_native "$TARGETS/led" $depth $rounds $how
		assert_whole profile
		assert_time_is_sane profile
		if [ $how = throw ]; then
			assert_counts_as_said profile $how guarded
		else
			assert_counts_as_said profile $how
		fi
		assert_eq 'down end is' "$(callees_of profile half_way | tr ' ' '\n' |
			grep -v -E '^(__cxa_|sub_)' | xargs)" 'called by half_way'
		assert_eq '' "$(callees_of profile end)" 'called by end'
	done

	it "$depth deep: a back trace is that of the native run"
	assert_same_as_native "$TARGETS/led" $depth 2 walk
	assert_whole profile
	assert_counts_as_said profile walk

	it "$depth deep: another stack with the same recursion"
	assert_same_as_native "$TARGETS/led" $depth $rounds fiber
	assert_whole profile
	assert_counts_as_said profile fiber

	it "$depth deep: a child returns through all frames"
	rm -f profile.*
	assert_same_as_native "$TARGETS/led" $depth 2 fork
	assert_whole profile
	assert_counts_as_said profile fork
	for child in profile.*; do
		assert_calls "$child" end "${ends:-0}" down 0
	done

	it "$depth deep: handlers of signals recurse, and jump"
	assert_same_as_native "$TARGETS/led" $depth $rounds signal
	assert_whole profile
	assert_counts_as_said profile signal other
	assert_calls profile on_signal \
		"$(sed -n 's/.* handler \([0-9]*\) .*/\1/p' out)"

	it "$depth deep: each frame ends in a jump"
	assert_same_as_native "$TARGETS/led" $depth $rounds tail
	assert_whole profile
	assert_counts_as_said profile tail tail
	assert_calls profile other_end $((rounds * (depth + 1)))

	it "$depth deep: all of it in a second thread"
	assert_same_as_native "$TARGETS/led" $depth $rounds thread \
		return jump throw bare walk fiber signal tail
	assert_whole profile
	assert_calls profile \
		guarded "$(sed -n 's/^throw .* other \([0-9]*\) .*/\1/p' out)" \
		down "$(awk '{ sum += $5 } END { print sum }' out)" \
		other_end $((rounds * (depth + 1)))
done

it 'of other kinds of recording'
for options in --timing=sampled --mode=trace; do
	for how in return jump throw bare walk fiber signal tail; do
		capture "$RUN" -q $options -o profile "$TARGETS/led" 1000 5 $how
		assert_status 0
		cp out said
		"$TARGETS/led" 1000 5 $how >native
		cmp -s said native || fail "$options $how: $(diff said native)"
		assert_complete profile
		assert_counts_as_said profile $how
	done
done

finish
