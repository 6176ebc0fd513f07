"""A watch on the one before, a listener for the end of the session; both set the same event."""

import time
from threading import Event

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    news, lost = Event(), Event()

    def heard(state):
        if state == "LOST":
            lost.set()
            news.set()

    zk.add_listener(heard)
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        while True:
            news.clear()
            queue = sorted(zk.get_children(path))
            mine = node.rpartition("/")[2]
            if lost.is_set() or mine not in queue:
                raise LeaseLost("the session has ended", path)
            place = queue.index(mine)
            if place == 0:
                return Lease(path, node, stat.czxid, None)
            if zk.exists(f"{path}/{queue[place - 1]}", watch=lambda event: news.set()) is None:
                continue
            if lost.is_set():
                raise LeaseLost("the session has ended", path)
            if not news.wait(max(0.0, end - time.monotonic())):
                zk.delete(node)
                return None
    except (SessionExpiredError, NoNodeError):
        raise LeaseLost("the session has ended", path) from None
    finally:
        zk.remove_listener(heard)


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
