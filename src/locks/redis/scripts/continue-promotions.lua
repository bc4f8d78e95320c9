#!lua flags=allow-oom
-- Continues promotions that a bounded call left marked.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit
-- Answer: {'refused', reason} | {'ok', how many resources are still marked}
-- Died half-way: continue again. A mark is removed only when its queue has nobody left who could go on.
-- include: epoch time hold ready promote

local refused = refusal('open')
if refused then return { 'refused', refused } end
work_off_marks()
push_wakes()
return { 'ok', redis.call('ZCARD', MARKS) }
