#!lua flags=allow-oom
-- Takes out holds that nobody owns, of these entries or earlier ones: out of queues, locks and lanes.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit, pass, or 0 outside of one; for each hold: task, entry
-- Answer: {'refused', reason} | {'ok', for each hold: taken-out | gone | stale | owned}, shorter when the call became too long
-- Died half-way: the hold is `entering`. Take it out again, or enter it again.
-- include: epoch time hold ready promote many dissolve

local refused = refusal('open')
if refused then return { 'refused', refused } end
if smaller(redis.call('GET', PASS) or '0', ARGV[3]) then redis.call('SET', PASS, ARGV[3]) end

local function take_out(task, entry)
  local hold = redis.call('HMGET', HOLD .. task, 'entry', 'owner')
  if not hold[1] then return 'gone' end
  if tonumber(hold[1]) > tonumber(entry) then return 'stale' end
  if is_owned(hold[2]) then return 'owned' end
  dissolve_unowned(task)
  return 'taken-out'
end

local answer = { 'ok' }
for i = 4, #ARGV, 2 do
  if is_full() then break end
  answer[#answer + 1] = take_out(ARGV[i], ARGV[i + 1])
end
push_wakes()
return answer
