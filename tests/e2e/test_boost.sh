# shellcheck shell=bash
# Boost.Context: the bare switch, fibers that end, that are unwound (by force)
# when they are destroyed while suspended, and that throw and catch.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need g++
g++ -O1 -fno-inline-functions -fno-optimize-sibling-calls -o boost_contexts \
	"$TOP/tests/e2e/boost_contexts.cc" -lboost_context 2>compile.err ||
	skip 'needs libboost-context-dev, which is not there'

it 'the bare switch'
assert_same_as_native ./boost_contexts bare 100
assert_complete profile
assert_time_is_sane profile
assert_calls profile work 10000 bare 100 bare_switches 100

it 'fibers that finish'
assert_same_as_native ./boost_contexts finish 1000
assert_complete profile
assert_time_is_sane profile
assert_calls profile start_of 1000 nested 5000 work 6000 'guard::~guard' 5000

it 'fibers that are destroyed: their frames are unwound'
assert_same_as_native ./boost_contexts destroy 1000
assert_complete profile
assert_time_is_sane profile
assert_calls profile start_of 1000 nested 5000 work 6000 'guard::~guard' 5000

it 'exceptions in fibers'
assert_same_as_native ./boost_contexts throw 1000
assert_complete profile
assert_time_is_sane profile
assert_calls profile catching 1000 thrower 3000 'guard::~guard' 3000

finish
