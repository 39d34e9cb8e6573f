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
