-- The end of a hold: what it has goes to whoever waits for it.

local dissolved = 0

-- A call that has worked off this many resources leaves the rest of its batch to the next call.
local function is_full()
  return dissolved >= 500
end

-- From here on nobody can be given the hold, which is about to lack locks.
local function begin_to_dissolve(task)
  redis.call('HSET', HOLD .. task, 'status', 'entering')
end

-- Gives up every lock of the hold and hands it on, then deletes the hold.
local function dissolve(task, names, busy)
  give_up_all(task, names)
  promote_all(names)
  dissolved = dissolved + #names
  if busy == '1' then wake_admission() end
  redis.call('DEL', WAITS .. task, HOLD .. task)
end

local function dissolve_owned(task, exclusive, shared, busy)
  local names = resources_of(exclusive, shared)
  if shared == '' and busy ~= '1' and #names <= 100 and nobody_queues(names, 1, #names) then
    -- Most holds are such, and one command ends them.
    local keys = locks_of(task, names, 1, #names)
    keys[#keys + 1] = HOLD .. task
    redis.call('DEL', unpack(keys))
    dissolved = dissolved + #names
    return
  end
  begin_to_dissolve(task)
  dissolve(task, names, busy)
end

-- The same for a hold that nobody owns: it may stand in queues and in its lane, too.
local function dissolve_unowned(task)
  local hold = redis.call('HMGET', HOLD .. task, 'exclusive', 'shared', 'busy', 'lane', 'place')
  begin_to_dissolve(task)
  unready(task, hold[4], hold[5])
  local names, exclusives = resources_of(hold[1], hold[2])
  for i, name in ipairs(names) do redis.call('ZREM', QUEUE .. name, waiter(task, i <= exclusives)) end
  dissolve(task, names, hold[3])
end
