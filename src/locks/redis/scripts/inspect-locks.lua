#!lua flags=no-writes
-- Who has the locks of some resources and who queues for them.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, how many waiters to show of each, resources
-- Answer: {'refused', reason} | {'ok', for each resource: {kind of its lock: none | string | set, how many wait,
--   {task, entry, owner, fence, entered at, granted at, owned at, …}, {waiter, …}}}, shorter when the call became too long
-- include: epoch

local most_holders, enough = 1000, 1000

local refused = refusal('open')
if refused then return { 'refused', refused } end

local function holders_of(resource, kind)
  if kind == 'none' then return {} end
  if kind == 'string' then return { redis.call('GET', LOCK .. resource) } end
  if redis.call('SCARD', LOCK .. resource) <= most_holders then return redis.call('SMEMBERS', LOCK .. resource) end
  return redis.call('SRANDMEMBER', LOCK .. resource, most_holders)
end

local answer, shown = { 'ok' }, 0
for i = 3, #ARGV do
  if shown >= enough then break end
  local resource = ARGV[i]
  local kind = redis.call('TYPE', LOCK .. resource).ok
  local holders = {}
  for _, task in ipairs(holders_of(resource, kind)) do
    local hold = redis.call('HMGET', HOLD .. task, 'entry', 'owner', 'fence', 'entered_at', 'granted_at', 'owned_at')
    holders[#holders + 1] = task
    for field = 1, 6 do holders[#holders + 1] = hold[field] end
  end
  local waiters = {}
  if tonumber(ARGV[2]) > 0 then waiters = redis.call('ZRANGE', QUEUE .. resource, 0, ARGV[2] - 1) end
  answer[#answer + 1] = { kind, redis.call('ZCARD', QUEUE .. resource), holders, waiters }
  shown = shown + #holders / 7 + #waiters
end
return answer
