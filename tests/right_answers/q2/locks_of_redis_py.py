"""redis-py's own lock on each node: it sets NX PX under a given token, and releases by a script."""

import os
import time

from redis.exceptions import RedisError

from labkit import Lease


def lock_of(node, name, ttl):
    return node.lock(name, timeout=ttl, blocking=False, thread_local=False)


def acquire(nodes, name, ttl):
    start = time.monotonic()
    lease = Lease(name, os.urandom(16).hex(), None, start + ttl - 0.01 * ttl - 0.002)
    votes, lost, asked = 0, 0, []
    for node in nodes:
        if lost > len(nodes) // 2 or time.monotonic() >= lease.deadline:
            break
        asked.append(node)
        try:
            got = lock_of(node, name, ttl).acquire(token=lease.token)
        except RedisError:
            got = False
        votes, lost = votes + got, lost + (not got)
    if votes <= len(nodes) // 2 or time.monotonic() >= lease.deadline:
        release(asked, lease)
        return None
    return lease


def release(nodes, lease):
    count = 0
    for node in nodes:
        try:
            lock_of(node, lease.name, 10).do_release(lease.token)
            count += 1
        except RedisError:  # LockError is one
            pass
    return count
