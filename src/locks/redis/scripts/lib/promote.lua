-- Handing resources on to those who queue for them. `budget` is what the call may still promote.

local budget = tonumber(ARGV[2])
local marked = redis.call('EXISTS', MARKS) == 1

-- Grant, for a hold that waits for nothing any more.
local function grant(task, lane, priority, place)
  ready(task, lane, priority, place)
  redis.call('HSET', HOLD .. task, 'status', 'granted', 'granted_at', called_at)
end

-- The hold that the head of a queue stands for, or nil: one that a dying script left behind stands for none. An
-- order is drawn for one hold, which queues in the modes that it lists, so an equal order tells that it is this one.
local function true_hold(task, order)
  local hold = redis.call('HMGET', HOLD .. task, 'order', 'owner', 'status', 'lane', 'priority', 'place')
  return hold[1] == order and not is_owned(hold[2]) and hold or nil
end

-- Takes the resource for the head of its queue, which leaves the queue last: a promotion that dies before is made
-- good by the next one.
local function take(resource, exclusive, task, hold)
  lock(resource, exclusive, task)
  redis.call('SREM', WAITS .. task, resource)
  if hold[3] == 'queued' and redis.call('EXISTS', WAITS .. task) == 0 then
    grant(task, hold[4], hold[5], hold[6])
  end
end

local function mark(resource)
  redis.call('ZADD', MARKS, '0', resource)
  marked = true
  return false
end

-- Promote. Returns false where it left the resource marked, for want of budget.
local function promote(resource)
  local queue, heads, at, last = QUEUE .. resource, {}, 1, '0'
  -- Without a budget there is no need to look at the head of a resource that nobody holds: it could go on.
  if budget == 0 and redis.call('EXISTS', LOCK .. resource) == 0 and redis.call('EXISTS', queue) == 1 then
    return mark(resource)
  end
  while true do
    if at > #heads then
      heads, at, last = redis.call('ZRANGE', queue, '0', last, 'WITHSCORES'), 1, '49'
      if not heads[1] then break end
    end
    local exclusive, task = string.sub(heads[at], 1, 1) == 'x', string.sub(heads[at], 2)
    local hold = true_hold(task, heads[at + 1])
    if hold and not compatible(resource, exclusive, task) then break end
    if budget == 0 then return mark(resource) end
    budget = budget - 1
    if hold then take(resource, exclusive, task, hold) end
    redis.call('ZREM', queue, heads[at])
    -- Nobody is compatible with an exclusive holder, so there is no need to look at the next.
    if hold and exclusive then break end
    at = at + 2
  end
  if marked then redis.call('ZREM', MARKS, resource) end
  return true
end

local function nobody_queues(names, first, last)
  return first > last or redis.call('EXISTS', unpack(keys_of(QUEUE, names, first, last))) == 0
end

local function promote_all(names)
  in_pieces(1, #names, function(first, last)
    if not marked and nobody_queues(names, first, last) then return end
    for i = first, last do promote(names[i]) end
  end)
end

local function work_off_marks()
  while marked do
    local resource = redis.call('ZRANGE', MARKS, '0', '0')[1]
    if not resource or not promote(resource) then return end
  end
end
