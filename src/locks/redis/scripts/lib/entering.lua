-- Writing a hold that came in, from its seven arguments at ARGV[i]:
-- task, entry, lane, priority, place, exclusive, shared.

-- The next order, as a text: a number that a command is given costs it more than the command.
local function draw_order()
  return string.format('%d', redis.call('INCR', ORDER))
end

-- The hold is `entering` until the last write of its entering, and holds nothing before this one. Further fields
-- are given in pairs.
local function write_entering(i, order, ...)
  redis.call('HSET', HOLD .. ARGV[i], 'entry', ARGV[i + 1], 'status', 'entering', 'lane', ARGV[i + 2],
    'priority', ARGV[i + 3], 'place', ARGV[i + 4], 'order', order, 'exclusive', ARGV[i + 5], 'shared', ARGV[i + 6],
    'entered_at', called_at, ...)
end
