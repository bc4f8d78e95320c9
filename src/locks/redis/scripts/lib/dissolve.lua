-- The end of a hold: what it has goes to whoever waits for it.

local dissolved = 0

-- A call that has worked off this many resources leaves the rest of its batch to the next call.
local function is_full()
  return dissolved >= 1000
end

-- From here on nobody can be given the hold, which is about to lack locks; entering it again would complete it.
local function begin_to_dissolve(task)
  redis.call('HSET', HOLD .. task, 'status', 'entering')
end

-- Gives up every lock of the hold, and where it may be `queued` every place in a queue; then deletes it.
local function dissolve(task, exclusive, shared, busy, queued)
  local names, exclusives = resources_of(exclusive, shared)
  for i, name in ipairs(names) do
    if queued then redis.call('ZREM', QUEUE .. name, waiter(task, i <= exclusives)) end
    give_up(name, task)
    promote(name)
  end
  dissolved = dissolved + #names
  if busy == '1' then wake_admission() end
  redis.call('DEL', WAITS .. task, HOLD .. task)
end
