-- Holds: their resources, and the locks these are.

-- A list of names joined by NUL, added to an array.
local function add_names(names, list)
  local start = 1
  while start <= #list do
    local stop = string.find(list, '\0', start, true) or #list + 1
    names[#names + 1] = string.sub(list, start, stop - 1)
    start = stop + 1
  end
end

-- The resources of a hold from its two lists: an array, and how many of it are exclusive.
local function resources_of(exclusive, shared)
  local names = {}
  add_names(names, exclusive)
  local exclusives = #names
  add_names(names, shared)
  return names, exclusives
end

-- The keys of names first … last, for one command; added to `keys`, if given.
local function keys_of(prefix, names, first, last, keys)
  keys = keys or {}
  for i = first, last do keys[#keys + 1] = prefix .. names[i] end
  return keys
end

-- Calls back for names first … last in pieces that one command may carry: unpack has a limit.
local function in_pieces(first, last, each)
  for start = first, last, 100 do each(start, math.min(start + 99, last)) end
end

-- The field `owner` of a hold that nobody owns is empty or absent.
local function is_owned(owner)
  return owner and owner ~= ''
end

-- The member of a queue that stands for a waiter.
local function waiter(task, exclusive)
  return (exclusive and 'x' or 's') .. task
end

-- Compatible: whether the task could have the lock now, or has it.
local function compatible(resource, exclusive, task)
  if redis.call('EXISTS', LOCK .. resource) == 0 then return true end
  local kind = redis.call('TYPE', LOCK .. resource).ok
  if not exclusive then return kind == 'set' end
  return kind == 'string' and redis.call('GET', LOCK .. resource) == task
end

-- Whether a hold that has nothing yet may take the resource: the lock admits it, and it passes nobody.
local function free(resource, exclusive)
  if exclusive then return redis.call('EXISTS', LOCK .. resource, QUEUE .. resource) == 0 end
  return redis.call('EXISTS', QUEUE .. resource) == 0 and redis.call('TYPE', LOCK .. resource).ok ~= 'string'
end

local function lock(resource, exclusive, task)
  redis.call(exclusive and 'SET' or 'SADD', LOCK .. resource, task)
end
