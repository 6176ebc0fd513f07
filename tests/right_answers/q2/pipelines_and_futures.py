"""Futures that are gathered as they come in; each node is spoken to in a pipeline without MULTI."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed

from redis.exceptions import RedisError

from labkit import Lease
from labkit.locks import Lease as SameLease

SCRIPT = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end; return 0"


def one(node, *command):
    with node.pipeline(transaction=False) as pipe:
        return pipe.execute_command(*command).execute()[0]


def gathered(nodes, *command):
    pool = ThreadPoolExecutor(len(nodes))
    futures = [pool.submit(one, node, *command) for node in nodes]
    results = []
    for future in as_completed(futures):
        error = future.exception()
        if error is not None and not isinstance(error, RedisError):
            raise error
        results.append(None if error else future.result())
    pool.shutdown(wait=False)
    return results


def acquire(nodes, name, ttl):
    token = f"client-{uuid.uuid4()}"
    start = time.monotonic()
    votes = sum(bool(said) for said in gathered(nodes, "SET", name, token, "NX", "PX", int(ttl * 1000)))
    lease = SameLease(name=name, token=token, fence=None, deadline=start + ttl - (0.01 * ttl + 0.002))
    if votes * 2 > len(nodes) and lease.remaining() > 0:
        return lease
    release(nodes, lease)
    return None


def release(nodes, lease: Lease):
    return gathered(nodes, "EVAL", SCRIPT, 1, lease.name, lease.token).count(1)
