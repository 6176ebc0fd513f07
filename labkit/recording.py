"""How calls become events: any lock or store, ours or somebody else's, is watched without a change to its code.

`observe(thing)` replaces, on that one object, the methods whose names it knows by ones that write `invoke` before and
`ok`, `fail` or `unknown` after. A connection error or a time-out is *unknown*: the request may have been executed.
Calls that the object makes to itself are part of the outer one. The recorder knows neither clocks nor clients: it asks
the scene it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any, Protocol

LOCK_CALLS = {"acquire": "acquire", "try_acquire": "acquire", "extend": "extend", "reacquire": "extend"}
LOCK_CALLS["release"] = "release"
STORE_CALLS = ("register", "read", "write", "do")
LOST = ("LeaseLost", "LockNotOwnedError", "NotAcquired", "ReleaseUnlockedLock", "ExtendUnlockedLock")
INDEFINITE = ("ConnectionError", "TimeoutError", "OSError", "ConnectionLoss")  # redis-py's, built-in, kazoo's
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Scene(Protocol):
    """What a recorder asks of the world, or of a live run. now: seconds of the run."""

    @property
    def now(self) -> float: ...

    def emit(self, node: str, kind: str, name: str, data: dict[str, Any], cause: int | None = None) -> int: ...

    def lane(self) -> str:
        """The name of the calling client or thread."""
        ...

    def enter(self, op: int | None) -> int | None:
        """Notes that the calling thread is now inside operation `op`; returns the one it was in."""
        ...

    def sent_at(self) -> float:
        """When the calling thread last sent a command, in seconds of the run."""
        ...

    def moment(self, monotonic: float) -> float:
        """The calling client's monotonic clock, translated to seconds of the run."""
        ...


