-- Entering: a hold takes its place at each of its resources.

-- Takes what is free and queues for the others. What it waits for is in `waits` before it is in a queue, so that
-- whoever promotes it finds it there. Returns whether it waits for nothing.
local function take_or_queue(task, names, exclusives, order)
  -- Few resources are asked for one by one as fast.
  if #names > 4 and all_free(names) then
    lock_all(task, names, exclusives)
    return true
  end
  local waits_for = {}
  for i, name in ipairs(names) do
    if free(name, i <= exclusives) then
      lock(name, i <= exclusives, task)
    else
      waits_for[#waits_for + 1] = i
    end
  end
  in_pieces(1, #waits_for, function(first, last)
    local waited = {}
    for at = first, last do waited[#waited + 1] = names[waits_for[at]] end
    redis.call('SADD', WAITS .. task, unpack(waited))
  end)
  for _, i in ipairs(waits_for) do
    redis.call('ZADD', QUEUE .. names[i], order, waiter(task, i <= exclusives))
  end
  return #waits_for == 0
end
