-- Rule 1: which server and which epoch a script works on.

-- The server at hand. The run id changes with a restart, the replication id with a promotion: a master that was
-- demoted and promoted again keeps its run id and its clients' connections, and has lost writes.
local function identity()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%x+)') .. ':' .. string.match(info, 'master_replid:(%x+)')
end

-- Why the epoch sent is refused where `wanted` is its status, or nil.
local function refusal(wanted)
  local record = redis.call('HMGET', EPOCH, 'number', 'identity', 'status')
  if not record[1] then return 'none' end
  if record[1] ~= ARGV[1] then return 'other' end
  if record[2] ~= identity() then return 'identity' end
  if record[3] ~= wanted then return wanted == 'open' and 'building' or 'other' end
  return nil
end

-- Whether decimal string a is the smaller number. Neither has leading zeros, and both may exceed 2^53.
local function smaller(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
