#!lua flags=no-writes
-- A page of the listed owners whose texts lie in a range, in order.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, the range as ZRANGEBYLEX takes it: from, to; limit
-- Answer: {'refused', reason} | {'ok', owner, …}
-- include: epoch

local refused = refusal('open')
if refused then return { 'refused', refused } end
local owners = redis.call('ZRANGEBYLEX', OWNERS, ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
table.insert(owners, 1, 'ok')
return owners
