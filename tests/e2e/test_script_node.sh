# shellcheck shell=bash
# -m sample: the functions of a JavaScript program in node without any option,
# interpreted and compiled: their shares, the stacks that the program itself sees,
# the lines that they begin on; generators, closures, callbacks of built-in functions,
# methods, exceptions, coroutines.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need node
unset SWIZZLE_MODE
case $(node --version) in
v18.* | v20.* | v22.*) ;;
*) skip 'needs node 18, 20 or 22' ;;
esac
"$RUN" -q -m sample -o try true 2>err || skip "cannot sample here: $(cat err)"

SCRIPT=script.js
# (a function that is inlined is not seen)
OPTIONS=--no-turbo-inlining
program script.js >script.js

it 'shares of functions'
"$RUN" -q -m sample -o profile node $OPTIONS script.js >printed 2>err || fail "exit status $?"
assert_shares sixty thirty ten made generated awaited

it 'the stacks that the program sees, below those of node itself'
assert_stacks spin "s/^.*;Module[^;]*;\(anonymous\):1( \(script.js\))?;/(anonymous);/; s/(\(anonymous\)):[0-9]+/\1/g"

it 'file and line'
assert_eq "$PWD/script.js" "$(row spin 9)" 'file'
assert_eq "$(grep -n '^function spin' script.js | cut -d : -f 1)" "$(row spin 10)" 'line'
assert_eq "$(grep -n 'generated(ms) {' script.js | cut -d : -f 1)" "$(row generated 10)" 'line of a method'

it 'nearly nothing is without a name'
"$DUMP" -q -f csv -o - profile >rows
awk -F , 'NR > 1 { all += $2 } $7 ~ /made at run time/ { ns += $2 } END { exit !(all && ns < all / 20) }' rows ||
	fail "$(grep 'made at run time' rows)"
