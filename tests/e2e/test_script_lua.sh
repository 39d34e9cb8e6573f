# shellcheck shell=bash
# -m sample: the functions of a Lua script, in place of the interpreter's loop: their
# shares, the stacks that the script itself sees, the lines that are executed;
# closures, metamethods, callbacks of sort, coroutines, errors; also in a program
# that has Lua as a library.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need lua5.4
unset SWIZZLE_MODE
"$RUN" -q -m sample --engine pause -o try lua5.4 -e 'x = 1' 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.lua
program script.lua >script.lua
plus=function:$(grep -n '__add =' script.lua | cut -d : -f 1)

it 'shares of functions'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile lua5.4 script.lua >printed 2>err || fail "exit status $?"
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

it 'a program that has Lua as a library'
program host.c >host.c
if cc -O2 -I/usr/include/lua5.4 -o host host.c -llua5.4 2>err; then
	"$RUN" -q -m sample --engine pause -r 500 -o profile ./host script.lua >printed || fail "exit status $?"
	assert_shares sixty thirty ten
	assert_stacks spin
else
	echo 'not tested: a program that has Lua as a library, without liblua5.4-dev'
fi

# The interpreter lies where only its own process sees it.
cat >busy.lua <<'END'
local function hidden()
	local last, s = os.clock() + 1, 0
	while os.clock() < last do s = s + 1 end
end
hidden()
END
mkdir apart
cat >in_container.sh <<'END'
mount -t tmpfs none apart && cp "$(command -v lua5.4)" busy.lua apart && cd apart && exec ./lua5.4 busy.lua
END
for options in -m -rm; do
	unshare $options mount -t tmpfs none apart 2>/dev/null && break
	options=
done

it 'in a container'
if [ "$options" ]; then
	"$RUN" -q -m sample -o tree/ unshare $options sh in_container.sh || fail "exit status $?"
	"$DUMP" -q -f csv --script -o - tree >rows
	assert_matches rows ',hidden,busy[.]lua,'
	unshare $options sh in_container.sh &
	program=$!
	wait_until grep -q apart/lua5.4 "/proc/$program/maps" || fail 'it does not run'
	SWIZZLE_SUMMARY=1 "$RUN" -m sample -p "$program" -o profile 2>err
	assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
	"$DUMP" -q -f csv --script -o - profile >rows
	assert_matches rows ',hidden,busy[.]lua,'
else
	echo 'not tested: a container, without the right to mount'
fi
