# shellcheck shell=bash
# Programs that are linked with libswizzle.so: -lswizzle has what the compiler
# calls with -finstrument-functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"

program inlined.c >inlined.c
directory=${LIBSWIZZLE%/*}
# before the C library, which has what the program calls, too, with a version
gcc -O2 -finstrument-functions -o inlined inlined.c -L"$directory" \
	-Wl,-rpath,"$directory" -lswizzle || abort 'inlined is not built'
readelf -d inlined | grep 'NEEDED.*libswizzle.so' >needed ||
	abort 'inlined does not need libswizzle.so'
nm -D inlined >symbols
assert_matches symbols ' U __cyg_profile_func_enter$'

it 'it runs without a profiler, and leaves nothing'
mkdir empty
cd empty || exit 1
capture ../inlined
assert_status 0
assert_eq 1003000 "$(cat "$TMP/out")" 'output'
assert_empty "$TMP/err"
assert_eq '' "$(ls)" 'files'
SWIZZLE_OUTPUT=$TMP/none capture ../inlined # not by what another run has left
assert_status 0
assert_eq '' "$(find "$TMP" -name '*none*')" 'files'
cd .. || exit 1

it 'it is profiled under swizzle-run'
RUN_OPTIONS=()
assert_same_as_native ./inlined
assert_complete profile
assert_calls profile work 1000 main 1 leaf 1000

it 'inlined functions are recorded, below the function that they are in, and none twice'
gcc -O2 -finstrument-functions -o plain inlined.c || abort 'plain is not built'
for mode in profile trace; do
	"$RUN" -q -m $mode -o inlined.$mode ./plain >out || fail "status $?"
	assert_calls inlined.$mode work 1000 main 1 leaf 1000
	"$DUMP" -q -f tree -o tree inlined.$mode
	assert_matches tree '^ +1000 .*  {6}leaf  plain$'
done
"$RUN" -q -m count -o inlined.count ./plain >out || fail "status $?"
"$DUMP" -q -f csv -o csv inlined.count
assert_eq '1 main 1000 leaf 1000 work' "$(awk -F , '$7 ~ /^(leaf|work|main)$/ { print $1, $7 }' csv |
	sort | xargs)" 'counts'
"$DUMP" -q -f tree -o tree inlined.count
assert_matches tree '^ +1000 .*    leaf  plain$'

it 'an exception ends them, and so does a tail call; a program may call these itself'
program ends.cc >ends.cc
g++ -O2 -finstrument-functions -o ends ends.cc || abort 'ends is not built'
RUN_OPTIONS=()
assert_same_as_native ./ends
assert_complete profile
assert_calls profile catches 200 jumps 100 passes 200 throws 200 by_hand 10 main 1

it 'it is executed by a profiled program, and not profiled'
RUN_OPTIONS=(--no-follow)
rm -f profile*
assert_same_as_native /bin/sh -c './inlined; exit 3'
assert_eq 1 "$(find . -name 'profile*' | wc -l)" 'profiles'

it 'a library of another tool gets the calls, as without us'
program tool.c >tool.c
gcc -O2 -fPIC -shared -o libtool.so tool.c || abort 'libtool is not built'
gcc -O2 -finstrument-functions -o others inlined.c -L. -ltool \
	-Wl,-rpath,"$PWD" || abort 'others is not built'
RUN_OPTIONS=()
assert_same_as_native ./others
assert_contains out '2001 2001'
assert_calls profile work 1000 main 1
gcc -O2 -finstrument-functions -o both inlined.c -L. -L"$directory" -ltool \
	-lswizzle -Wl,-rpath,"$PWD:$directory" || abort 'both is not built'
assert_same_as_native ./both
assert_contains out '2001 2001'

finish
