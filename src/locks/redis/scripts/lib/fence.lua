-- Fences: (epoch, counter) in a fixed width, so that their texts compare like the numbers.

local function padded(digits, width)
  return string.rep('0', width - #digits) .. digits
end

-- Draws `count` fences at once. Returns a function that gives the text of the first, the second, …
local function draw_fences(count)
  local before = redis.call('INCRBY', FENCE, count) - count
  return function(i)
    return padded(ARGV[1], 12) .. padded(string.format('%.0f', before + i), 16)
  end
end
