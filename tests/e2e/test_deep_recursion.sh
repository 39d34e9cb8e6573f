# shellcheck shell=bash
# A million frames are open at once: each has its return thunk.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets deep recursion

it 'recursion 1e6 deep'
assert_same_as_native "$TARGETS/deep" 1000000
assert_complete profile
assert_time_is_sane profile 2
assert_calls profile descend 1000001 run 1

it 'and again: the thunks are reused'
assert_same_as_native "$TARGETS/deep" 100000 20
assert_complete profile
assert_calls profile descend $((20 * 100001)) run 1
assert_eq 0 "$(info_value profile 'lost calls')" 'lost calls'

it 'the making of thunks is nobody'"'"'s time'
"$RUN" -q -o profile "$TARGETS/deep" 20000
"$DUMP" -q -f raw profile | awk '/^  unit / {
		for (i = 1; i < NF; i++)
			value[$i] = $(i + 1)
		function_of[value["unit"]] = value["function"]
		calls[value["function"]] += value["calls"]
		# SWZ_FUNCTION_OURSELVES, and its caller
		if (value["function"] == 4294967294 && value["ticks"] > 0)
			parents[value["parent"]] = 1
	}
	END {
		for (unit in parents)
			print calls[function_of[unit]]
	}' | sort -rn >callers
assert_eq 20001 "$(head -n 1 callers)" 'calls of what makes most thunks'
"$DUMP" -q -f text profile >with
"$DUMP" -q -f text --no-compensate profile >without
assert_le "$(row with self descend)" "$(row without self descend)" 'ns'

# Self times of functions that call each other are differences of sums over all
# depths: a call that counts for one of them only is a thousand times too much.
it 'functions that call each other, sampled: the same calls of each count alone'
(ulimit -s 1000000 && exec "$RUN" -q --timing sampled -o profile "$TARGETS/recursion" turns 100000) ||
	fail 'recursion turns'
"$DUMP" -q -f raw profile >raw
awk '/^  unit / {
		for (i = 1; i < NF; i++)
			value[$i] = $(i + 1)
		# SWZ_NODE_CYCLE: the calls that others stand for
		if (value["flags"] == "0x80")
			print value["function"], value["calls"]
	}' raw >estimated
assert_eq 2 "$(wc -l <estimated)" 'edges of the cycle'
assert_eq 2 "$(awk '$2 < 2000' estimated | wc -l)" 'edges most of whose calls count alone'

it '... and what is prepared meanwhile is taken from whose time has it'
awk '/^  unit / {
		for (i = 1; i < NF; i++)
			value[$i] = $(i + 1)
		function_of[value["unit"]] = value["function"]
		if (value["function"] == 4294967294)
			ticks[function_of[value["parent"]]] += value["ticks"]
	}
	END {
		for (f in ticks)
			print ticks[f]
	}' raw | sort -rn >prepared
assert_ge "$(($(sed -n 2p prepared) * 100 / $(head -n 1 prepared)))" 1 'percent'

finish
