"""It wakes up often, and looks at flags of its own: nothing is asked of zk for that."""

import time

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


class Flags:
    gone = lost = False


def leave(zk, node):
    try:
        zk.delete(node)
        return True
    except (NoNodeError, SessionExpiredError):
        return False


def wait(flags, end):
    """False if time is up."""
    while not (flags.gone or flags.lost):
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(0.05, left))
    return True


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    flags = Flags()

    def heard(state):
        flags.lost = flags.lost or state == "LOST"

    def watch(event):
        if event.type == "NONE":
            flags.lost = True
        flags.gone = True

    zk.add_listener(heard)
    try:
        node = zk.create(path + "/lock-", ephemeral=True, sequence=True)
        fence = zk.exists(node).czxid
        while True:
            flags.gone = False
            queue = sorted(zk.get_children(path))
            ahead = [name for name in queue if name < node[len(path) + 1 :]]
            if flags.lost:
                raise LeaseLost("lost")
            if not ahead:
                return Lease(path, node, fence, None)
            if zk.exists(f"{path}/{ahead[-1]}", watch) is None:
                continue
            if not wait(flags, end):
                leave(zk, node)
                return None
            if flags.lost:
                raise LeaseLost("lost")
    except (SessionExpiredError, AttributeError):
        raise LeaseLost("lost") from None
    finally:
        zk.remove_listener(heard)


def release(zk, grant):
    return leave(zk, grant.token)
