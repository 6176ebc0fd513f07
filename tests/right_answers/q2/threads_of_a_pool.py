"""A thread a node: all are asked at once, and all are waited for."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from redis.exceptions import RedisError

from labkit.locks import Lease

SCRIPT = """
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
end
return 0
"""


def on_all(nodes, do):
    """What `do(node)` says for each node; an error stands for itself."""

    def careful(node):
        try:
            return do(node)
        except RedisError as error:
            return error

    with ThreadPoolExecutor(max_workers=len(nodes)) as pool:
        return list(pool.map(careful, nodes))


def release(nodes, lease):
    answers = on_all(nodes, lambda node: node.register_script(SCRIPT)(keys=[lease.name], args=[lease.token]))
    return sum(answer == 1 for answer in answers)


def acquire(nodes, name, ttl):
    token, start = secrets.token_hex(16), monotonic()
    deadline = start + ttl - (0.01 * ttl + 0.002)
    answers = on_all(nodes, lambda node: node.set(name, token, px=round(ttl * 1000), nx=True))
    lease = Lease(name, token, None, deadline)
    if sum(answer is True for answer in answers) > len(nodes) / 2 and monotonic() < deadline:
        return lease
    release(nodes, lease)
    return None
