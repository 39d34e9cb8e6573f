# shellcheck shell=bash
# Of many processes those that matter: -M leaves no profiles without calls.
# (swizzle-dump --process: tests/unit/test_dump_files.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets workers

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

finish
