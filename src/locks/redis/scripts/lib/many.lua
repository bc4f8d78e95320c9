-- What is done for all resources of a hold, with few commands: a hold may have a thousand.

-- Whether none of them is locked and nobody queues for any.
local function all_free(names)
  local taken = 0
  in_pieces(1, #names, function(first, last)
    local keys = keys_of(QUEUE, names, first, last, keys_of(LOCK, names, first, last))
    taken = taken + redis.call('EXISTS', unpack(keys))
  end)
  return taken == 0
end

local function lock_all(task, names, exclusives)
  in_pieces(1, exclusives, function(first, last)
    local pairs = {}
    for i = first, last do
      pairs[#pairs + 1] = LOCK .. names[i]
      pairs[#pairs + 1] = task
    end
    redis.call('MSET', unpack(pairs))
  end)
  for i = exclusives + 1, #names do lock(names[i], false, task) end
end

-- Of names first … last: the keys of those that the task has exclusively, and the names that nobody has so.
local function locks_of(task, names, first, last)
  local mine, unlocked = {}, {}
  if first > last then return mine, unlocked end
  -- MGET tells the holder of an exclusive lock, and nothing for a shared one.
  local holders = redis.call('MGET', unpack(keys_of(LOCK, names, first, last)))
  for i = first, last do
    local holder = holders[i - first + 1]
    if holder == task then
      mine[#mine + 1] = LOCK .. names[i]
    elseif not holder then
      unlocked[#unlocked + 1] = names[i]
    end
  end
  return mine, unlocked
end

-- Give up, for all: a lock that is not this task's stays.
local function give_up_all(task, names)
  in_pieces(1, #names, function(first, last)
    local mine, unlocked = locks_of(task, names, first, last)
    if #mine > 0 then redis.call('DEL', unpack(mine)) end
    for _, name in ipairs(unlocked) do redis.call('SREM', LOCK .. name, task) end
  end)
end
