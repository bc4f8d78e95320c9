#!lua flags=allow-oom
-- Pushes one wake-up, where it can wake anybody for a reason.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, the lane to wake for, or '' for admission
-- Answer: {'ok'}
-- Died half-way: it writes once. It checks no epoch: a wake-up is a hint only.
-- include: ready

local LANE = ARGV[2]

if LANE == '' then
  wake_admission()
elseif redis.call('EXISTS', READY .. LANE) == 1 then
  wakes[LANE] = 1
  push_wakes()
end
return { 'ok' }
