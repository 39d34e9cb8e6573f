# shellcheck shell=bash
# -m sample: the subs of a Perl script, in place of the interpreter's loop: their
# shares, the stacks that the script itself sees, the lines that are executed;
# closures, sort blocks, destructors, evals, exceptions.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
# TEST_PERL is another Perl, such as one without threads.
perl=${TEST_PERL:-perl}
need "$perl"
unset SWIZZLE_MODE
"$perl" -e 'exit !($] >= 5.036 && $] < 5.043)' ||
	skip 'needs Perl 5.36 to 5.42'
"$RUN" -q -m sample --engine pause -o try "$perl" -e 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

[ -n "${TEST_PERL-}" ] || echo 'not tested: Perl without threads, as TEST_PERL names none'

SCRIPT=script.pl
program script.pl >script.pl

it 'shares of subs'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile "$perl" script.pl >printed 2>err || fail "exit status $?"
assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
assert_shares main::sixty Thing::thirty main::ten Thing::DESTROY main::sorting main::evaluating main::mapping

it 'the stacks that the script sees'
assert_stacks main::spin 's/(__ANON__):[0-9]+/\1/g'

it 'file and line'
assert_eq "$PWD/script.pl" "$(row main::spin 9)" 'file'
hot=$(grep -n HOT script.pl | cut -d : -f 1)
first=$(grep -n '^sub spin' script.pl | cut -d : -f 1)
assert_eq $((first + 1)) "$(row main::spin 10)" 'line of its first statement'
assert_hot_lines $((hot - 1)) "$hot"

it '--script: the subs alone'
assert_script_alone '^(perl|lib|ld-|\\[vdso)'
