"""Register: a number under a Redis key that anybody may overwrite. It knows nothing of locks and refuses nobody.

It is what most code protects with a lock, and what shows that a lock cannot protect it: a late write is accepted.
"""

from __future__ import annotations

from typing import Any


class Register:
    """The number under `name` on the server of `client`; 0 where there is none yet."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    def read(self) -> int:
        return int(self.client.get(self.name) or 0)

    def write(self, value: int) -> None:
        self.client.set(self.name, value)
