"""What the answer to question 7 is given and what it gives: the task's lock, with the moments at which something may
happen, and a Progress, which may be of a class of the learner's own."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping
from typing import Any

from redis.exceptions import RedisError

from ...locks import Lease
from ..given import DrillLock, given
from ..trial import Function
from . import Progress

FIELDS = Progress._fields
MISSING = "?"
WHOLE = 400  # characters of a message


class TaskLock(DrillLock):
    """The lock that is given. forgets: whether its server loses the grant that is in the way.  stands_still: for how
    many seconds its holder does, once the grant is made and before `acquire` returns.  granted: what the last call
    gave."""

    me: Any
    forgets = False
    stands_still = 0.0
    granted: Lease | None = None

    def acquire(self, timeout: float | None = None) -> Lease | None:
        lease = super().acquire(timeout)
        while self.forgets and lease is None:
            self.me.world.evict("redis", self.name)
            lease = super().acquire(0)
        self.granted = lease
        if lease is not None and self.stands_still:
            self.me.world.pause(self.me.name, self.stands_still)
            time.sleep(self.ttl / 10_000)  # here it stands still
        return lease


def lock_of(me: Any, name: str, ttl: float) -> TaskLock:
    """A watched lock of this task, for the client `me`."""
    lock = TaskLock(given(me, name, ttl).client, name, ttl)
    lock.me = me
    made: TaskLock = me.lock(lock)
    return made


# -- a Progress ------------------------------------------------------------------------------------------------------


def progress(function: Function, **fields: Any) -> Any:
    """A Progress with these fields: of the learner's own class, if the answer has one that can be made by the six
    names, else of the one that is given."""
    for kind in _classes(function):
        try:
            made = kind(**fields)
            if all(getattr(made, name) == value for name, value in fields.items()):
                return made
        except Exception:  # not that one
            continue
    return Progress(**fields)


def _classes(function: Function) -> Iterator[type]:
    """The classes of which the function knows, the one called Progress first."""
    inner = inspect.unwrap(getattr(function, "func", function))
    inner = getattr(inner, "__func__", inner)
    names: Mapping[str, Any] = {**getattr(inner, "__annotations__", {}), **getattr(inner, "__globals__", {})}
    mine = {name: value for name, value in names.items() if isinstance(value, type) and _takes_fields(value)}
    yield from sorted(mine.values(), key=lambda kind: kind.__name__ != "Progress")


def _takes_fields(kind: type) -> bool:
    try:
        inspect.signature(kind).bind(**dict.fromkeys(FIELDS))
        return not kind.__module__.startswith("labkit.") and set(FIELDS) <= set(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return False


def seen(value: Any) -> dict[str, Any] | None:
    """A Progress as plain data; None for what is none."""
    try:
        found = {name: plain(getattr(value, name, MISSING)) for name in FIELDS}
    except Exception:  # an attribute may be anything
        return None
    return None if all(found[name] == MISSING for name in FIELDS) else found


def plain(value: Any) -> Any:
    """The value where it is plain data, else a word for it."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Lease):
        return "a lease"
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else MISSING


def same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False


def watched(function: Function, got: list[Any]) -> Function:
    """The function; what came of the call goes into `got`: the value, the whole message of an exception, and whether
    that is one of redis-py."""

    def call(*args: Any) -> Any:
        try:
            value = function(*args)
        except Exception as error:
            got[:] = [None, _text(error), isinstance(error, RedisError)]
            raise
        got[:] = [value, "", False]
        return value

    return call


def _text(error: Exception) -> str:
    try:
        return str(error)[:WHOLE]
    except Exception:
        return ""
