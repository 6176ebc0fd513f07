"""Gateway: something outside that cannot be taken back, such as a payment or a letter. It does what it is told, as
often as it is told; it knows no locks, no tokens and no keys for idempotency."""

from __future__ import annotations

from typing import Any


class Gateway:
    """Effects under `name` on the server of `client`."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    def do(self, what: str) -> None:
        """Does it, once more if it has been done."""
        self.client.rpush(self.name, what)
