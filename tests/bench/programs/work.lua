-- A fixed amount of work: closures, tables, strings, method calls. Prints the
-- processor time that it took. An argument says how many times (0 is possible).
local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y + b.y}, Point) end
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end

local function words(count)
	local seen, seed = {}, 42
	for i = 1, count do
		seed = (seed * 1103515245 + 12345) % 2147483648
		local word = string.format("%x", seed % 4096)
		seen[word] = (seen[word] or 0) + 1
	end
	local keys = {}
	for key in pairs(seen) do keys[#keys + 1] = key end
	table.sort(keys, function(a, b)
		if seen[a] ~= seen[b] then return seen[a] > seen[b] end
		return a < b
	end)
	return table.concat(keys, " ", 1, 10)
end

local function work()
	local sum = Point.new(0, 0)
	for i = 1, 120000 do sum = sum + Point.new(i, -i) end
	local text = words(80000)
	local count = 0
	for w in string.gmatch(string.rep(text, 400), "%w+") do
		count = count + #string.upper(w)
	end
	assert(count > 0)
	return fib(24) + sum.x
end

local start = os.clock()
for _ = 1, tonumber(arg[1] or 1) do
	assert(work() == 46368 + 120000 * 120001 / 2)
end
print(string.format("lua %.6f", os.clock() - start))
