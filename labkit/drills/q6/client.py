"""The `zk` that a learner is given: kazoo's client with the methods of the contract, and no others.

Each call and each watch that fires is written down as plain data, for a judge counts them. Between a reply and the
moment at which the answer gets it something may happen: see `case.Hook`. It keeps no session; the model's client does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .stage import Stage

METHODS = "create, get_children, exists, get, delete, add_listener and remove_listener"
PATIENT = 80  # calls; a run that is right makes some twenty
WAIT = 0.2  # seconds that each call beyond those takes longer
Watch = Callable[[Any], Any]


class DrillZooKeeper:
    """kazoo's client as the contract has it. Who asks without end has to wait a little, so that the run of an answer
    that never waits comes to its end, and can be judged."""

    def __init__(self, stage: Stage, name: str, client: Any) -> None:
        self._stage, self._name, self._client = stage, name, client
        self._watches: dict[tuple[str, Watch], Watch] = {}
        self._asked = 0

    def create(
        self, path: str, value: bytes = b"", ephemeral: bool = False, sequence: bool = False, include_data: bool = False
    ) -> Any:
        """The real path, or (path, stat) with include_data."""
        made, stat = self._ask("create", path, None, value, ephemeral=ephemeral, sequence=sequence, include_data=True)
        return (made, stat) if include_data else made

    def get_children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Names, in no order."""
        names: list[str] = self._ask("get_children", path, watch)
        return names

    def exists(self, path: str, watch: Watch | None = None) -> Any:
        """The stat or None; the watch is set in both cases."""
        return self._ask("exists", path, watch)

    def get(self, path: str, watch: Watch | None = None) -> tuple[bytes, Any]:
        """The value and the stat. Raises NoNodeError."""
        found: tuple[bytes, Any] = self._ask("get", path, watch)
        return found

    def delete(self, path: str) -> bool:
        """Raises NoNodeError."""
        self._ask("delete", path, None)
        return True

    def add_listener(self, listener: Callable[[str], Any]) -> None:
        """listener(state): "CONNECTED", "SUSPENDED" or "LOST"."""
        self._client.add_listener(listener)

    def remove_listener(self, listener: Callable[[str], Any]) -> None:
        with suppress(ValueError):  # kazoo does not mind either
            self._client.remove_listener(listener)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"The zk of this question has no {name!r}; it has {METHODS}.")

    def _ask(self, method: str, path: str, watch: Watch | None, *args: Any, **options: Any) -> Any:
        self._asked += 1
        if self._asked > PATIENT:
            time.sleep(WAIT)
        if method in ("get_children", "exists", "get"):
            options["watch"] = self._watched(path, watch)
        stage = self._stage
        asked = stage.asks(self._name, method, path, watch is not None)
        stage.strike("before", asked)
        try:
            reply = getattr(self._client, method)(path, *args, **options)
        except Exception as error:
            asked |= {"end": stage.now, "error": type(error).__name__}
            raise
        asked |= {"end": stage.now, "found": reply is not None}
        if method == "create":
            asked["made"] = reply[0]
        stage.strike("after", asked)
        return reply

    def _watched(self, path: str, watch: Watch | None) -> Watch | None:
        """The same function stays the same to kazoo, which calls it once a change however often it was given."""
        if watch is None:
            return None
        if (path, watch) not in self._watches:

            def told(event: Any) -> Any:
                self._stage.told(self._name, str(event.type), path)
                return watch(event)

            self._watches[path, watch] = told
        return self._watches[path, watch]
