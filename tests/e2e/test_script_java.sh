# shellcheck shell=bash
# -m sample: the methods of a Java program without any option, interpreted, compiled
# and inlined: their shares, the stacks that the program itself sees, the lines that
# are executed; lambdas, callbacks, exceptions, threads; by both engines.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need java javac
unset SWIZZLE_MODE
"$RUN" -q -m sample -o try true 2>err || skip "cannot sample here: $(cat err)"

SCRIPT=Script.java
program Script.java >Script.java
javac Script.java 2>err || skip "needs a JDK: $(cat err)"
case $(java -XshowSettings:properties -version 2>&1 | awk '/java.specification.version/ { print $3 }') in
17 | 18 | 19 | 2[0-5]) ;;
*) skip 'needs Java 17 to 25' ;;
esac
NAMES=(Script.sixty "Script\$Thing.thirty" Script.ten "Script\$Thing.made" Script.sorting Script.streaming Script.threaded)

# (frames that the program itself does not see: of lambdas, and what has @Hidden)
HIDDEN='s/[^;]*[$][$]Lambda[^;]*;//g; s/java.lang.Thread.runWith[^;]*;//'

# (machines with one processor have the serial collector, with which no loop says
# which inlined method it is of)
it 'shares of methods'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile java -XX:+UseG1GC Script >printed 2>err || fail "exit status $?"
assert_not_contains err 'without names'
assert_shares "${NAMES[@]}"

it 'the stacks that the program sees'
assert_stacks Script.spin "$HIDDEN"

it 'file and line'
assert_eq "$PWD/Script.java" "$(row Script.spin 9)" 'file'
hot=$(grep -n HOT Script.java | cut -d : -f 1)
assert_eq $((hot - 4)) "$(row Script.spin 10)" 'line'
assert_hot_lines $((hot - 1)) "$hot"

it '--script: the methods alone'
assert_script_alone '^(java$|lib.*[.]so|ld-|\\[vdso)'

it 'nearly all stacks are whole'
"$DUMP" -f info profile | awk '/^samples:/ { all = $2 + 0 } /^cut stacks:/ { cut = $3 + 0 } END { exit !(cut <= all / 50) }' ||
	fail "$("$DUMP" -f info profile | grep 'cut stacks')"

it 'methods that are interpreted'
"$RUN" -q -m sample -o profile java -Xint Script >printed 2>err || fail "exit status $?"
assert_shares "${NAMES[@]}"
assert_stacks Script.spin "$HIDDEN"
assert_hot_lines $((hot - 1)) "$hot"

it 'pauses'
"$RUN" -q -m sample --engine pause -r 500 -o profile java -XX:+UseG1GC Script >printed 2>err || fail "exit status $?"
assert_shares "${NAMES[@]}"
assert_stacks Script.spin "$HIDDEN"
