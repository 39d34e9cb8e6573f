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
cat >script.lua <<'END'
local own, stacks, names, threads = {}, {}, {}, {}

local function now()
	return os.clock() * 1000
end

local function define(name, f)
	names[debug.getinfo(f, 'S').linedefined] = name
end

local function name_of(f)
	local line = debug.getinfo(f, 'S').linedefined
	return names[line] or 'function:' .. line
end

-- the functions that run, across coroutines
local function note()
	local list = {}
	local function add(co, level)
		while true do
			local at
			if co then
				at = debug.getinfo(co, level, 'Sf')
			else
				at = debug.getinfo(level, 'Sf')
			end
			if not at then break end
			if at.what == 'main' then
				table.insert(list, 1, '(main)')
			elseif at.what == 'Lua' then
				table.insert(list, 1, name_of(at.func))
			end
			level = level + 1
		end
	end
	add(nil, 3)
	for i = #threads, 1, -1 do add(threads[i], 0) end
	stacks[table.concat(list, ';')] = true
end

local function spin(first)
	if first then note() end
	local s = 0
	for i = 1, 20000 do
		s = s + (i & 3) -- HOT
	end
	return s
end

local function busy(ms)
	local last = now() + ms
	spin(true)
	while now() < last do spin(false) end
end

function sixty(n, ms)
	if n > 0 then
		sixty(n - 1, ms)
	else
		busy(ms)
	end
end

local Thing = {}
Thing.__index = Thing
function Thing:thirty(ms)
	local closure = function() busy(ms) end
	define('closure', closure)
	closure()
end
function Thing.made(ms)
	busy(ms)
end
Thing.__add = function(a, ms)
	busy(ms)
	return a
end

function ten(ms)
	local good, why = pcall(error, 'x')
	if not good then pcall(busy, ms) end
end

function sorting(ms)
	local done
	table.sort({3, 1, 2}, function(a, b)
		if not done then
			done = true
			busy(ms)
		end
		return a < b
	end)
end

function generating(ms)
	local co = coroutine.create(function()
		coroutine.yield(1)
		busy(ms)
	end)
	coroutine.resume(co)
	threads[1] = coroutine.running()
	coroutine.resume(co)
	threads[1] = nil
end

local function timed(name, call)
	local start = now()
	call()
	own[name] = now() - start
end

define('spin', spin)
define('busy', busy)
define('sixty', sixty)
define('thirty', Thing.thirty)
define('made', Thing.made)
define('ten', ten)
define('sorting', sorting)
define('generating', generating)
define('timed', timed)
timed('sixty', function() sixty(50, 600) end)
local thing = setmetatable({}, Thing)
timed('thirty', function() thing:thirty(300) end)
timed('ten', function() ten(100) end)
timed('made', function() Thing.made(60) end)
timed(name_of(Thing.__add), function() local a = thing + 60 end)
timed('sorting', function() sorting(60) end)
timed('generating', function() generating(60) end)
for name, ms in pairs(own) do print(name, ms) end
for stack in pairs(stacks) do print('stack ' .. stack) end
print('process', now())
END
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
cat >host.c <<'END'
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	lua_State *state = luaL_newstate();

	luaL_openlibs(state);
	if (argc > 1 && luaL_dofile(state, argv[1])) {
		printf("%s\n", lua_tostring(state, -1));
		return 1;
	}
	return 0;
}
END
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
