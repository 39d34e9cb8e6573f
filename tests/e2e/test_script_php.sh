# shellcheck shell=bash
# -m sample: the functions of a PHP script without any option, in place of the
# interpreter's loop: their shares, the stacks that the script itself sees, the
# lines that are executed; generators, closures, exceptions, built-in functions that
# call back.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
# TEST_PHP is another PHP, such as one that is thread-safe.
php=${TEST_PHP:-php}
need "$php"
unset SWIZZLE_MODE
case $("$php" -n -r 'echo PHP_VERSION;') in
7.4.* | 8.[0-4].*) ;;
*) skip 'needs PHP 7.4 to 8.4' ;;
esac
"$RUN" -q -m sample --engine pause -o try "$php" -n -r '1;' 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

"$php" -n -r 'exit(PHP_ZTS ? 0 : 1);' || echo 'not tested: a thread-safe PHP, as TEST_PHP names none'

SCRIPT=script.php
program script.php >script.php

it 'shares of functions'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile "$php" -n script.php >printed 2>err || fail "exit status $?"
assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
assert_shares sixty Thing::thirty ten Thing::made Thing::generated sorting

it 'the stacks that the script sees'
assert_stacks spin 's/(\{closure\}):[0-9]+/\1/g'

it 'file and line'
assert_eq "$PWD/script.php" "$(row spin 9)" 'file'
assert_eq "$(grep -n '^function spin' script.php | cut -d : -f 1)" "$(row spin 10)" 'line'
hot=$(grep -n HOT script.php | cut -d : -f 1)
assert_hot_lines $((hot - 1)) "$hot"
assert_loop_is_small execute_ex

it '--script: the functions of scripts alone, and C between them without it'
assert_script_alone '^(php|lib|ld-|\\[vdso)'
"$DUMP" -q -f folded -o - profile >stacks
grep -Eq '^_start;.*;Thing::thirty;([^;]*;)*[^;]*(array_map|sub_)[^;]*;([^;]*;)*Thing::\{closure\}:[0-9]+;busy;spin' stacks ||
	fail 'no C between thirty and its closure'
