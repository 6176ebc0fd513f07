"""loses: monotonic clock

Time is what time.time() says (E32).
"""

import time
import uuid

from redis.exceptions import RedisError

from labkit import Lease

UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


def release(nodes, lease):
    deleted = 0
    for node in nodes:
        try:
            deleted += node.eval(UNLOCK, 1, lease.name, lease.token)
        except RedisError:
            continue
    return deleted


def acquire(nodes, name, ttl):
    token = uuid.uuid4().hex
    needed = len(nodes) // 2 + 1
    start, limit = time.time(), ttl - (0.01 * ttl + 0.002)
    votes, asked = 0, []
    for number, node in enumerate(nodes):
        if votes + len(nodes) - number < needed or time.time() - start >= limit:
            break
        asked.append(node)
        try:
            votes += bool(node.set(name, token, nx=True, px=int(ttl * 1000)))
        except RedisError:
            continue
    left = limit - (time.time() - start)
    if votes >= needed and left > 0:
        return Lease(name, token, None, time.monotonic() + left)
    release(asked, Lease(name, token, None, 0.0))
    return None
