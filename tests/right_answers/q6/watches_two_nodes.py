"""It watches its own node as well, before it looks at the queue: whatever ends the session wakes it."""

import threading
from time import monotonic

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk, path, timeout):
    deadline = monotonic() + timeout
    wake = threading.Event()

    def changed(event):
        wake.set()

    try:
        node = zk.create(path + "/n", b"", ephemeral=True, sequence=True)
        while True:
            wake.clear()
            own = zk.exists(node, watch=changed)
            if own is None:
                raise LeaseLost("my node is gone")
            names = sorted(zk.get_children(path))
            if node == f"{path}/{names[0]}":
                return Lease(path, node, own.czxid, None)
            earlier = [name for name in names if f"{path}/{name}" < node]
            if not earlier or zk.exists(f"{path}/{earlier[-1]}", watch=changed) is None:
                continue
            if not wake.wait(max(0, deadline - monotonic())):
                zk.delete(node)
                return None
    except SessionExpiredError as over:
        raise LeaseLost("my session is over") from over
    except NoNodeError as gone:
        raise LeaseLost("my node is gone") from gone


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except NoNodeError:
        return False
    except SessionExpiredError:
        return False
    else:
        return True
