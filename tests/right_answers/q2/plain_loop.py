"""One node after the other, each at most as long as its client waits; a loop that stops when there is no hope."""

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
    lease = Lease(name, token, None, start + ttl - (0.01 * ttl + 0.002))
    votes, asked = 0, []
    for number, node in enumerate(nodes):
        if votes + len(nodes) - number < needed or time.monotonic() >= lease.deadline:
            break
        asked.append(node)
        try:
            if node.set(name, token, nx=True, px=int(ttl * 1000)):
                votes += 1
        except RedisError:
            pass  # no answer, or an error: no vote
    if votes >= needed and time.monotonic() < lease.deadline:
        return lease
    release(asked, lease)
    return None
