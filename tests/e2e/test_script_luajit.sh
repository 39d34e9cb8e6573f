# shellcheck shell=bash
# -m sample: the functions of a script that LuaJIT runs: their
# shares, the stacks that the script itself sees, the lines that are executed;
# closures, metamethods, callbacks of sort, coroutines, errors; also in a program
# that has Lua as a library.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need luajit
unset SWIZZLE_MODE
"$RUN" -q -m sample --engine pause -o try luajit -joff -e 'x = 1' 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.lua
program script.lua >script.lua
plus=function:$(grep -n '__add =' script.lua | cut -d : -f 1)

it 'shares of functions, interpreted'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile luajit -joff script.lua >printed 2>err || fail "exit status $?"
assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
assert_shares sixty thirty ten made "$plus" sorting generating

it 'the stacks that the script sees'
assert_stacks spin

it 'file and line'
assert_eq "$PWD/script.lua" "$(row spin 9)" 'file'
assert_eq "$(grep -n 'function spin' script.lua | cut -d : -f 1)" "$(row spin 10)" 'line'
hot=$(grep -n HOT script.lua | cut -d : -f 1)
assert_hot_lines $((hot - 1)) "$hot"

it '--script: the functions alone'
assert_script_alone '^(lua|lib|ld-|\\[vdso)'

# Compiled code shows what it was entered by: a loop is a function's own.
it 'shares of functions, compiled'
program compiled.lua >compiled.lua
SCRIPT=compiled.lua
"$RUN" -q -m sample -r 500 -o profile luajit compiled.lua >printed || fail "exit status $?"
assert_shares heavy light
"$DUMP" -q -f folded -o - profile >stacks
grep -q '(main);run;heavy ' stacks || fail "$(head -n 5 stacks)"

it 'a program that has LuaJIT as a library'
program host.c >host.c
library=$(find /usr/lib -name 'libluajit-5.1.so.2' 2>/dev/null | head -n 1)
if [ "$library" ] && cc -O2 -o host host.c "$library" 2>err; then
	SCRIPT=script.lua
	"$RUN" -q -m sample --engine pause -r 500 -o profile ./host script.lua >printed || fail "exit status $?"
	"$DUMP" -q -f folded --script -o - profile >stacks
	grep -q '^(main);timed;.*busy;spin ' stacks || fail "$(head -n 5 stacks)"
else
	echo 'not tested: a program that has LuaJIT as a library, without it'
fi
