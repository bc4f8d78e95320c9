#!lua flags=allow-oom
-- Removes what leads to no hold, and promotes whoever it kept waiting. What leads to one by now stays.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit; for each fault: place (lock | queue | ready | waits), name, member, stalled (0 | 1)
-- Answer: {'refused', reason} | {'ok', for each fault: mended | gone | sound}
-- Died half-way: mend again. What was removed without being handed on is found as stalled.
-- include: epoch time hold ready promote faults

local refused = refusal('open')
if refused then return { 'refused', refused } end

local mend = {}

function mend.lock(name, task)
  local kind = redis.call('TYPE', LOCK .. name).ok
  local exclusive = kind == 'string'
  if exclusive and redis.call('GET', LOCK .. name) ~= task then return 'gone' end
  if not exclusive and (kind ~= 'set' or redis.call('SISMEMBER', LOCK .. name, task) == 0) then return 'gone' end
  if sound.lock(name, task, exclusive) then return 'sound' end
  if exclusive then redis.call('DEL', LOCK .. name) else redis.call('SREM', LOCK .. name, task) end
  promote(name)
  return 'mended'
end

function mend.queue(name, member)
  local order = redis.call('ZSCORE', QUEUE .. name, member)
  if not order then return 'gone' end
  if sound.queue(name, member, order) then return 'sound' end
  redis.call('ZREM', QUEUE .. name, member)
  promote(name)
  return 'mended'
end

function mend.ready(name, member)
  if not redis.call('ZSCORE', READY .. name, member) then return 'gone' end
  if sound.ready(name, member) then return 'sound' end
  redis.call('ZREM', READY .. name, member)
  close_if_empty(name)
  return 'mended'
end

function mend.waits(name)
  if redis.call('EXISTS', WAITS .. name) == 0 then return 'gone' end
  if sound.waits(name) then return 'sound' end
  redis.call('DEL', WAITS .. name)
  return 'mended'
end

local answer = { 'ok' }
for i = 3, #ARGV, 4 do
  local place, name, member = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if ARGV[i + 3] == '0' then
    answer[#answer + 1] = mend[place](name, member)
  elseif stalled_head(name) == member then
    promote(name)
    answer[#answer + 1] = 'mended'
  else
    answer[#answer + 1] = 'gone'
  end
end
push_wakes()
return answer
