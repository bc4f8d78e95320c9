#!lua flags=allow-oom
-- Releases owned holds: each lock goes to whoever queues for it, and the hold is deleted.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit; for each hold: task, entry, owner
-- Answer: {'refused', reason} | {'ok', for each hold: released | gone | stale}, shorter when the call became too long
-- Died half-way: the hold is `entering`, so that no move hands it out. Release again.
-- include: epoch time hold ready promote many dissolve

local refused = refusal('open')
if refused then return { 'refused', refused } end

local let_go = {}

-- The registry goes last, for all holds of an owner at once: until then a release that died is found and repeated.
local function drop_from_registry(task, owner)
  local tasks = let_go[owner] or {}
  let_go[owner] = tasks
  tasks[#tasks + 1] = task
end

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
    dissolve_owned(task, hold[3], hold[4], hold[5])
  end
  drop_from_registry(task, owner)
  return answer
end

local answer = { 'ok' }
for i = 3, #ARGV, 3 do
  if is_full() then break end
  answer[#answer + 1] = release(ARGV[i], ARGV[i + 1], ARGV[i + 2])
end
-- At most 100 holds come in one call.
for owner, tasks in pairs(let_go) do redis.call('ZREM', REGISTRY .. owner, unpack(tasks)) end
push_wakes()
return answer
