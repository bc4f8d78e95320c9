-- The time of this call, by the server's clock: microseconds since 1970, as a decimal string.

local seconds_and_micros = redis.call('TIME')
local called_at = seconds_and_micros[1] .. string.rep('0', 6 - #seconds_and_micros[2]) .. seconds_and_micros[2]
