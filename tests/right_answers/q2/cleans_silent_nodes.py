"""A class; after a success it also takes back what silent nodes may have, and looks at the clock once more."""

import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import redis

from labkit import Lease

COMPARE_AND_DELETE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1]) or 0"


@dataclass
class Attempt:
    nodes: list[Any]
    name: str
    ttl: float
    token: str = field(default_factory=lambda: str(uuid4()))
    start: float = field(default_factory=time.monotonic)
    asked: list[Any] = field(default_factory=list)
    silent: list[Any] = field(default_factory=list)
    no: int = 0
    yes: int = 0

    @property
    def deadline(self) -> float:
        return self.start + self.ttl - (self.ttl * 0.01 + 0.002)

    @property
    def alive(self) -> bool:
        return time.monotonic() < self.deadline and 2 * (len(self.nodes) - self.no) > len(self.nodes)

    def ask(self, node) -> None:
        self.asked.append(node)
        try:
            said = node.execute_command("SET", self.name, self.token, "NX", "PX", int(self.ttl * 1000))
        except redis.RedisError:
            self.silent.append(node)
            said = None
        if said:
            self.yes += 1
        else:
            self.no += 1

    def lease(self) -> Lease:
        return Lease(self.name, self.token, None, self.deadline)

    def run(self) -> Lease | None:
        for node in self.nodes:
            if self.alive:
                self.ask(node)
        if self.alive and 2 * self.yes > len(self.nodes):
            release(self.silent, self.lease())
            if self.alive:
                return self.lease()
        release(self.asked, self.lease())
        return None


def acquire(nodes, name, ttl):
    return Attempt(nodes, name, ttl).run()


def release(nodes, lease):
    return sum(delete(node, lease) for node in nodes)


def delete(node, lease) -> int:
    try:
        return node.eval(COMPARE_AND_DELETE, 1, lease.name, lease.token)
    except redis.RedisError:
        return 0
