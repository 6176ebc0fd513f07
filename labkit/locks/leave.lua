-- leave: strikes out one entry, and frees the lock at the last; leaves a receipt for a repeated request
-- KEYS[1] the lock    KEYS[2] the receipt of this grant
-- ARGV[1] the grant's token   ARGV[2] the entry   ARGV[3] how long the receipt is kept, ms
-- {1, n}: left, by this request or by an earlier copy whose reply was lost; n entries remain
-- {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
    local released = redis.call('EXISTS', KEYS[2])
    return {released, released == 0 and redis.call('EXISTS', KEYS[1]) or 0}
end
redis.call('HDEL', KEYS[1], ARGV[2])
local remain = redis.call('HLEN', KEYS[1]) - 1 -- the owner's name is no entry
if remain == 0 then
    redis.call('SET', KEYS[2], '', 'PX', ARGV[3])
    redis.call('DEL', KEYS[1])
end
return {1, remain}
