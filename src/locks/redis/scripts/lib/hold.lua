-- Holds: their resources, and the locks these are.

-- The resources of a hold from its two lists, names joined by NUL: an array, and how many of it are exclusive.
local function resources_of(exclusive, shared)
  local names, count = {}, 0
  for name in string.gmatch(exclusive, '[^%z]+') do
    count = count + 1
    names[count] = name
  end
  local exclusives = count
  for name in string.gmatch(shared, '[^%z]+') do
    count = count + 1
    names[count] = name
  end
  return names, exclusives
end


-- The member of a queue that stands for a waiter.
local function waiter(task, exclusive)
  return (exclusive and 'x' or 's') .. task
end

-- Compatible: whether the task could have the lock now, or has it.
local function compatible(resource, exclusive, task)
  local kind = redis.call('TYPE', LOCK .. resource).ok
  if kind == 'none' then return true end
  if not exclusive then return kind == 'set' end
  return kind == 'string' and redis.call('GET', LOCK .. resource) == task
end

-- Whether nobody has the lock of a resource and nobody queues for it. `exclusive` as for compatible.
local function free(resource, exclusive, task)
  if redis.call('EXISTS', LOCK .. resource, QUEUE .. resource) == 0 then return true end
  return redis.call('EXISTS', QUEUE .. resource) == 0 and compatible(resource, exclusive, task)
end

local function lock(resource, exclusive, task)
  if exclusive then
    redis.call('SET', LOCK .. resource, task)
  else
    redis.call('SADD', LOCK .. resource, task)
  end
end

-- Give up: the lock stays where it is not this task's.
local function give_up(resource, task)
  local kind = redis.call('TYPE', LOCK .. resource).ok
  if kind == 'set' then
    redis.call('SREM', LOCK .. resource, task)
  elseif kind == 'string' and redis.call('GET', LOCK .. resource) == task then
    redis.call('DEL', LOCK .. resource)
  end
end
