"""A thread a node, and a mailbox: it stops waiting as soon as the outcome is certain; all have been asked by then."""

import queue
import secrets
import threading
import time

from redis.exceptions import RedisError

from labkit import Lease

LUA = "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('del', KEYS[1])"


def fan_out(nodes, do):
    """A queue into which each node's answer goes: (node, its answer or None)."""
    mailbox = queue.Queue()

    def ask(node):
        try:
            mailbox.put((node, do(node)))
        except RedisError:
            mailbox.put((node, None))

    for node in nodes:
        threading.Thread(target=ask, args=(node,), daemon=True).start()
    return mailbox


def release(nodes, lease):
    mailbox = fan_out(nodes, lambda node: node.eval(LUA, 1, lease.name, lease.token))
    return sum(mailbox.get()[1] == 1 for _ in nodes)


def acquire(nodes, name, ttl):
    token = secrets.token_urlsafe(24)
    start = time.monotonic()
    mailbox = fan_out(nodes, lambda node: node.set(name, token, nx=True, px=round(ttl * 1000)))
    votes, open_ = 0, len(nodes)
    majority = len(nodes) // 2 + 1
    while votes < majority <= votes + open_:
        open_ -= 1
        votes += mailbox.get()[1] is True
    lease = Lease(name, token, None, start + ttl - (0.01 * ttl + 0.002))
    if votes >= majority and time.monotonic() < lease.deadline:
        return lease
    release(nodes, lease)
    return None
