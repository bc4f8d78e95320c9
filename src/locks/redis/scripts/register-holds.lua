#!lua flags=allow-oom
-- Puts holds into the registry of the owner that has them, and lists that owner: so that its clean-up finds them.
-- KEYS: {namespace}:epoch
-- ARGV: epoch; for each hold: task, entry, owner
-- Answer: {'refused', reason} | {'ok', for each hold: registered | gone | stale}
-- Died half-way: register again.
-- include: epoch

local refused = refusal('open')
if refused then return { 'refused', refused } end

local function register(task, entry, owner)
  local hold = redis.call('HMGET', HOLD .. task, 'entry', 'owner')
  if not hold[1] then return 'gone' end
  if hold[1] ~= entry or hold[2] ~= owner then return 'stale' end
  redis.call('ZADD', OWNERS, '0', owner)
  redis.call('ZADD', REGISTRY .. owner, '0', task)
  return 'registered'
end

local answer = { 'ok' }
for i = 2, #ARGV, 3 do answer[#answer + 1] = register(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
return answer
