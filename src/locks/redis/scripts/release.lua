#!lua flags=allow-oom
-- Releases owned holds: each lock goes to whoever queues for it, and the hold is deleted.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit; for each hold: task, entry, owner
-- Answer: {'refused', reason} | {'ok', for each hold: released | gone | stale}, shorter when the call became too long
-- Died half-way: the hold is `entering`, so that no move hands it out. Release again.
-- include: epoch time hold ready promote dissolve

local refused = refusal('open')
if refused then return { 'refused', refused } end

local function release(task, entry, owner)
  local hold = redis.call('HMGET', HOLD .. task, 'entry', 'owner', 'exclusive', 'shared', 'busy')
  local answer = 'released'
  if not hold[1] then
    answer = 'gone'
  elseif hold[2] ~= owner then
    answer = 'stale'
  elseif hold[1] ~= entry then
    return 'stale'
  else
    begin_to_dissolve(task)
    dissolve(task, hold[3], hold[4], hold[5], false)
  end
  redis.call('ZREM', REGISTRY .. owner, task)
  return answer
end

local answer = { 'ok' }
for i = 3, #ARGV, 3 do
  if is_full() then break end
  answer[#answer + 1] = release(ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
push_wakes()
return answer
