#!lua
-- Starts the keyspace of a new epoch as `building`, on this server. Every older epoch is refused from here on.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, format
-- Answer: {'begun'} | {'not-newer'}
-- Died half-way: it writes once.
-- include: epoch

local there = redis.call('HGET', EPOCH, 'number')
if there and not smaller(there, ARGV[1]) then return { 'not-newer' } end
redis.call('HSET', EPOCH, 'number', ARGV[1], 'format', ARGV[2], 'status', 'building', 'identity', identity())
return { 'begun' }
