-- What leads to no hold. Each place tells so of one of its members.

local function lists(packed, name)
  return packed and string.find('\0' .. packed .. '\0', '\0' .. name .. '\0', 1, true) ~= nil
end

local sound = {}

function sound.lock(name, task, exclusive)
  return lists(redis.call('HGET', HOLD .. task, exclusive and 'exclusive' or 'shared'), name)
end

function sound.queue(name, member, order)
  local exclusive, task = string.sub(member, 1, 1) == 'x', string.sub(member, 2)
  local hold = redis.call('HMGET', HOLD .. task, 'order', 'owner', exclusive and 'exclusive' or 'shared')
  return hold[1] == order and not is_owned(hold[2]) and lists(hold[3], name)
end

function sound.ready(name, member)
  local task = string.sub(member, 21)
  local hold = redis.call('HMGET', HOLD .. task, 'status', 'lane', 'place')
  return hold[1] == 'granted' and hold[2] == name and ready_member(task, hold[3]) == member
end

function sound.waits(name)
  local status = redis.call('HGET', HOLD .. name, 'status')
  return status == 'queued' or status == 'entering'
end

-- The head of a queue where nothing blocks it and no mark promises its promotion, or nil.
local function stalled_head(resource)
  local head = redis.call('ZRANGE', QUEUE .. resource, '0', '0', 'WITHSCORES')
  if not head[1] or not sound.queue(resource, head[1], head[2]) then return nil end
  if redis.call('ZSCORE', MARKS, resource) then return nil end
  local exclusive, task = string.sub(head[1], 1, 1) == 'x', string.sub(head[1], 2)
  return compatible(resource, exclusive, task) and head[1] or nil
end
