-- Granted holds that nobody has taken yet, by lane, and the wake-ups for who may take them.

local wakes = {}

-- How a hold shows in the lane: by falling priority, then by place. Redis parses a text faster than it prints a number.
local function ready_score(priority)
  if priority == '0' then return '0' end
  return string.sub(priority, 1, 1) == '-' and string.sub(priority, 2) or '-' .. priority
end

local function ready_member(task, place)
  return string.rep('0', 19 - #place) .. place .. ':' .. task
end

-- The lane has ready holds from here on, `count` of them new. The version is raised first: whoever knows it must not
-- miss a lane that a dying script listed.
local function open_lane(lane, count)
  if not wakes[lane] and not redis.call('ZSCORE', LANES, lane) then
    redis.call('INCR', LANES_VERSION)
    redis.call('ZADD', LANES, '0', lane)
  end
  wakes[lane] = (wakes[lane] or 0) + count
end

-- Ready: the hold can be claimed from its lane from here on.
local function ready(task, lane, priority, place)
  redis.call('ZADD', READY .. lane, ready_score(priority), ready_member(task, place))
  open_lane(lane, 1)
end

-- A lane without ready holds wakes nobody and is not listed. It leaves the list last: a death before that is made
-- good by the next claim of the lane.
local function close_if_empty(lane)
  if redis.call('EXISTS', READY .. lane) == 1 then return end
  wakes[lane] = nil
  redis.call('DEL', WAKE .. lane)
  if redis.call('ZSCORE', LANES, lane) then
    redis.call('INCR', LANES_VERSION)
    redis.call('ZREM', LANES, lane)
  end
end

-- Unready: the hold cannot be claimed any more.
local function unready(task, lane, place)
  redis.call('ZREM', READY .. lane, ready_member(task, place))
  close_if_empty(lane)
end

-- Pushes what `ready` has gathered: one wake-up wakes one process. Called once, at the end of a script. A script
-- that dies before loses hints only.
local function push_wakes()
  for lane, count in pairs(wakes) do
    local room = math.min(count, 64 - redis.call('LLEN', WAKE .. lane))
    local pushed = {}
    for i = 1, room do pushed[i] = '' end
    if room > 0 then redis.call('RPUSH', WAKE .. lane, unpack(pushed)) end
  end
end

local function wake_admission()
  if redis.call('LLEN', ADMISSION_WAKE) < 16 then redis.call('RPUSH', ADMISSION_WAKE, '') end
end
