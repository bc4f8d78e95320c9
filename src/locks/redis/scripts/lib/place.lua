-- Entering: a hold takes its place at each of its resources.

-- Takes what is free and queues for the others. What it waits for is in `waits` before it is in a queue, so that
-- whoever promotes it finds it there.
local function take_or_queue(task, exclusive, shared, order)
  local names, exclusives = resources_of(exclusive, shared)
  local status = 'granted'
  for i, name in ipairs(names) do
    if free(name, i <= exclusives, task) then
      lock(name, i <= exclusives, task)
    else
      redis.call('SADD', WAITS .. task, name)
      redis.call('ZADD', QUEUE .. name, order, waiter(task, i <= exclusives))
      status = 'queued'
    end
  end
  return status
end

local function has_lock(name, exclusive, task)
  local kind = redis.call('TYPE', LOCK .. name).ok
  if exclusive then return kind == 'string' and redis.call('GET', LOCK .. name) == task end
  return kind == 'set' and redis.call('SISMEMBER', LOCK .. name, task) == 1
end

-- Completes an entering that died half-way, by what the stored hold says. Between the two, others may have
-- promoted it at some of its resources, but nobody can have granted it.
local function redo(task)
  local hold = redis.call('HMGET', HOLD .. task, 'exclusive', 'shared', 'order', 'lane', 'priority', 'place')
  local names, exclusives = resources_of(hold[1], hold[2])
  for i, name in ipairs(names) do
    local member = waiter(task, i <= exclusives)
    if has_lock(name, i <= exclusives, task) then
      redis.call('SREM', WAITS .. task, name)
    else
      redis.call('SADD', WAITS .. task, name)
      if redis.call('ZSCORE', QUEUE .. name, member) then
        -- It keeps its place.
      elseif free(name, i <= exclusives, task) then
        lock(name, i <= exclusives, task)
        redis.call('SREM', WAITS .. task, name)
      else
        redis.call('ZADD', QUEUE .. name, hold[3], member)
      end
    end
  end
  for _, name in ipairs(names) do promote(name) end
  if redis.call('EXISTS', WAITS .. task) == 0 then
    grant(task, hold[4], hold[5], hold[6])
    return 'granted'
  end
  redis.call('HSET', HOLD .. task, 'status', 'queued')
  return 'queued'
end
