-- Takes an owner off the list, unless its registry has an entry: one that was left, or a new one.
-- KEYS: the owner's registry, the list of owners
-- ARGV: owner, 'release' or 'look'
-- Answer: 1 where it was listed and may go, else 0
local REGISTRY, OWNERS, OWNER = KEYS[1], KEYS[2], ARGV[1]

if ARGV[2] == 'look' then return redis.call('SISMEMBER', OWNERS, OWNER) end
if redis.call('EXISTS', REGISTRY) == 1 then return 0 end
return redis.call('SREM', OWNERS, OWNER)
