"""A function that calls itself after each change, with what is left of the time."""

import threading
import time

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    state = threading.Condition()
    news = []

    def tell(what):
        with state:
            news.append(what)
            state.notify()

    zk.add_listener(tell)
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        return turn(zk, Lease(path, node, stat.czxid, None), end, state, news, tell)
    except (SessionExpiredError, NoNodeError):
        raise LeaseLost("lost", path) from None
    finally:
        zk.remove_listener(tell)


def turn(zk, lease, end, state, news, tell):
    seen = len(news)
    queue = sorted((name[-10:], name) for name in zk.get_children(lease.name))
    ahead = [name for number, name in queue if number < lease.token[-10:]]
    if "LOST" not in news and not ahead:
        return lease
    if "LOST" not in news and zk.exists(f"{lease.name}/{ahead[-1]}", watch=tell):
        with state:
            came = state.wait_for(lambda: len(news) > seen, max(0.0, end - time.monotonic()))
        if not came:
            zk.delete(lease.token)
            return None
    if "LOST" in news:
        raise LeaseLost("lost", lease.name)
    return turn(zk, lease, end, state, news, tell)


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (SessionExpiredError, NoNodeError):
        return False
    return True
