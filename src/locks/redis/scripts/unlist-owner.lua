#!lua flags=allow-oom
-- Unlists an owner that holds nothing.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, owner
-- Answer: {'refused', reason} | {'unlisted'} | {'still-holds'}
-- Died half-way: it writes once.
-- include: epoch

local refused = refusal('open')
if refused then return { 'refused', refused } end
if redis.call('EXISTS', REGISTRY .. ARGV[2]) == 1 then return { 'still-holds' } end
redis.call('ZREM', OWNERS, ARGV[2])
return { 'unlisted' }
