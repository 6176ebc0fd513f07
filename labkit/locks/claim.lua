-- claim: takes the lock without end, or under a token that others may carry too; a receipt tells this try from theirs
-- KEYS[1] the lock    KEYS[2] the receipt of this try    KEYS[3] the receipt of an earlier release under this token
-- ARGV[1] the token   ARGV[2] how long a receipt is kept, ms   ARGV[3] the TTL, ms; 0: it never runs out
-- 1: granted, by this request or by an earlier copy whose reply was lost      0: somebody holds it
local holder = redis.call('GET', KEYS[1])
if holder then
    return holder == ARGV[1] and redis.call('EXISTS', KEYS[2]) or 0
end
redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
redis.call('DEL', KEYS[3])
if ARGV[3] == '0' then
    redis.call('SET', KEYS[1], ARGV[1])
else
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
end
return 1
