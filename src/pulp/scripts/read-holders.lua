-- Tells who holds locks that a scan has found.
-- KEYS: at most 250 locks
-- Answer: of each lock the list of its holders, empty where it is none, or 'many' where there are more than 100
-- No name of an owner is longer than 1,024 bytes: other programs have texts under `task:` as well.
local function starts(key, prefix)
  return string.sub(key, 1, #prefix) == prefix
end

local function holders(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'string' and redis.call('STRLEN', key) <= 1024 then return { redis.call('GET', key) } end
  if kind ~= 'set' or not starts(key, 'pulp:resource_lock:') then return {} end
  if redis.call('SCARD', key) > 100 then return 'many' end
  return redis.call('SMEMBERS', key)
end

local answer = {}
for i, key in ipairs(KEYS) do answer[i] = holders(key) end
return answer
