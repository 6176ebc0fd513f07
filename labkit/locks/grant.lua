-- grant: takes the lock if it is free, and mints its fencing token in the same step
-- KEYS[1] the lock   KEYS[2] the counter      ARGV[1] our token   ARGV[2] the TTL, ms
-- the fencing token as text: granted, by this request or by an earlier copy whose reply was lost
-- nil: somebody else holds it      an error NOCOUNTER: there is no token, and nothing has been locked by this request
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
    return false
end
if not holder then -- what may fail comes first: a script that fails is not rolled back
    local minted = redis.pcall('INCR', KEYS[2])
    if type(minted) == 'table' or minted < 1 then -- an error comes as a table
        return redis.error_reply('NOCOUNTER INCR gives no number above zero')
    end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
-- as text: a number of Lua is exact up to 2^53 only. While the lock is ours nobody else counts
return redis.call('GET', KEYS[2]) or redis.error_reply('NOCOUNTER it is gone')
