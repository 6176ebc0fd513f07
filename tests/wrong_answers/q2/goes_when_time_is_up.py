"""loses: unlock after failure

The deadline has passed in the middle of the round: it leaves at once, and undoes nothing.
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
    start = time.monotonic()
    deadline = start + ttl - (0.01 * ttl + 0.002)
    votes, asked = 0, []
    for number, node in enumerate(nodes):
        if time.monotonic() >= deadline:
            return None
        if votes + len(nodes) - number < needed:
            break
        asked.append(node)
        try:
            votes += bool(node.set(name, token, nx=True, px=int(ttl * 1000)))
        except RedisError:
            continue
    if votes >= needed and time.monotonic() < deadline:
        return Lease(name, token, None, deadline)
    release(asked, Lease(name, token, None, deadline))
    return None
