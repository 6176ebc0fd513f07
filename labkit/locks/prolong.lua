-- prolong: gives the lock a full TTL again if the owner is in it
-- KEYS[1] the lock    ARGV[1] the owner   ARGV[2] the TTL, ms
-- {1, 0}: prolonged     {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return {0, redis.call('EXISTS', KEYS[1])}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {1, 0}
