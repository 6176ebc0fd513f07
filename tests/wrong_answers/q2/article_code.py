"""loses: validity, checked last, dead node harmless, all nodes asked, timeout is no vote, unlock after failure

The code of the article, in Python: it stops at a majority, an error gets out (E67), nothing is undone (E69), and what
is left of the TTL is told to nobody.
"""

import time
import uuid

UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"


def acquire(nodes, name, ttl):
    token = uuid.uuid4().hex
    deadline = time.time() + ttl * 0.8
    needed = len(nodes) // 2 + 1
    acquired, remaining = 0, len(nodes)
    for node in nodes:
        if acquired >= needed:
            break
        if acquired + remaining < needed:
            break
        if time.time() > deadline:
            break
        if node.set(name, token, nx=True, px=int(ttl * 1000)):
            acquired += 1
        remaining -= 1
    return acquired >= needed


def release(nodes, lease):
    return sum(node.eval(UNLOCK, 1, lease.name, lease.token) for node in nodes)
