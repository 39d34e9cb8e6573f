# shellcheck shell=bash
# Functions that load their return address any number of times: programs built with
# -finstrument-functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc g++

# Each function that is inlined loads the return address once more, twice; some
# loads are in cold parts that only exceptions lead to, some are between a
# comparison and what depends on it, some right before a call.
it 'any number of loads, as -finstrument-functions makes them'
program instrumented.cc >instrumented.cc
# A hash of all return addresses that it is given.
program profiles.c >profiles.c
gcc -O2 -fPIC -shared -o libprofiles.so profiles.c || abort 'libprofiles is not built'
RUN_OPTIONS=(-M instrumented)
for options in -O0 -O2 '-O2 -fno-omit-frame-pointer' '-O2 -fno-plt' \
	'-Os -fcf-protection -Wl,-z,now'; do
	# shellcheck disable=SC2086
	g++ $options -rdynamic -finstrument-functions -o instrumented \
		instrumented.cc -L. -lprofiles -Wl,-rpath,"$PWD" ||
		abort "not built with $options"
	assert_same_as_native ./instrumented # planned
	assert_same_as_native ./instrumented # from the plan cache
	assert_complete profile
	assert_ge "$(sed -n 's/ calls, [0-9]* from elsewhere, .*//p' "$TMP/native.out")" 50000 \
		"instrumented calls ($options)"
	"$DUMP" -q -f info profile >info
	assert_ge "$(awk '$1 ~ /\/instrumented$/ { print $3 }' info)" 60 \
		"patched functions ($options)"
	assert_eq 0 "$(awk '$1 ~ /\/instrumented$/ { print $4 }' info)" \
		"refused functions ($options)"
	assert_calls profile once 2000 switches 2000 counted 2000 main 1
done

finish