class Recorder:
    """Watches the objects of one run."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._grants: dict[str, int] = {}  # lane -> its latest grant

    def latest(self, lane: str) -> int | None:
        """The operation that gave this lane its latest grant."""
        return self._grants.get(lane)

    def lock(self, lock: Any, key: str | None = None, ttl: float | None = None) -> Any:
        """Watches a lock. `key`: the name under which it is judged (default: `lock.name`); `ttl` in seconds: what a
        grant without a lease is worth (default: `lock.ttl`; None: for ever)."""
        if ttl is None:  # ours, redis-py's, python-redis-lock's name for it
            ttl = next((t for t in (getattr(lock, name, None) for name in ("ttl", "timeout", "_expire")) if t), None)
        watched = _Lock(self, str(key or lock.name), ttl, getattr(lock, "reentrant", False))
        for method, call in LOCK_CALLS.items():
            if callable(getattr(lock, method, None)):
                _replace(lock, method, watched.around(call, getattr(lock, method)))
        return lock

    def store(self, store: Any, name: str | None = None) -> Any:
        """Watches a store: its `read()` and `write(value, …)`, `register(lease)` and `do(what)` where it has them. What
        answers False has been refused."""
        for call in STORE_CALLS:
            if callable(getattr(store, call, None)):
                _replace(store, call, self._around_store(call, getattr(store, call), str(name or store.name)))
        return store

    def _around_store(self, call: str, method: Callable[..., Any], name: str) -> Callable[..., Any]:
        def data(given: Any) -> dict[str, Any]:
            grant = self._grants.get(self.scene.lane())
            more = {"value": plain(given)} if call in ("write", "do") else {"fence": getattr(given, "fence", None)}
            return {"resource": name, "grant": grant} | (more if call != "read" else {})

        def ended(result: Any, seq: int, about: dict[str, Any]) -> tuple[str, dict[str, Any]]:
            return ("fail", {"reason": "refused"}) if result is False else ("ok", {"value": plain(result)})

        return self.around(call, method, data, ended)

    def around(
        self,
        call: str,
        method: Callable[..., Any],
        data: Callable[[Any], dict[str, Any]],
        ended: Callable[[Any, int, dict[str, Any]], tuple[str, dict[str, Any]]],
    ) -> Callable[..., Any]:
        """`method`, with its call and its end written down. `data` is given what the call is about, if anything: its
        first argument, or the one called `lease` or `value`."""
        scene = self.scene

        @wraps(method)
        def watched(*args: Any, **kwargs: Any) -> Any:
            outer = scene.enter(None)
            if outer is not None:  # a call that the object makes to itself
                scene.enter(outer)
                return method(*args, **kwargs)
            given = args[0] if args else kwargs.get("lease", kwargs.get("value"))
            lane, about = scene.lane(), data(given)
            seq = scene.emit(lane, "invoke", call, about)
            scene.enter(seq)
            try:
                result = method(*args, **kwargs)
            except Exception as error:
                scene.enter(None)
                kind = "unknown" if _is_a(error, INDEFINITE) else "fail"
                lost = {"lost": True} if _is_a(error, LOST) else {}
                scene.emit(lane, kind, call, {"reason": sentence(error)} | lost, seq)
                raise
            scene.enter(None)
            kind, outcome = ended(result, seq, about)
            scene.emit(lane, kind, call, outcome, seq)
            return result

        return watched


class _Lock:
    """What the recorder remembers of one lock object: which lease belongs to which grant, and, of a re-entrant lock,
    how often its owner is in."""

    def __init__(self, recorder: Recorder, key: str, ttl: float | None, reentrant: bool) -> None:
        self.recorder, self.key, self.ttl, self.reentrant = recorder, key, ttl, reentrant
        self._depth: dict[int | None, int] = {}
        self._until: dict[int | None, float] = {}
        self._leases: list[tuple[object, int | None]] = []
        self._latest: dict[str, int] = {}  # lane -> the grant it got last from this object

    def around(self, call: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def data(given: Any) -> dict[str, Any]:
            about = {"key": self.key, "ttl": self.ttl}
            return about if call == "acquire" else about | self._leaving(call, self._grant_of(given))

        def ended(result: Any, seq: int, about: dict[str, Any]) -> tuple[str, dict[str, Any]]:
            if call == "release":
                return "ok", {}
            if result is False or (call == "acquire" and not result):  # None from extend: some have no more to say
                return "fail", {"reason": "busy" if call == "acquire" else "refused"}
            return "ok", self._granted(result, self._entered(seq) if call == "acquire" else about["grant"])

        return self.recorder.around(call, method, data, ended)

    def _grant_of(self, lease: Any) -> int | None:
        """The grant that a call is about: by the very lease it is given, else by one like it, else this lane's latest,
        else anybody's."""
        for known, grant in reversed(self._leases) if lease is not None else ():
            if known is lease:
                return grant
        for known, grant in reversed(self._leases) if lease is not None else ():
            if known == lease:
                return grant
        return self._latest.get(self.recorder.scene.lane(), max(self._latest.values(), default=None))

    def _entered(self, seq: int) -> int:
        """The grant of an acquisition: its own, or that of the lock which this lane is in already."""
        lane = self.recorder.scene.lane()
        outer = self._latest.get(lane)
        inside = self._depth.get(outer, 0) > 0 and self.recorder.scene.now < self._until.get(outer, 0.0)
        grant = outer if self.reentrant and outer is not None and inside else seq
        self._depth[grant] = self._depth.get(grant, 0) + 1
        self._latest[lane] = self.recorder._grants[lane] = grant
        return grant

    def _leaving(self, call: str, grant: int | None) -> dict[str, Any]:
        if call == "release":
            self._depth[grant] = self._depth.get(grant, 0) - 1
        inner = call == "release" and self.reentrant and self._depth[grant] > 0
        return {"grant": grant} | ({"inner": True} if inner else {})

    def _granted(self, result: Any, grant: int | None) -> dict[str, Any]:
        scene = self.recorder.scene
        if not hasattr(result, "deadline"):
            return {"grant": grant} | ({"deadline": round(scene.sent_at() + self.ttl, 6)} if self.ttl else {})
        self._leases.append((result, grant))
        forever = result.deadline in (None, inf)  # it lasts until its holder is told of the loss
        deadline = inf if forever else scene.moment(result.deadline)
        self._until[grant] = max(deadline, self._until.get(grant, 0.0))
        until = {} if forever else {"deadline": round(deadline, 6)}
        return {"token": str(result.token)} | until | {"fence": result.fence, "grant": grant}


def _replace(thing: Any, name: str, method: Callable[..., Any]) -> None:
    try:
        object.__setattr__(thing, name, method)  # also on a frozen dataclass
    except AttributeError:
        kind = type(thing).__name__
        raise TypeError(f"A {kind} has no room for a watched {name}: use `class Watched({kind}): pass`.") from None


def _is_a(error: BaseException, names: tuple[str, ...]) -> bool:
    return any(cls.__name__ in names for cls in type(error).__mro__)


def sentence(error: BaseException) -> str:
    """An exception as `LeaseLost: the lock …`, on one line, without addresses: they differ from run to run."""
    return ADDRESS.sub("", f"{type(error).__name__}: {error}").replace("\n", " ").rstrip(": ")


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, (str, int, float, bool)) else ADDRESS.sub("", str(value))
