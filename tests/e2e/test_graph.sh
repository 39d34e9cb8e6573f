# shellcheck shell=bash
# swizzle-dump -f graph in headless Chromium, with real clicks and keys
# (tests/html/graph.py), compared with csv and json.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gcc
need_targets workers

cat >library.c <<'END'
#include <stddef.h>
volatile unsigned lib_sum;

/* of nothing */

__attribute__((noinline, noclone)) void lib_work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		lib_sum += i;
}
END
program program.c >program.c
# shellcheck disable=SC2015 # abort if one of them fails
gcc -g -O1 -shared -fPIC -o library.so "$TMP/library.c" &&
	gcc -g -O1 -o program "$TMP/program.c" ./library.so || abort 'no program'
"$RUN" -o profile ./program || abort 'no profile'

it 'is written as one page'
capture "$DUMP" -f graph profile
assert_status 0
assert_empty out
page=swizzle.$(info_value profile pid).graph.html
assert_contains err "wrote $page"
assert_eq '<!doctype html>' "$(head -n 1 "$page")" 'first line'
assert_eq '</html>' "$(tail -n 1 "$page")" 'last line'

it 'is what it was with dot, which shows the same functions'
"$DUMP" -q -f dot -o all.dot profile
assert_matches all.dot 'label="leaf\\nprogram'
assert_not_contains all.dot 'label="tiny\n'

need_chromium

"$DUMP" -q -f csv -o all.csv profile
"$DUMP" -q -f json -o all.json profile
for limit in 0.5 0; do
	it "shows what csv and json say, from $limit percent on"
	"$DUMP" -q -f graph --percent-limit $limit -o graph.html profile
	timeout 300 python3 "$TOP/tests/html/graph.py" graph.html all.csv all.json $limit \
		"$TMP/picture.png" >wrong 2>&1 || fail "$(head -n 20 wrong)"
done

it 'without source, and without a thread'
"$DUMP" -q -f graph --no-source -o graph.html profile
# (the source is deflated; its block is shorter)
"$DUMP" -q -f graph -o source.html profile
assert_ge "$(stat -c %s source.html)" "$(($(stat -c %s graph.html) + 200))" 'bytes'

finish
