# shellcheck shell=bash
# Of many processes those that matter: -M leaves no profiles without calls, and
# swizzle-dump shows those of which it is asked; programs of one name are told
# apart.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 perl
need_targets workers running

files() { # DIRECTORY
	find "$1" -type f | wc -l
}
# a tree of processes: one with calls in the end
cat >tree.sh <<EOF
$TARGETS/workers >/dev/null
ls >/dev/null; (:; :)
perl -e 'exit 0'
perl -e 'kill 9, \$\$'
env perl -e 1
exec env true
EOF

it 'without -M all processes have profiles'
"$RUN" -q -o all/ sh tree.sh 2>/dev/null
[ "$(files all)" -ge 6 ] || fail "only $(files all)"

it '-M leaves those that have calls'
capture "$RUN" -q -M workers -o used/ sh tree.sh
assert_status 0
assert_eq 1 "$(files used)" files
"$DUMP" -q -f csv used | grep -q ',workers,' || fail 'not that of workers'

it 'the line at the end names what is left, once'
SWIZZLE_SUMMARY=1 capture "$RUN" -M workers -o told/ sh tree.sh
assert_eq 1 "$(grep -c 'Next: swizzle-dump told/swizzle.out' err)" lines
assert_eq "$(find told -type f)" "$(sed -n 's/.*Next: swizzle-dump //p' err)" name

it 'the time is that of the run, although its first process has no profile'
SWIZZLE_SUMMARY=1 capture "$RUN" -M workers -o slow/ \
	sh -c "$TARGETS/workers >/dev/null; sleep 1"
ms=$(sed -n 's/.* calls in \([0-9]*\)\.[0-9]* s,.*/\1/p' err)
[ "${ms:-0}" -ge 1 ] || fail "$(cat err)"

it 'where none has calls the first one stays, to say why'
"$RUN" -q -M nothing -o none/ sh tree.sh 2>/dev/null
[ "$(files none)" -ge 1 ] || fail 'no profile'
"$DUMP" -f info none | grep -q '^command: sh tree.sh' || fail 'not that of sh'

it '--process: by name, pattern, path and number'
pid=$("$DUMP" -q -f csv --by process all | awk -F, '/workers/ { print $10; exit }')
for choice in workers 'work*' "$TARGETS/workers" "$pid"; do
	"$DUMP" -q -f csv --by process --process "$choice" all >chosen
	assert_eq 2 "$(wc -l <chosen)" "--process $choice"
	grep -q '/workers"*$' chosen || fail "$choice: $(cat chosen)"
done
assert_eq "$("$DUMP" -q -f info all | grep -cE '^executable: .*/(perl|workers)')" \
	"$("$DUMP" -q -f info --process perl --process workers all |
		grep -c '^executable: ')" several
capture "$DUMP" -q --process nothing all
assert_status 1
assert_contains err "--process 'nothing'"
assert_contains err perl
capture "$DUMP" -q --process perl -f raw all
assert_status 2

it '--process chooses what is merged'
"$DUMP" -q --process workers --merge-into sum all
"$DUMP" -q -f csv -n 0 --process workers all | awk -F, '{ print $1, $2, $7 }' |
	sort >expected
"$DUMP" -q -f csv -n 0 sum | awk -F, '{ print $1, $2, $7 }' | sort |
	assert_same expected /dev/stdin
"$DUMP" -f info sum | grep -q '^merged: 1 profiles' || fail 'others, too'

it 'programs of one name at several paths are told apart'
mkdir one two
cp "$TARGETS/workers" one/app
cp "$TARGETS/running" two/app
"$RUN" -q -M app -o apps/ sh -c 'one/app >/dev/null; two/app >/dev/null'
"$DUMP" -q --by module apps >modules
grep -q "one/app" modules || fail "$(cat modules)"
grep -q "two/app" modules || fail "$(cat modules)"
"$DUMP" -q -f table -n 0 apps | grep -qE ' .*one/app' || fail 'table'

it 'the same program at several paths is one'
cp "$TARGETS/workers" two/same
cp "$TARGETS/workers" one/same
"$RUN" -q -M same -o sames/ sh -c 'one/same >/dev/null; two/same >/dev/null'
assert_eq 2 "$(files sames)" files
assert_eq 1 "$("$DUMP" -q --by module sames | grep -v "^#" |
	grep -c 'same$')" modules
finish
