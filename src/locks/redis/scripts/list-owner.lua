#!lua flags=allow-oom
-- Lists an owner: from here on it may claim.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, owner
-- Answer: {'refused', reason} | {'ok'}
-- Died half-way: it writes once.
-- allow-oom: a full table is emptied by those who claim and release.
-- include: epoch

local refused = refusal('open')
if refused then return { 'refused', refused } end
redis.call('ZADD', OWNERS, '0', ARGV[2])
return { 'ok' }
