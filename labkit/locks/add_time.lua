-- add_time: more time on top of what is left, if the lock is ours; a repeated request adds nothing
-- KEYS[1] the lock    KEYS[2] the receipt of this call
-- ARGV[1] our token   ARGV[2] the time to add, ms   ARGV[3] how long the receipt is kept, ms
-- {1, 0}: it has that time     {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then
    return {0, holder and 1 or 0}
end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1], left + tonumber(ARGV[2]))
end
return {1, 0}
