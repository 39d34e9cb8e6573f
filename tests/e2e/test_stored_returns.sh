# shellcheck shell=bash
# swizzle_resolve_return_location: what is stored there is for one return. The
# function's next call from the same place returns where it was called from.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc

# Each visit calls a function, which returns 1 behind the call, or, where its
# return address was replaced, 2 elsewhere.
program visit.S >visit.S
program stored.c >stored.c
gcc -O2 -o stored stored.c visit.S -ldl || abort 'not built'
for options in '' '-m trace' '--timing sampled'; do
	# one excludes the other
	case "$options${TEST_MODE:-}${TEST_TIMING:-}" in *trace*sampled* | *sampled*trace*) continue ;; esac
	it "the next call, with '$options'"
	# shellcheck disable=SC2206
	RUN_OPTIONS=($options)
	assert_same_as_native ./stored
	assert_eq 30 "$(sed -n '1,40s/^\(.\) .*/\1/p' out | grep -c 1)" 'returns behind the call'
	assert_complete profile
	assert_calls profile redirect 50030 plain 200120 jumping 100040 nesting 1240
done

it 'in a forked child'
program forks.c >forks.c
sed 's/^int main(void)/int unused(void)/' stored.c >parts.c
gcc -O2 -o forks forks.c parts.c visit.S -ldl || abort 'not built'
RUN_OPTIONS=()
assert_same_as_native ./forks
assert_eq '1250 1' "$(cat out)" 'what the child finds'
finish
