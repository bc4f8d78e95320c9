#!lua flags=allow-oom
-- Works off marked promotions, then gives the owner up to `limit` granted holds of the lanes.
-- KEYS: {namespace}:epoch
-- ARGV: epoch, promotion limit, owner, limit (at most 100), the lanes version that the owner knows or '', lanes
-- Answer: {'refused', reason} | {'unlisted'} | {'ok', lanes version, lanes or false, task, entry, fence, …}
-- Died half-way: a claim drops what was taken and still shows in `ready`, and takes what was not. What was taken is
-- in the owner's registry: whoever was not told of it gives it back by move. Marks: claim or continuePromotions.
-- allow-oom: only what can be claimed is ever released.
-- include: epoch time hold ready promote heap heads fence

local OWNER, LIMIT, VERSION_KNOWN = ARGV[3], tonumber(ARGV[4]), ARGV[5]

local refused = refusal('open')
if refused then return { 'refused', refused } end
if not redis.call('ZSCORE', OWNERS, OWNER) then return { 'unlisted' } end

work_off_marks()

local lanes = {}
for i = 6, #ARGV do lanes[i - 5] = ARGV[i] end
local chosen, members = choose(lanes, LIMIT)
local taken, entries, registry = {}, {}, {}
for _, task in ipairs(chosen) do
  local hold = redis.call('HMGET', HOLD .. task, 'status', 'entry')
  if hold[1] == 'granted' and not entries[task] then
    taken[#taken + 1] = task
    entries[task] = hold[2]
    registry[#registry + 1] = '0'
    registry[#registry + 1] = task
  end
end

local answer = { 'ok', '', false }
if #taken > 0 then
  local fence_of = draw_fences(#taken)
  -- The registry comes before ownership: nothing is owned that the clean-up of its owner would not find.
  redis.call('ZADD', REGISTRY .. OWNER, unpack(registry))
  for i, task in ipairs(taken) do
    local fence = fence_of(i)
    redis.call('HSET', HOLD .. task, 'owner', OWNER, 'fence', fence, 'owned_at', called_at, 'status', 'owned')
    local at = #answer
    answer[at + 1], answer[at + 2], answer[at + 3] = task, entries[task], fence
  end
end
for _, lane in ipairs(lanes) do
  if #members[lane] > 0 then redis.call('ZREM', READY .. lane, unpack(members[lane])) end
  close_if_empty(lane)
end
push_wakes()

answer[2] = redis.call('GET', LANES_VERSION) or '0'
if answer[2] ~= VERSION_KNOWN then answer[3] = redis.call('ZRANGE', LANES, '0', '-1') end
return answer
