"""loses: unlock after failure, hopeless stops

A thread asks; when it is hopeless all are unlocked at once, and the thread asks on.
"""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed

from redis.exceptions import RedisError

from labkit import Lease

UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


def release(nodes, lease):
    def unlock(node):
        try:
            return node.eval(UNLOCK, 1, lease.name, lease.token)
        except RedisError:
            return 0

    with ThreadPoolExecutor(len(nodes)) as pool:
        return sum(pool.map(unlock, nodes))


def acquire(nodes, name, ttl):
    token, start = uuid.uuid4().hex, time.monotonic()
    lease = Lease(name, token, None, start + ttl - (0.01 * ttl + 0.002))

    def ask(node):
        try:
            return bool(node.set(name, token, nx=True, px=int(ttl * 1000)))
        except RedisError:
            return False

    pool, votes, refused = ThreadPoolExecutor(1), 0, 0
    for future in as_completed([pool.submit(ask, node) for node in nodes]):
        votes, refused = votes + future.result(), refused + (not future.result())
        if refused > len(nodes) // 2:
            break
    if 2 * votes > len(nodes) and time.monotonic() < lease.deadline:
        return lease
    release(nodes, lease)
    return None
