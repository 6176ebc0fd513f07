"""EVALSHA first, EVAL where the node does not know the script; the nodes are asked from the last to the first."""

import hashlib
import random
import string
import time

from redis.exceptions import NoScriptError, RedisError

from labkit import Lease

SCRIPT = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
SHA = hashlib.sha1(SCRIPT.encode()).hexdigest()


def unlock(node, name, token):
    """1 if the node says that it deleted the key."""
    try:
        try:
            return int(node.evalsha(SHA, 1, name, token) == 1)
        except NoScriptError:
            return int(node.eval(SCRIPT, 1, name, token) == 1)
    except RedisError:
        return 0


def release(nodes, lease):
    return sum([unlock(node, lease.name, lease.token) for node in nodes])


def acquire(nodes, name, ttl):
    token = "".join(random.SystemRandom().choices(string.ascii_letters, k=24))
    pending, votes, start = list(nodes), 0, time.monotonic()
    deadline, tried = start + ttl - (0.01 * ttl + 0.002), []
    try:
        while pending and 2 * (votes + len(pending)) > len(nodes) and time.monotonic() < deadline:
            tried.append(pending.pop())
            try:
                votes += tried[-1].set(name, token, px=int(ttl * 1000), nx=True) is True
            except RedisError:
                continue
    finally:
        granted = 2 * votes > len(nodes) and time.monotonic() < deadline
        if not granted:
            for node in tried:
                unlock(node, name, token)
    return Lease(name, token, None, deadline) if granted else None
