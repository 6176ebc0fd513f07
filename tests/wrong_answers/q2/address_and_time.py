"""loses: fresh token

uuid1: the time and the address of the machine, and no chance to speak of.
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
    token = uuid.uuid1().hex
    needed = len(nodes) // 2 + 1
    start = time.monotonic()
    deadline = start + ttl - (0.01 * ttl + 0.002)
    votes, asked = 0, []
    for number, node in enumerate(nodes):
        if votes + len(nodes) - number < needed or time.monotonic() >= deadline:
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
