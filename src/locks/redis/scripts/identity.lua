#!lua flags=no-writes
-- Tells which server this is: whether scripts may ask at all.
-- KEYS: {namespace}:epoch
-- ARGV: nothing that counts
-- Answer: {'ok', identity}
-- include: epoch

return { 'ok', identity() }
