-- withdraw: undoes a claim whose outcome is not known; what others hold under the same token stays
-- KEYS[1] the lock   KEYS[2] the receipt of the claim   ARGV[1] the token
-- 1: the lock was ours and is free now     0: there was nothing to undo
if redis.call('EXISTS', KEYS[2]) == 1 and redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
