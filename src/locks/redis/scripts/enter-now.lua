#!lua
-- Enters each hold as owned, now or not at all: never past a queue.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, owner; for each hold: task, entry, lane, priority, place, exclusive, shared
-- Answer: {'refused', reason} | {'unlisted'} | {'ok', for each hold: 'owned', fence | 'blocked', resource | 'present', ''}
-- Died half-way: the hold is `entering`, names its owner and is in its registry. release undoes it.
-- include: epoch time hold many fence entering

local OWNER = ARGV[2]

local refused = refusal('open')
if refused then return { 'refused', refused } end
if not redis.call('ZSCORE', OWNERS, OWNER) then return { 'unlisted' } end

local function first_blocked(names, exclusives)
  for i, name in ipairs(names) do
    if not free(name, i <= exclusives) then return name end
  end
  return nil
end

local answer = { 'ok' }
for i = 3, #ARGV, 7 do
  local task = ARGV[i]
  local status, detail = 'present', ''
  if redis.call('EXISTS', HOLD .. task) == 0 then
    local names, exclusives = resources_of(ARGV[i + 5], ARGV[i + 6])
    local blocked = first_blocked(names, exclusives)
    if blocked then
      status, detail = 'blocked', blocked
    else
      status, detail = 'owned', draw_fences(1)(1)
      local order = draw_order()
      redis.call('ZADD', REGISTRY .. OWNER, '0', task)
      write_entering(i, order, 'owner', OWNER, 'fence', detail)
      lock_all(task, names, exclusives)
      redis.call('HSET', HOLD .. task, 'status', 'owned', 'granted_at', called_at, 'owned_at', called_at)
    end
  end
  answer[#answer + 1] = status
  answer[#answer + 1] = detail
end
return answer
