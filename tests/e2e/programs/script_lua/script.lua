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
