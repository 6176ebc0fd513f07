"""Timelines written by hand, so that pictures and words are tested without a world to run."""

from __future__ import annotations

from typing import Any

from labkit.timeline import Event, Timeline

Keys = dict[str, dict[str, Any] | None]


class Script:
    """Notes events one after the other and numbers them; `timeline()` sorts them by time and mends their causes."""

    def __init__(self, server: str = "redis", trip: float = 0.0005) -> None:
        self.server = server
        self.trip = trip
        self.rows: list[Event] = []

    def add(self, t: float, node: str, kind: str, name: str = "", cause: int | None = None, **data: Any) -> int:
        self.rows.append(Event(len(self.rows), t, node, kind, name, data, cause))
        return self.rows[-1].seq

    def command(self, t: float, node: str, words: str, cause: int, keys: Keys | None = None, to: str = "") -> float:
        """A request, what it does, and the reply; returns when the reply arrives."""
        server = to or self.server
        sent = self.add(t, node, "send", words, cause, to=server)
        come = self.add(t + self.trip, server, "deliver", words, sent)
        data = {"keys": keys} if keys else {}
        done = self.add(t + self.trip, server, "apply", words, come, **data)
        self.add(t + 2 * self.trip, node, "deliver", "reply", done)
        return t + 2 * self.trip

    def grant(self, t: float, node: str, key: str = "stock", ttl: float = 10.0, until: float | None = None) -> int:
        """An acquisition that succeeds; returns the number of its call."""
        call = self.add(t, node, "invoke", "acquire", key=key, ttl=ttl)
        ends = t + self.trip + ttl if until is None else until
        state = {"value": f"tok-{node}", "until": ends, "owner": node, "grant": call}
        back = self.command(t, node, f"SET {key} tok-{node} NX PX {ttl * 1000:.0f}", call, {key: state})
        self.add(back, node, "ok", "acquire", call, token=f"tok-{node}", deadline=t + ttl * 0.99)
        return call

    def refused(self, t: float, node: str, key: str = "stock", ttl: float = 10.0) -> None:
        """An acquisition that finds the key taken."""
        call = self.add(t, node, "invoke", "acquire", key=key, ttl=ttl)
        back = self.command(t, node, f"SET {key} tok-{node} NX PX {ttl * 1000:.0f}", call)
        self.add(back, node, "fail", "acquire", call, reason="taken")

    def release(self, t: float, node: str, grant: int, key: str = "stock", stolen: bool = False) -> None:
        call = self.add(t, node, "invoke", "release", key=key, grant=grant)
        back = self.command(t, node, f"EVALSHA release {key}", call, None if stolen else {key: None})
        if stolen:
            self.add(back, node, "fail", "release", call, reason="stolen", lost=True)
        else:
            self.add(back, node, "ok", "release", call)

    def extend(self, t: float, node: str, grant: int, key: str = "stock", ttl: float = 10.0) -> None:
        call = self.add(t, node, "invoke", "extend", key=key, grant=grant, ttl=ttl)
        state = {"value": f"tok-{node}", "until": t + self.trip + ttl, "owner": node, "grant": grant}
        back = self.command(t, node, f"EVALSHA extend {key}", call, {key: state})
        self.add(back, node, "ok", "extend", call, deadline=t + ttl * 0.99)

    def write(
        self, t: float, node: str, value: object, accepted: bool = True, resource: str = "stock-count", to: str = ""
    ) -> None:
        call = self.add(t, node, "invoke", "write", resource=resource, value=value)
        state = {"value": str(value), "until": None, "owner": node, "grant": call}
        back = self.command(t, node, f"SET {resource} {value}", call, {resource: state} if accepted else None, to)
        reason = {} if accepted else {"reason": "fence 1 < 2"}
        self.add(back, node, "ok" if accepted else "fail", "write", call, **reason)

    def timeline(self, story: str = "", seed: int = 0) -> Timeline:
        order = sorted(self.rows, key=lambda e: (e.t, e.seq))
        place = {e.seq: n for n, e in enumerate(order)}
        return Timeline(tuple(_moved(e, place) for e in order), seed, "", story)


def _moved(event: Event, place: dict[int, int]) -> Event:
    """The event under its new number; numbers of grants in its data move along."""
    data = dict(event.data)
    if "grant" in data:
        data["grant"] = place[data["grant"]]
    if "keys" in data:
        data["keys"] = {
            key: state and {**state, "grant": place.get(state["grant"])} for key, state in data["keys"].items()
        }
    cause = None if event.cause is None else place[event.cause]
    return Event(place[event.seq], event.t, event.node, event.kind, event.name, data, cause)


