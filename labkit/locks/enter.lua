-- enter: takes the lock, or notes one more entry of the grant that has it; the same entry is never noted twice
-- KEYS[1] the lock    ARGV[1] the grant's token   ARGV[2] the entry   ARGV[3] the TTL, ms
-- ARGV[4] 'first': take the lock if nobody has it     'again': only if this grant has it
-- 1: we are in     0: somebody else is, or with 'again' nobody
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner ~= ARGV[1] and (ARGV[4] == 'again' or redis.call('EXISTS', KEYS[1]) == 1) then
    return 0
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], ARGV[2], '')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then -- a re-entry never shortens the lease
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
