-- Releases those of the locks that the owner holds: compared and deleted in one step, so that what another has taken
-- meanwhile stays. Or only looks what it would do.
-- KEYS: the owner's registry, then at most 250 locks
-- ARGV: owner, 'release' or 'look'
-- Answer: of each lock a word and the type of its key. held: the owner's, released unless this only looks. gone: there
-- is no such key. retaken: others hold it. unexpected: no lock of pulpcore's, left with its entry in the registry.
-- Died half-way: the entry goes after the lock, so that the next run finds what is left.
local REGISTRY, OWNER, RELEASES = KEYS[1], ARGV[1], ARGV[2] == 'release'
local TASK, RESOURCE = 'task:', 'pulp:resource_lock:'

local function starts(key, prefix)
  return string.sub(key, 1, #prefix) == prefix
end

local function release_exclusive(key)
  if redis.call('GET', key) ~= OWNER then return 'retaken' end
  if RELEASES then redis.call('DEL', key) end
  return 'held'
end

local function leave_shared(key)
  if redis.call('SISMEMBER', key, OWNER) == 0 then return 'retaken' end
  if RELEASES then redis.call('SREM', key, OWNER) end
  return 'held'
end

local function release(key, kind)
  if not starts(key, TASK) and not starts(key, RESOURCE) then return 'unexpected' end
  if kind == 'none' then return 'gone' end
  if kind == 'string' then return release_exclusive(key) end
  if kind == 'set' and starts(key, RESOURCE) then return leave_shared(key) end
  return 'unexpected'
end

local answer = {}
for i = 2, #KEYS do
  local kind = redis.call('TYPE', KEYS[i]).ok
  local found = release(KEYS[i], kind)
  if RELEASES and found ~= 'unexpected' then redis.call('SREM', REGISTRY, KEYS[i]) end
  answer[#answer + 1] = found
  answer[#answer + 1] = kind
end
return answer
