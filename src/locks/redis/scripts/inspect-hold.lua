#!lua flags=no-writes
-- A hold, and its place in each queue where it waits.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, task
-- Answer: {'refused', reason} | {'none'} | {'ok', entry, status, owner, fence, lane, priority, place, exclusive, shared,
--   entered at, granted at, owned at, {resource, rank from 0 or -1, …} in the order of its resources}
-- include: epoch hold

local TASK = ARGV[2]

local refused = refusal('open')
if refused then return { 'refused', refused } end
local hold = redis.call('HMGET', HOLD .. TASK, 'entry', 'status', 'owner', 'fence', 'lane', 'priority', 'place',
  'exclusive', 'shared', 'entered_at', 'granted_at', 'owned_at')
if not hold[1] then return { 'none' } end

local waits_for, places = {}, {}
for _, resource in ipairs(redis.call('SMEMBERS', WAITS .. TASK)) do waits_for[resource] = true end
local names, exclusives = resources_of(hold[8], hold[9])
for i, name in ipairs(names) do
  if waits_for[name] then
    places[#places + 1] = name
    places[#places + 1] = redis.call('ZRANK', QUEUE .. name, waiter(TASK, i <= exclusives)) or -1
  end
end
table.insert(hold, 1, 'ok')
hold[14] = places
return hold
