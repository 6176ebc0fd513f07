"""Question five, Kubernetes: a pod that is replaced while it lives on, because nobody can tell its node to end it. To
be the one pod of its kind is no lock that a server could refuse; what a controller promises differs.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from redis.exceptions import RedisError

from ..faults import Partition
from ..story import Param, Story
from ._actors import TTL, impatient

NOT_READY = 40.0  # seconds until a silent node counts as not ready; source: kube-controller-manager's default


class Place:
    """To be the one pod of its kind: what a controller gives, and what a pod believes it has. Not a lock: nothing
    refuses a second one, unless the controller waits until the node of the first has said that it is gone."""

    name, ttl = "singleton", None

    def __init__(self, api: Any, waits: bool) -> None:
        self.api, self.waits = api, waits

    def acquire(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while self.waits and not self.api.exists("A:gone"):
            if time.monotonic() > end:
                return False
            time.sleep(5.0)
        return True

    def release(self, lease: object) -> None:
        self.api.set("A:gone", "yes")


def unreachable(me: Any, p: SimpleNamespace) -> None:
    """A: works as long as its node does not hear that it shall end. Its kubelet asks the API server."""
    place = me.lock(Place(impatient(me, 1.0, "api"), waits=False))
    held = place.acquire(0.0)
    end = time.monotonic() + p.until
    while time.monotonic() < end:
        time.sleep(10.0)
        with suppress(RedisError):
            if place.api.exists("A:deleted"):
                break
    with suppress(RedisError):
        place.release(held)


def replaces(me: Any, p: SimpleNamespace) -> None:
    """B: made when A's node has not been heard of for long enough; it begins when it is let."""
    api = me.redis("api")
    time.sleep(p.at + NOT_READY + p.evicted)
    api.set("A:deleted", "yes")
    place = me.lock(Place(api, waits=p.kind == "StatefulSet"))
    held = place.acquire(p.until)
    time.sleep(30.0)
    if held:
        place.release(held)


ghost_pod = Story(
    name="ghost-pod",
    claim="A node cannot be reached any more, and its pod is replaced. How many pods are there?",
    params={
        "kind": Param("Deployment", choices=("Deployment", "StatefulSet"), unit="", label="the pod belongs to a"),
        "at": Param(20.0, 1.0, 100.0, 1.0, label="unreachable from"),
        "evicted": Param(300.0, 0.0, 600.0, 10.0, label="evicted after"),
        "back": Param(500.0, 0.0, 900.0, 10.0, label="unreachable for"),
        "until": replace(TTL, default=900.0, low=100.0, high=1500.0, step=10.0, label="watched for"),
    },
    actors={"A": unreachable, "B": replaces},
    faults=lambda p: [Partition("A", "api", at=p.at, lasting=p.back)] if p.back else [],
    servers=("api",),
    until=3000.0,
)
