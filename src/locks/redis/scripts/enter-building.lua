#!lua
-- Enters holds while the epoch is being built: owned ones as owned, the others as granted. There are no queues yet.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit; for each hold: task, entry, lane, priority, place, exclusive, shared, owner, fence
-- Answer: {'refused', reason} | {'ok', for each hold: 'entered', '' | 'conflict', resource}
-- Died half-way: the hold is `entering`. Entering it again redoes it.
-- include: epoch time hold ready promote many entering

local refused = refusal('building')
if refused then return { 'refused', refused } end

local function first_conflict(task, names, exclusives)
  for i, name in ipairs(names) do
    if not compatible(name, i <= exclusives, task) then return name end
  end
  return nil
end

local function enter_whole(i, order, names, exclusives)
  local task, owner = ARGV[i], ARGV[i + 7]
  if owner ~= '' then
    redis.call('ZADD', OWNERS, '0', owner)
    redis.call('ZADD', REGISTRY .. owner, '0', task)
  end
  write_entering(i, order, 'owner', owner, 'fence', ARGV[i + 8])
  lock_all(task, names, exclusives)
  if owner ~= '' then
    redis.call('HSET', HOLD .. task, 'status', 'owned', 'granted_at', called_at, 'owned_at', called_at)
  else
    grant(task, ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  end
end

local answer = { 'ok' }
for i = 3, #ARGV, 9 do
  local task = ARGV[i]
  local names, exclusives = resources_of(ARGV[i + 5], ARGV[i + 6])
  local there = redis.call('HMGET', HOLD .. task, 'entry', 'status', 'order', 'exclusive', 'shared')
  local conflict
  if there[1] and there[1] ~= ARGV[i + 1] then
    conflict = resources_of(there[4], there[5])[1] or ''
  elseif not there[1] or there[2] == 'entering' then
    conflict = first_conflict(task, names, exclusives)
    if not conflict then enter_whole(i, there[3] or draw_order(), names, exclusives) end
  end
  answer[#answer + 1] = conflict and 'conflict' or 'entered'
  answer[#answer + 1] = conflict or ''
end
push_wakes()
return answer
