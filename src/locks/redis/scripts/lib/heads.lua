-- The ready holds of several lanes as one list: by score, then place and task, then lane.

local page_size = 100

-- Reads on in a lane. Ranks stand still, because a claim writes only after it has chosen.
local function read_page(lane)
  local got = redis.call('ZRANGE', READY .. lane.name, lane.read, lane.read + page_size - 1, 'WITHSCORES')
  lane.read = lane.read + #got / 2
  lane.page, lane.at = got, 1
end

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

-- Puts the lane's first hold that was not chosen yet in `member`, or nil.
local function advance(lane)
  if lane.at > #lane.page then read_page(lane) end
  lane.member = lane.page[lane.at]
  if not lane.member then return end
  lane.score = tonumber(lane.page[lane.at + 1])
  -- Nineteen digits exceed what a number holds exactly, so the place is compared in two halves.
  lane.high, lane.low = tonumber(string.sub(lane.member, 1, 9)), tonumber(string.sub(lane.member, 10, 19))
  lane.at = lane.at + 2
end

local function goes_before(a, b)
  if a.score ~= b.score then return a.score < b.score end
  if a.high ~= b.high then return a.high < b.high end
  if a.low ~= b.low then return a.low < b.low end
  if a.member ~= b.member then return bytes_before(a.member, b.member) end
  return bytes_before(a.name, b.name)
end

-- Chooses up to `limit` ready holds, best first: an array of task ids, and per lane name the members chosen there.
local function choose(names, limit)
  local lanes, tasks, members = {}, {}, {}
  if #names > 1 then page_size = 16 end
  for i, name in ipairs(names) do
    members[name] = {}
    lanes[i] = { name = name, chosen = members[name], read = 0, page = {}, at = 1 }
    if limit > 0 then advance(lanes[i]) end
  end
  while #tasks < limit do
    local best
    for _, lane in ipairs(lanes) do
      if lane.member and (not best or goes_before(lane, best)) then best = lane end
    end
    if not best then break end
    tasks[#tasks + 1] = string.sub(best.member, 21)
    best.chosen[#best.chosen + 1] = best.member
    advance(best)
  end
  return tasks, members
end
