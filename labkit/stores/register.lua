-- register: makes this holder the one whose writes are accepted, unless a newer one is; comes before his first read
-- KEYS[1] the guard      ARGV[1] his fencing token   ARGV[2] the owner: the lease's own token, new for each grant
-- 1: he is, by this request or by an earlier copy of it      0: a newer holder is, or another one of the same token
local fence, owner = unpack(redis.call('HMGET', KEYS[1], 'fence', 'owner'))
if fence then -- compared as text: beyond 2^53 a number of Lua stands for several tokens
    local older = #ARGV[1] < #fence or (#ARGV[1] == #fence and ARGV[1] < fence)
    if older or (ARGV[1] == fence and ARGV[2] ~= owner) then
        return 0
    end
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'owner', ARGV[2])
return 1
