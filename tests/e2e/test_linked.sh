# shellcheck shell=bash
# Programs that are linked with libswizzle.so: -lswizzle has what the compiler
# calls with -finstrument-functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"

cat >inlined.c <<'END'
#include <stdio.h>

static inline int leaf(int x)
{
	return x * 2 + 1;
}

__attribute__((noinline)) int work(int n)
{
	return leaf(n) + 3;
}

int main(void)
{
	int s = 0;

	for (int i = 0; i < 1000; i++)
		s += work(i);
	printf("%d\n", s);
}
END
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
assert_calls profile work 1000 main 1

it 'it is executed by a profiled program, and not profiled'
RUN_OPTIONS=(--no-follow)
rm -f profile*
assert_same_as_native /bin/sh -c './inlined; exit 3'
assert_eq 1 "$(find . -name 'profile*' | wc -l)" 'profiles'

it 'a library of another tool gets the calls, as without us'
cat >tool.c <<'END'
#include <stdio.h>

static long enters, exits;

void __cyg_profile_func_enter(void *function, void *site)
{
	enters += function != site;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	exits += function != site;
}

__attribute__((destructor)) static void end(void)
{
	printf("%ld %ld\n", enters, exits);
}
END
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
