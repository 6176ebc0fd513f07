-- write: changes the value if this holder is the one who has registered last
-- KEYS[1] the guard    KEYS[2] the value
-- ARGV[1] his fencing token   ARGV[2] the owner: the lease's own token   ARGV[3] the new value
-- 1: written     0: refused, nothing has changed
local fence, owner = unpack(redis.call('HMGET', KEYS[1], 'fence', 'owner'))
if fence ~= ARGV[1] or owner ~= ARGV[2] then
    return 0
end
redis.call('SET', KEYS[2], ARGV[3])
return 1
