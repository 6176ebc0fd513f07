"""A thread of its own joins the queue and waits; the caller waits for the thread, and calls it off in the end."""

import threading
import time

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


class Waiter(threading.Thread):
    def __init__(self, zk, path, end):
        super().__init__(daemon=True)
        self.zk, self.path, self.end = zk, path, end
        self.news = threading.Semaphore(0)
        self.lost = False
        self.result = None

    def heard(self, state):
        if state == "LOST":
            self.lost = True
            self.news.release()

    def run(self):
        self.zk.add_listener(self.heard)
        try:
            self.result = self.stand_in_line()
        except (SessionExpiredError, NoNodeError):
            self.lost = True
        finally:
            self.zk.remove_listener(self.heard)

    def stand_in_line(self):
        node, stat = self.zk.create(f"{self.path}/q", ephemeral=True, sequence=True, include_data=True)
        while not self.lost:
            ahead = sorted(c for c in self.zk.get_children(self.path) if f"{self.path}/{c}" < node)
            if not ahead:
                self.lost = self.lost or self.zk.exists(node) is None
                return Lease(self.path, node, stat.czxid, None)
            if self.zk.exists(f"{self.path}/{ahead[-1]}", lambda event: self.news.release()) is None:
                continue
            if self.lost:
                return None
            if not self.news.acquire(timeout=max(0.0, self.end - time.monotonic())):
                self.zk.delete(node)
                return None
        return None


def acquire(zk, path, timeout):
    waiter = Waiter(zk, path, time.monotonic() + timeout)
    waiter.start()
    waiter.join()
    if waiter.lost:
        raise LeaseLost("the session ended")
    return waiter.result


def release(zk, grant):
    try:
        zk.delete(grant.token)
    except (NoNodeError, SessionExpiredError):
        return False
    return True
