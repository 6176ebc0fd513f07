"""The unlock goes down the line of the SET, so the node gets it second; nobody stays to hear what it says."""

import time
import uuid

from redis.exceptions import RedisError

from labkit import Lease

UNLOCK = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0"


def lines_to(nodes):
    """A connection to each node that takes one."""
    for node in nodes:
        try:
            yield node, node.connection_pool.get_connection()
        except RedisError:
            continue


def sent(line, *command):
    try:
        line.send_command(*command)
        return True
    except RedisError:
        return False


def heard(line):
    try:
        return line.read_response(disconnect_on_error=False)
    except RedisError:
        return None


def acquire(nodes, name, ttl):
    token, start = str(uuid.uuid4()), time.monotonic()
    deadline = start + ttl - (0.01 * ttl + 0.002)
    lines = list(lines_to(nodes))
    asked = [line for _, line in lines if sent(line, "SET", name, token, "NX", "PX", int(ttl * 1000))]
    try:
        votes = [heard(line) for line in asked].count(b"OK")
        if 2 * votes > len(nodes) and time.monotonic() < deadline:
            return Lease(name, token, None, deadline)
        for node, line in lines:
            if line in asked and not sent(line, "EVAL", UNLOCK, 1, name, token):
                release([node], Lease(name, token, None, deadline))
        return None
    finally:
        for node, line in lines:
            line.disconnect()
            node.connection_pool.release(line)


def release(nodes, lease):
    count = 0
    for node in nodes:
        try:
            count += node.eval(UNLOCK, 1, lease.name, lease.token)
        except RedisError:
            continue
    return count
