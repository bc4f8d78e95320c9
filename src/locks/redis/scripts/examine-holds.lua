#!lua flags=no-writes
-- Holds, and of each the first thing that it lacks.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, 0, tasks
-- Answer: {'refused', reason} | {'ok', for each task: {} | {entry, status, owner, entered at, granted at, owned at,
--   fault ('' | entering | unregistered | not-ready | lacks), resource}}, shorter when the call became too long
-- include: epoch time hold ready

local enough = 500

local refused = refusal('open')
if refused then return { 'refused', refused } end

local function has(task, name, exclusive)
  local kind = redis.call('TYPE', LOCK .. name).ok
  if exclusive then return kind == 'string' and redis.call('GET', LOCK .. name) == task end
  return kind == 'set' and redis.call('SISMEMBER', LOCK .. name, task) == 1
end

-- A resource that the hold neither has nor waits for, as its status tells.
local function lacking(task, status, exclusive, shared)
  local names, exclusives = resources_of(exclusive, shared)
  local queued = status == 'queued'
  for i, name in ipairs(names) do
    local waits = redis.call('SISMEMBER', WAITS .. task, name) == 1
    if has(task, name, i <= exclusives) == waits then return name, #names end
    if waits and not queued then return name, #names end
    if waits and not redis.call('ZSCORE', QUEUE .. name, waiter(task, i <= exclusives)) then return name, #names end
  end
  if queued and redis.call('EXISTS', WAITS .. task) == 0 then return '', #names end
  return nil, #names
end

local examined = 0
local function examine(task)
  local hold = redis.call('HMGET', HOLD .. task, 'entry', 'status', 'owner', 'entered_at', 'granted_at', 'owned_at',
    'exclusive', 'shared', 'lane', 'place')
  if not hold[1] then return {} end
  local function answer(fault, resource)
    return { hold[1], hold[2], hold[3], hold[4], hold[5], hold[6], fault, resource or '' }
  end
  if hold[2] == 'entering' then return answer('entering') end
  if is_owned(hold[3]) then
    local listed = redis.call('ZSCORE', OWNERS, hold[3])
    if not listed or not redis.call('ZSCORE', REGISTRY .. hold[3], task) then return answer('unregistered') end
  elseif hold[2] == 'granted' then
    local listed = redis.call('ZSCORE', LANES, hold[9])
    local member = ready_member(task, hold[10])
    if not listed or not redis.call('ZSCORE', READY .. hold[9], member) then return answer('not-ready') end
  end
  local resource, count = lacking(task, hold[2], hold[7], hold[8])
  examined = examined + count
  return answer(resource and 'lacks' or '', resource)
end

local answer = { 'ok' }
for i = 3, #ARGV do
  if examined >= enough then break end
  answer[#answer + 1] = examine(ARGV[i])
end
return answer
