#!lua flags=no-writes
-- Reads the epoch record, whatever its state.
-- KEYS: {namespace}:epoch
-- ARGV: nothing that counts
-- Answer: {'none'} | {'ok', number, format, status, identity, whether this server has that identity: 1 | 0}
-- include: epoch

local record = redis.call('HMGET', EPOCH, 'number', 'format', 'status', 'identity')
if not record[1] then return { 'none' } end
return { 'ok', record[1], record[2], record[3], record[4], record[4] == identity() and 1 or 0 }
