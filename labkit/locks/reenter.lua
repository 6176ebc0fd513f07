-- reenter: takes the lock, or counts one more entry of the same owner
-- KEYS[1] the lock    ARGV[1] the owner   ARGV[2] the TTL, ms
-- the owner's number of entries, from 1 on; 0: somebody else holds it
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return 0
end
local entries = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then -- a re-entry never shortens the lease
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return entries
