-- The ready holds of several lanes as one list: by score, then place and task, then lane.

-- Strings are compared by their bytes: the operator < goes by the server's locale.
local function bytes_before(a, b)
  local i = 1
  while true do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x == nil or (y ~= nil and x < y) end
    if x == nil then return false end
    i = i + 1
  end
end

local function goes_before(a, b)
  if a.score ~= b.score then return a.score < b.score end
  if a.high ~= b.high then return a.high < b.high end
  if a.low ~= b.low then return a.low < b.low end
  if a.member ~= b.member then return bytes_before(a.member, b.member) end
  return bytes_before(a.name, b.name)
end

-- Puts the lane's first hold that was not chosen yet in `member`, or nil. Reads on where its page has ended: ranks
-- stand still, because a claim writes only after it has chosen.
local function advance(lane)
  if lane.at > #lane.page then
    local last = lane.read + lane.page_size - 1
    lane.page, lane.at = redis.call('ZRANGE', READY .. lane.name, lane.read, last, 'WITHSCORES'), 1
    lane.read = lane.read + lane.page_size
  end
  lane.member = lane.page[lane.at]
  if not lane.member or lane.is_alone then
    lane.at = lane.at + 2
    return
  end
  lane.score = tonumber(lane.page[lane.at + 1])
  -- Nineteen digits exceed what a number holds exactly, so the place is compared in two halves.
  lane.high, lane.low = tonumber(string.sub(lane.member, 1, 9)), tonumber(string.sub(lane.member, 10, 19))
  lane.at = lane.at + 2
end

-- Chooses up to `limit` ready holds, best first: an array of task ids, and per lane name the members chosen there.
local function choose(names, limit)
  local heap, tasks, members = {}, {}, {}
  for _, name in ipairs(names) do
    local lane = { name = name, chosen = {}, read = 0, page = {}, at = 1, is_alone = #names == 1 }
    lane.page_size = math.ceil(limit / #names)
    members[name] = lane.chosen
    if limit > 0 then advance(lane) end
    if lane.member then heap[#heap + 1] = lane end
  end
  heapify(heap, goes_before)
  while #tasks < limit and heap[1] do
    local best = heap[1]
    tasks[#tasks + 1] = string.sub(best.member, 21)
    best.chosen[#best.chosen + 1] = best.member
    advance(best)
    if not best.member then
      heap[1] = heap[#heap]
      heap[#heap] = nil
    end
    sift_down(heap, 1, goes_before)
  end
  return tasks, members
end
