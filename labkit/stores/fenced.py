"""FencedRegister: a number in Redis that takes writes from one holder only, the latest who has registered.

A holder registers before it reads; from then on no older one can write, so what it has read stays true. Who registers
is compared as a pair: a lower fencing token is refused, an equal one is accepted from the same owner alone. Comparing
and writing are one script. So no update is lost even where the lock fails or repeats a token; the lock then only spares
attempts. It is as durable as its Redis: where a failover can forget a write, it forgets the guard with it (E27), so
keep it on a server that is stronger than the lock's. It cannot tell a late copy of a holder's own write from a new
one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .holder import Grant, pair

LUA = {name: (Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8") for name in ("register", "write")}
TAG = re.compile(r"[^{]*\{([^}]+)\}")  # what a cluster hashes of a key: what its first pair of braces holds, or all


class FencedRegister:
    """The number under `name` on the server of `client`; 0 where there is none yet.

    `guard`: the name of the protected resource, if it has more parts than this one: whoever registers at one of them
    has registered for all. In a cluster they share a slot: give all names the same braces. Raises ValueError, before
    any I/O, for names that cannot."""

    def __init__(self, client: Any, name: str, guard: str | None = None) -> None:
        self.client, self.name, self.guard = client, name, beside(guard or name, "guard")
        if slot(self.guard) != slot(name):
            raise ValueError(f"{name!r} is in another slot than its guard {self.guard!r}: give both the same braces.")

    def register(self, lease: Grant) -> bool:
        """The holder's first act. False: a newer holder has registered, or another one of the same token; then read
        nothing and give up. Raises ValueError for a lease without a fencing token."""
        return bool(self._run("register", [self.guard], lease))

    def read(self) -> int:
        return int(self.client.get(self.name) or 0)

    def write(self, value: int, lease: Grant) -> bool:
        """False: this holder is not, or not any more, the one who registered last, and nothing has changed. A lost
        reply is the client's own error: then it is unknown."""
        return bool(self._run("write", [self.guard, self.name], lease, value))

    def _run(self, script: str, keys: list[str], lease: Grant, *args: int) -> Any:
        fence, owner = self._pair(lease)
        return self.client.execute_command("EVAL", LUA[script], len(keys), *keys, fence, owner, *args)

    def _pair(self, lease: Grant) -> tuple[int, str]:
        return pair(lease)


def slot(key: str) -> str:
    """What decides in which slot of a cluster a key is. Source: the cluster specification of Redis, «hash tags»."""
    found = TAG.match(key)
    return found[1] if found else key


def beside(key: str, what: str) -> str:
    """The name of a key that belongs to another, in the same slot. Raises ValueError where there can be none."""
    for name in (f"{key}:{what}", "{" + key + "}:" + what):
        if slot(name) == slot(key):
            return name
    raise ValueError(f"No key can share the slot of {key!r}: put a part of the name into braces.")
