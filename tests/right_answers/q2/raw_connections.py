"""No threads: the command is written to a connection of each node before the first reply is read."""

import os
import time

from redis.exceptions import RedisError

from labkit.locks import Lease

UNLOCK = 'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0'


def ask(nodes, *command):
    """What each node answers; its error, if it does not."""
    lines = []
    for node in nodes:
        try:
            lines.append(node.connection_pool.get_connection())
        except RedisError as error:
            lines.append(error)
    for number, line in enumerate(lines):
        if not isinstance(line, RedisError):
            try:
                line.send_command(*command)
            except RedisError as error:
                nodes[number].connection_pool.release(line)
                lines[number] = error
    answers = []
    for node, line in zip(nodes, lines, strict=True):
        if isinstance(line, RedisError):
            answers.append(line)
            continue
        try:
            answers.append(line.read_response())
        except RedisError as error:
            line.disconnect()
            answers.append(error)
        finally:
            node.connection_pool.release(line)
    return answers


def release(nodes, lease):
    return ask(nodes, "EVAL", UNLOCK, 1, lease.name, lease.token).count(1)


def acquire(nodes, name, ttl):
    token = os.urandom(20).hex()
    start = time.monotonic()
    answers = ask(nodes, "SET", name, token, "NX", "PX", int(ttl * 1000 + 0.5))
    lease = Lease(name, token, None, start + ttl - (0.01 * ttl + 0.002))
    if answers.count(b"OK") >= len(nodes) // 2 + 1 and time.monotonic() < lease.deadline:
        return lease
    release(nodes, lease)
    return None
