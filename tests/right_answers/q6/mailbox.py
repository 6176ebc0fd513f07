"""A class with a queue.Queue as its mailbox: watches and the listener put letters in, the loop takes them out. Node
names begin with a token of their own, so that the number alone says who comes first."""

import queue
import time
import uuid

from kazoo.exceptions import NoNodeError, SessionExpiredError

from labkit import Lease
from labkit.locks import LeaseLost


def number(name):
    return int(name[-10:])


class Place:
    def __init__(self, zk, path):
        self.zk, self.path = zk, path
        self.mail = queue.Queue()
        self.over = False

    def heard(self, state):
        if state != "CONNECTED":
            self.over = True
            self.mail.put(state)

    def check(self):
        if self.over:
            raise LeaseLost("the session is over", self.path)

    def take(self, end):
        name = f"{self.path}/{uuid.uuid4().hex}-lock-"
        self.node, self.stat = self.zk.create(name, b"", True, True, include_data=True)
        while True:
            self.check()
            mine = number(self.node)
            ahead = [name for name in self.zk.get_children(self.path) if number(name) < mine]
            self.check()
            if not ahead:
                return Lease(self.path, self.node, self.stat.czxid, None)
            try:
                self.zk.get(f"{self.path}/{max(ahead, key=number)}", self.mail.put)
            except NoNodeError:
                continue
            self.check()
            try:
                self.mail.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.zk.delete(self.node)
                return None


def acquire(zk, path, timeout):
    end = time.monotonic() + timeout
    place = Place(zk, path)
    zk.add_listener(place.heard)
    try:
        return place.take(end)
    except SessionExpiredError:
        raise LeaseLost("the session is over", path) from None
    finally:
        zk.remove_listener(place.heard)


def release(zk, grant):
    try:
        zk.delete(grant.token)
        return True
    except NoNodeError:
        return False
    except SessionExpiredError:
        return False
