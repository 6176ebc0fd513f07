-- release: deletes the lock if it is ours; leaves a receipt for a repeated request
-- KEYS[1] the lock    KEYS[2] the receipt of this grant
-- ARGV[1] our token   ARGV[2] how long the receipt is kept, ms
-- {1, 0}: released, by this request or by an earlier copy whose reply was lost
-- {0, 0}: nobody holds it, it had expired      {0, 1}: somebody else holds it
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
    redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
    redis.call('DEL', KEYS[1])
    return {1, 0}
end
return {redis.call('EXISTS', KEYS[2]), holder and 1 or 0}
