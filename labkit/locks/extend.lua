-- extend: gives the lock a full TTL again if it is ours
-- KEYS[1] the lock   ARGV[1] our token   ARGV[2] the TTL, ms
-- {1, 0}: extended     {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
    return {redis.call('PEXPIRE', KEYS[1], ARGV[2]), 0}
end
return {0, holder and 1 or 0}
