#!lua flags=allow-oom
-- Moves owned holds to their tasks' next entry: unowned, granted, with their locks and their place. The end of a give-back.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit; for each move: task, entry, owner, next entry
-- Answer: {'refused', reason} | {'ok', for each move: moved | gone | stale}, shorter when the call became too long
-- Died half-way: move again. A claim drops the place in `ready` of a hold that still has its owner.
-- allow-oom: who gives back is about to leave, and its holds must not stay behind.
-- include: epoch time hold ready promote many dissolve

local refused = refusal('open')
if refused then return { 'refused', refused } end

local function move(task, entry, owner, next_entry)
  local hold = redis.call('HMGET', HOLD .. task, 'entry', 'owner', 'status', 'lane', 'priority', 'place', 'busy')
  local registry = REGISTRY .. owner
  if not hold[1] then
    redis.call('ZREM', registry, task)
    return 'gone'
  end
  local mine = hold[2] == owner
  if mine and hold[1] == entry and hold[3] == 'owned' then
    ready(task, hold[4], hold[5], hold[6])
    if hold[7] == '1' then wake_admission() end
    -- One write, so that no death of the script can leave it half moved.
    redis.call('HSET', HOLD .. task, 'entry', next_entry, 'status', 'granted', 'owner', '', 'fence', '',
      'owned_at', '', 'busy', '')
    redis.call('ZREM', registry, task)
    return 'moved'
  end
  if mine and hold[1] == entry and hold[3] == 'entering' then
    -- A release or an enterNow died half-way: some locks are missing, so nobody may run it.
    local lists = redis.call('HMGET', HOLD .. task, 'exclusive', 'shared')
    dissolve_owned(task, lists[1], lists[2], hold[7])
    redis.call('ZREM', registry, task)
    return 'gone'
  end
  if hold[1] == next_entry and not is_owned(hold[2]) and hold[3] == 'granted' then
    ready(task, hold[4], hold[5], hold[6])
    redis.call('ZREM', registry, task)
    return 'moved'
  end
  if not mine then redis.call('ZREM', registry, task) end
  return 'stale'
end

local answer = { 'ok' }
for i = 3, #ARGV, 4 do
  if is_full() then break end
  answer[#answer + 1] = move(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
end
push_wakes()
return answer