def gc_pause(polls: int = 3, pause: float = 35.0) -> Timeline:
    """A holds for 10 s and is paused for 35; B gets the lock, and A wakes up and writes."""
    s = Script()
    a = s.grant(0.0, "A")
    s.add(2.0, "A", "pause", until=2.0 + pause)
    for n in range(polls):
        s.refused(1.0 + 9.0 * n / polls, "B")
    s.add(10.0005, "redis", "expire", "stock", keys={"stock": None})
    b = s.grant(10.05, "B", ttl=60.0)
    s.write(10.2, "B", 9)
    s.add(2.0 + pause, "A", "wake")
    s.write(2.0 + pause + 0.01, "A", 8)
    s.release(2.0 + pause + 0.02, "A", a, stolen=True)
    s.release(2.0 + pause + 3, "B", b)
    return s.timeline("gc-pause", 7)


def peaceful() -> Timeline:
    """A then B, with a renewal, and nothing goes wrong."""
    s = Script()
    a = s.grant(0.0, "A")
    s.refused(0.5, "B")
    s.write(1.0, "A", 1)
    s.extend(5.0, "A", a)
    s.release(8.0, "A", a)
    b = s.grant(8.5, "B")
    s.write(9.0, "B", 2)
    s.release(9.5, "B", b)
    return s.timeline("peaceful")


def crash_and_restart() -> Timeline:
    """A crashes with the lock; a request is lost, the link is cut and healed, the server restarts empty."""
    s = Script()
    s.grant(0.0, "A")
    s.add(1.0, "A", "crash")
    s.add(1.5, "B", "cut", "redis", peer="redis")
    call = s.add(1.6, "B", "invoke", "acquire", key="stock", ttl=10.0)
    sent = s.add(1.6, "B", "send", "SET stock tok-B NX PX 10000", call, to="redis")
    s.add(1.6005, "B", "drop", "SET stock tok-B NX PX 10000", sent, to="redis")
    s.add(1.85, "B", "unknown", "acquire", call, reason="no reply within 0.25 s")
    s.add(2.0, "redis", "heal", "B", peer="B")
    s.refused(2.2, "B")
    s.add(3.0, "redis", "clock", step=5.0)
    down = s.add(3.6, "redis", "crash", "redis")
    s.add(4.0, "redis", "restart", "redis", down, kept=False, keys={"stock": None})
    b = s.grant(4.5, "B")
    s.release(5.0, "B", b)
    return s.timeline("crash")


def fenced() -> Timeline:
    """A late writer is refused by a store of its own; threads, two locks."""
    s = Script()
    a = s.grant(0.0, "A")
    s.grant(0.2, "A/T2", key="other", ttl=3.0)
    s.add(0.5, "A", "pause", until=12.0)
    s.add(3.2005, "redis", "expire", "other", keys={"other": None})
    s.add(10.0005, "redis", "expire", "stock", keys={"stock": None})
    b = s.grant(10.1, "B")
    s.write(10.3, "B", 9, to="store")
    s.add(12.0, "A", "wake")
    s.write(12.001, "A", 8, accepted=False, to="store")
    s.add(12.1, "A", "lost", "stock", grant=a)
    s.release(12.4, "B", b)
    return s.timeline("fenced")


def redlock() -> Timeline:
    """Five servers, one of which does not answer; two clients; within a few milliseconds."""
    s = Script()
    call = s.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    for n in range(1, 6):
        words, node = "SET stock tok-A NX PX 10000", f"redis-{n}"
        sent = s.add(0.0, "A", "send", words, call, to=node)
        if n == 3:
            s.add(0.0004, node, "drop", words, sent)
            continue
        state = {"value": "tok-A", "until": 10.0, "owner": "A", "grant": call}
        come = s.add(0.0003 + n * 0.0002, node, "deliver", words, sent)
        done = s.add(0.0003 + n * 0.0002, node, "apply", words, come, keys={"stock": state})
        s.add(0.0006 + n * 0.0004, "A", "deliver", "OK", done)
    s.add(0.05, "A", "ok", "acquire", call, token="tok-A", deadline=9.85)
    s.add(0.06, "B", "note", "B looks on.")
    return s.timeline("redlock")


def busy(rounds: int = 150) -> Timeline:
    """Far more events than a picture can hold."""
    s = Script()
    for n in range(rounds):
        grant = s.grant(n * 1.0, "AB"[n % 2])
        s.release(n * 1.0 + 0.4, "AB"[n % 2], grant)
    return s.timeline("busy")


def millisecond() -> Timeline:
    """Two believers for less than a second, with close events."""
    s = Script(trip=0.0002)
    a = s.grant(0.0, "A", ttl=0.1)
    s.add(0.1002, "redis", "expire", "stock", keys={"stock": None})
    b = s.grant(0.101, "B", ttl=0.1)
    s.write(0.102, "A", 1)
    s.write(0.1021, "B", 2)
    s.release(0.15, "A", a, stolen=True)
    s.release(0.16, "B", b)
    return s.timeline("quick")


ALL = (gc_pause, peaceful, crash_and_restart, fenced, redlock, busy, millisecond)
