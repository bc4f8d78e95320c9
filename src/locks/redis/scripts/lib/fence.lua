-- Fences: (epoch, counter) in a fixed width, so that their texts compare like the numbers.

-- Draws `count` fences at once. Returns a function that gives the text of the first, the second, …
local function draw_fences(count)
  local before = redis.call('INCRBY', FENCE, count) - count
  local epoch = string.rep('0', 12 - #ARGV[1]) .. ARGV[1]
  return function(i)
    return string.format('%s%016d', epoch, before + i)
  end
end
