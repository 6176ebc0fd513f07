"""Each wait is a Future that the watch or the listener completes."""

import time
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager, suppress

from kazoo.exceptions import KazooException, NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


@contextmanager
def session(zk, path):
    """A Future that fails when the session ends; what it does to calls is LeaseLost too."""
    over = Future()

    def heard(state):
        if state == "LOST":
            with suppress(InvalidStateError):
                over.set_result(state)

    zk.add_listener(heard)
    try:
        yield over
    except SessionExpiredError as error:
        raise LeaseLost("session expired", path) from error
    finally:
        zk.remove_listener(heard)


def finish(future):
    with suppress(InvalidStateError):
        future.set_result(True)


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    with session(zk, path) as over:
        node, stat = zk.create(f"{path}/w-", ephemeral=True, sequence=True, include_data=True)
        while True:
            wake = Future()
            over.add_done_callback(lambda done, wake=wake: finish(wake))
            children = sorted(zk.get_children(path), key=lambda child: child.split("-")[-1])
            mine = node.split("/")[-1]
            if over.done() or mine not in children:
                raise LeaseLost("session expired", path)
            if children[0] == mine:
                return Lease(name=path, token=node, fence=stat.czxid, deadline=None)
            before = children[children.index(mine) - 1]
            if not zk.exists(f"{path}/{before}", lambda event, wake=wake: finish(wake)):
                continue
            try:
                wake.result(timeout=max(0, end - time.monotonic()))
            except Late:
                break
        with suppress(NoNodeError):
            zk.delete(node)
        return None


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except KazooException:
        return False
    return True
