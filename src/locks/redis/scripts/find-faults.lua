#!lua flags=no-writes
-- A page of what leads to no hold in one place: the lock or queue of a resource, the ready holds of a lane, what a task waits for.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, 0, place (lock | queue | ready | waits), name, cursor (0 for the first page)
-- Answer: {'refused', reason} | {'ok', next cursor, member, stalled (0 | 1), …}
-- include: epoch time hold ready promote faults

local PLACE, NAME, CURSOR = ARGV[3], ARGV[4], ARGV[5]
local prefixes = { lock = LOCK, queue = QUEUE, ready = READY, waits = WAITS }

local refused = refusal('open')
if refused then return { 'refused', refused } end

local key = prefixes[PLACE] .. NAME
local kind = redis.call('TYPE', key).ok
local answer = { 'ok', '0' }
local function judge(member, detail)
  if sound[PLACE](NAME, member, detail) then return end
  answer[#answer + 1] = member
  answer[#answer + 1] = 0
end

if PLACE == 'waits' then
  if kind ~= 'none' then judge('') end
elseif kind == 'string' then
  judge(redis.call('GET', key), true)
elseif kind == 'set' then
  local page = redis.call('SSCAN', key, CURSOR, 'COUNT', 100)
  answer[2] = page[1]
  for _, member in ipairs(page[2]) do judge(member, false) end
elseif kind == 'zset' then
  local page = redis.call('ZSCAN', key, CURSOR, 'COUNT', 100)
  answer[2] = page[1]
  for i = 1, #page[2], 2 do judge(page[2][i], page[2][i + 1]) end
end
local head = PLACE == 'queue' and CURSOR == '0' and stalled_head(NAME)
if head then
  answer[#answer + 1] = head
  answer[#answer + 1] = 1
end
return answer
