#!lua
-- Enters the holds of waiting tasks: each takes what is free of its resources and queues for the others.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit, pass; for each hold: task, entry, lane, priority, place, exclusive, shared
-- Answer: {'refused', reason} | {'older-pass'} | {'ok', for each hold: granted | queued | already | busy | newer}
-- Died half-way: the hold is `entering`. Entering it again redoes it; takeOut takes it out.
-- include: epoch time hold ready promote entering place

local PASS_SENT = ARGV[3]

local refused = refusal('open')
if refused then return { 'refused', refused } end
if smaller(PASS_SENT, redis.call('GET', PASS) or '0') then return { 'older-pass' } end
redis.call('SET', PASS, PASS_SENT)

local function enter_new(i)
  local task, order = ARGV[i], redis.call('INCR', ORDER)
  write_entering(i, order, '', '')
  local status = take_or_queue(task, ARGV[i + 5], ARGV[i + 6], order)
  if status == 'granted' then
    grant(task, ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
  else
    redis.call('HSET', HOLD .. task, 'status', 'queued')
  end
  return status
end

local answer = { 'ok' }
for i = 4, #ARGV, 7 do
  local task, entry = ARGV[i], tonumber(ARGV[i + 1])
  local there = redis.call('HMGET', HOLD .. task, 'entry', 'status', 'owner')
  local entry_there = tonumber(there[1] or '')
  local status = 'already'
  if not entry_there then
    status = enter_new(i)
  elseif entry_there < entry then
    redis.call('HSET', HOLD .. task, 'busy', '1')
    status = 'busy'
  elseif entry_there > entry then
    status = 'newer'
  elseif there[2] == 'entering' and there[3] == '' then
    status = redo(task)
  end
  answer[#answer + 1] = status
end
push_wakes()
return answer
