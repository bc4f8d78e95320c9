#!lua flags=no-writes
-- A page of an owner's registry, in order of task.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, owner, from as ZRANGEBYLEX takes it, limit
-- Answer: {'refused', reason} | {'ok', task, entry or false, fence or false, …}; false where the owner has no such hold
-- include: epoch

local OWNER = ARGV[2]

local refused = refusal('open')
if refused then return { 'refused', refused } end
local answer = { 'ok' }
for _, task in ipairs(redis.call('ZRANGEBYLEX', REGISTRY .. OWNER, ARGV[3], '+', 'LIMIT', 0, ARGV[4])) do
  local hold = redis.call('HMGET', HOLD .. task, 'owner', 'entry', 'fence')
  local mine = hold[1] == OWNER
  answer[#answer + 1] = task
  answer[#answer + 1] = mine and hold[2]
  answer[#answer + 1] = mine and hold[3]
end
return answer
