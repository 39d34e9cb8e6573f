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
cat >script.lua <<'END'
local own, stacks, names, resumed = {}, {}, {}, {}

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

-- the functions that run from a level on; a coroutine does not see what resumed it
local function list_from(level)
	local list = {}
	while true do
		local at = debug.getinfo(level, 'Sf')
		if not at then break end
		if at.what == 'main' then
			table.insert(list, 1, '(main)')
		elseif at.what == 'Lua' then
			table.insert(list, 1, name_of(at.func))
		end
		level = level + 1
	end
	return list
end

local function note()
	local list = list_from(3)
	for i = #resumed, 1, -1 do table.insert(list, 1, resumed[i]) end
	stacks[table.concat(list, ';')] = true
end

local function spin(first)
	if first then note() end
	local s = 0
	for i = 1, 20000 do
		s = s + i % 4 -- HOT
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
	resumed = list_from(2)
	coroutine.resume(co)
	resumed = {}
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
cat >compiled.lua <<'END2'
function heavy(n) local s = 0 for i = 1, n do s = s + i % 5 end return s end
function light(n) local s = 0 for i = 1, n do s = s + i % 3 end return s end
local own = {}
for i = 1, 10 do
	for name, run in pairs({heavy = function() heavy(6e7) end, light = function() light(2e7) end}) do
		local start = os.clock()
		run()
		own[name] = (own[name] or 0) + 1000 * (os.clock() - start)
	end
end
for name, ms in pairs(own) do print(name, ms) end
print('process', 1000 * os.clock())
END2
SCRIPT=compiled.lua
"$RUN" -q -m sample -r 500 -o profile luajit compiled.lua >printed || fail "exit status $?"
assert_shares heavy light
"$DUMP" -q -f folded -o - profile >stacks
grep -q '(main);run;heavy ' stacks || fail "$(head -n 5 stacks)"

it 'a program that has LuaJIT as a library'
cat >host.c <<'END2'
typedef struct lua_State lua_State;
lua_State *luaL_newstate(void);
void luaL_openlibs(lua_State *state);
int luaL_loadfile(lua_State *state, const char *file);
int lua_pcall(lua_State *state, int arguments, int results, int handler);
int main(int argc, char **argv)
{
	lua_State *state = luaL_newstate();

	luaL_openlibs(state);
	return argc < 2 || luaL_loadfile(state, argv[1]) || lua_pcall(state, 0, 0, 0);
}
END2
library=$(find /usr/lib -name 'libluajit-5.1.so.2' 2>/dev/null | head -n 1)
if [ "$library" ] && cc -O2 -o host host.c "$library" 2>err; then
	SCRIPT=script.lua
	"$RUN" -q -m sample --engine pause -r 500 -o profile ./host script.lua >printed || fail "exit status $?"
	"$DUMP" -q -f folded --script -o - profile >stacks
	grep -q '^(main);timed;.*busy;spin ' stacks || fail "$(head -n 5 stacks)"
else
	echo 'not tested: a program that has LuaJIT as a library, without it'
fi
