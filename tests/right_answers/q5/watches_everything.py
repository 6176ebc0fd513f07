"""Three threads: one renews, one watches the deadline, this one works; all speak through one Condition. What it finds
gone only at its release it calls lost."""

import threading
import time

from redis.exceptions import RedisError

from labkit.locks import LeaseLost


class Post:
    def __init__(self, lock, lease):
        self.lock = lock
        self.lease = lease
        self.reason = None
        self.changed = threading.Condition()

    def end(self, reason):
        with self.changed:
            if self.reason is None:
                self.reason = reason
            self.changed.notify_all()

    def renew(self):
        while True:
            with self.changed:
                if self.changed.wait_for(lambda: self.reason is not None, timeout=self.lock.ttl / 5):
                    return
                lease = self.lease
            try:
                lease = self.lock.extend(lease)
            except LeaseLost:
                self.end("lost")
                return
            except RedisError:
                continue
            with self.changed:
                self.lease = lease
                self.changed.notify_all()

    def watch(self):
        with self.changed:
            while self.reason is None:
                left = self.lease.deadline - time.monotonic()
                if left <= 0:
                    self.end("lost")
                else:
                    self.changed.wait(left)

    def allowed(self):
        with self.changed:
            return self.reason is None and time.monotonic() < self.lease.deadline


def run(lock, steps, write, stopping):
    lease = None
    while not lease:
        if stopping.is_set():
            return "stopped"
        try:
            lease = lock.acquire(lock.ttl / 20)
        except RedisError:
            stopping.wait(lock.ttl / 20)
        if lease and lease.deadline <= time.monotonic():
            lease = None
    post = Post(lock, lease)
    threads = [threading.Thread(target=each, daemon=True) for each in (post.renew, post.watch)]
    for thread in threads:
        thread.start()
    for step in steps:
        if stopping.is_set():
            post.end("stopped")
        if not post.allowed():
            break
        value = step()
        if not post.allowed():
            break
        write(value)
    else:
        post.end("done")
    post.end("lost")
    for thread in threads:
        thread.join()
    try:
        lock.release(post.lease)
    except LeaseLost:
        return "lost"
    except RedisError:
        pass
    return post.reason
