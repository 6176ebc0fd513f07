-- prolong: gives the lock a full TTL again if this grant has it; never a shorter one
-- KEYS[1] the lock    ARGV[1] the grant's token   ARGV[2] the TTL, ms
-- {1, 0}: prolonged     {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
    return {0, redis.call('EXISTS', KEYS[1])}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {1, 0}
