-- Granted holds that nobody has taken yet, by lane, and the wake-ups for who may take them.

local wakes = {}

-- Ready: the hold can be claimed from its lane from here on.
local function ready(task, lane, priority, place)
  -- 0 - priority, because the negation of 0 would be stored as -0.
  local member = string.rep('0', 19 - #place) .. place .. ':' .. task
  redis.call('ZADD', READY .. lane, 0 - tonumber(priority), member)
  -- The version goes first: whoever knows it must never miss a lane that a dying script listed.
  if not wakes[lane] and not redis.call('ZSCORE', LANES, lane) then
    redis.call('INCR', LANES_VERSION)
    redis.call('ZADD', LANES, 0, lane)
  end
  wakes[lane] = (wakes[lane] or 0) + 1
end

-- A lane without ready holds is not listed and wakes nobody.
local function close_if_empty(lane)
  if redis.call('EXISTS', READY .. lane) == 1 then return end
  if redis.call('ZSCORE', LANES, lane) then
    redis.call('INCR', LANES_VERSION)
    redis.call('ZREM', LANES, lane)
  end
  redis.call('DEL', WAKE .. lane)
  wakes[lane] = nil
end

-- Unready: the hold cannot be claimed any more.
local function unready(task, lane, place)
  local member = string.rep('0', 19 - #place) .. place .. ':' .. task
  redis.call('ZREM', READY .. lane, member)
  close_if_empty(lane)
end

-- Pushes what `ready` has gathered: one wake-up wakes one process. Called once, at the end of a script. A script
-- that dies before loses hints only.
local function push_wakes()
  for lane, count in pairs(wakes) do
    local room = math.min(count, 64 - redis.call('LLEN', WAKE .. lane))
    for _ = 1, room do redis.call('RPUSH', WAKE .. lane, '') end
  end
end

local function wake_admission()
  if redis.call('LLEN', ADMISSION_WAKE) < 16 then redis.call('RPUSH', ADMISSION_WAKE, '') end
end
