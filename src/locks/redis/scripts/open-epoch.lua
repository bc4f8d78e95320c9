#!lua
-- Opens the epoch that was built.
-- KEYS: {namespace}:epoch
-- ARGV: epoch
-- Answer: {'refused', reason} | {'opened'} | {'not-building'}
-- Died half-way: it writes once.
-- include: epoch

local refused = refusal('building')
if refused then
  if refused == 'other' and redis.call('HGET', EPOCH, 'number') == ARGV[1] then return { 'not-building' } end
  return { 'refused', refused }
end
redis.call('HSET', EPOCH, 'status', 'open')
return { 'opened' }
