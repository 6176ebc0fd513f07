-- leave: counts one entry of the owner less, and frees the lock at none
-- KEYS[1] the lock    ARGV[1] the owner
-- {1, 0}: left     {0, 0}: nobody holds it, it had expired     {0, 1}: somebody else holds it
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return {0, redis.call('EXISTS', KEYS[1])}
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) <= 0 then
    redis.call('DEL', KEYS[1])
end
return {1, 0}
