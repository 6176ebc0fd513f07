"""loses: mutual exclusion

Who has a node has the lock.
"""

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def acquire(zk, path, timeout):
    try:
        node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
        return Lease(path, node, stat.czxid, None)
    except (NoNodeError, SessionExpiredError):
        raise LeaseLost("lost", path) from None


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
