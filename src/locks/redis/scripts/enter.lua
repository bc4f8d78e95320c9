#!lua
-- Enters the holds of waiting tasks: each takes what is free of its resources and queues for the others.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit, pass; for each hold: task, entry, lane, priority, place, exclusive, shared
-- Answer: {'refused', reason} | {'older-pass'} | {'ok', for each hold: granted | queued | already | busy | newer}
-- Died half-way: holds are `entering`. Entering them again redoes them from the start; takeOut takes them out.
-- include: epoch time hold ready promote many dissolve entering place

local PASS_SENT = ARGV[3]

local refused = refusal('open')
if refused then return { 'refused', refused } end
local pass = redis.call('GET', PASS) or '0'
if smaller(PASS_SENT, pass) then return { 'older-pass' } end
if PASS_SENT ~= pass then redis.call('SET', PASS, PASS_SENT) end

local function enter_new(i)
  local task, order = ARGV[i], draw_order()
  write_entering(i, order)
  local names, exclusives = resources_of(ARGV[i + 5], ARGV[i + 6])
  if not take_or_queue(task, names, exclusives, order) then
    redis.call('HSET', HOLD .. task, 'status', 'queued')
    return 'queued'
  end
  grant(task, ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  return 'granted'
end

local function enter(i)
  local task, entry = ARGV[i], tonumber(ARGV[i + 1])
  if redis.call('EXISTS', HOLD .. task) == 0 then return enter_new(i) end
  local there = redis.call('HMGET', HOLD .. task, 'entry', 'status', 'owner')
  local entry_there = tonumber(there[1])
  if entry_there < entry then
    redis.call('HSET', HOLD .. task, 'busy', '1')
    return 'busy'
  end
  if entry_there > entry then return 'newer' end
  if there[2] ~= 'entering' or is_owned(there[3]) then return 'already' end
  -- Nothing is kept: a hold that is before others on one resource and behind them on another could wait for them while
  -- they wait for it.
  dissolve_unowned(task)
  return enter_new(i)
end

local answer = { 'ok' }
for i = 4, #ARGV, 7 do answer[#answer + 1] = enter(i) end
push_wakes()
return answer
