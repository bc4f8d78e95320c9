-- What is done for all resources of a hold, with few commands: a hold may have a thousand.

-- Whether none of them is locked and nobody queues for any.
local function all_free(names)
  local taken = 0
  in_pieces(1, #names, function(first, last)
    taken = taken + redis.call('EXISTS', unpack(keys_of(LOCK, names, first, last)))
      + redis.call('EXISTS', unpack(keys_of(QUEUE, names, first, last)))
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

-- Give up, for all: a lock that is not this task's stays. MGET tells the holder of an exclusive lock, and nothing for
-- a shared one.
local function give_up_all(task, names)
  in_pieces(1, #names, function(first, last)
    local holders = redis.call('MGET', unpack(keys_of(LOCK, names, first, last)))
    local mine = {}
    for i = first, last do
      local holder = holders[i - first + 1]
      if holder == task then
        mine[#mine + 1] = LOCK .. names[i]
      elseif not holder then
        redis.call('SREM', LOCK .. names[i], task)
      end
    end
    if #mine > 0 then redis.call('DEL', unpack(mine)) end
  end)
end
