"""The stage for `acquire`: clients of one ensemble that all call the answer, and what befalls them.

A mishap strikes at a moment of the answer's own course (when it has looked, when it has set its watch), so that it
strikes every answer at the same point. What it does to the tree is read from the tree, never from its calls. Holders
are sent away by the stage, which deletes their nodes: `acquire` is tested by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from kazoo.exceptions import KazooException

from ...sim import Fate, Packet, World, WorldError
from ...sim.zookeeper import ZooKeeper
from ...timeline import Timeline
from ..trial import Function, Setting
from .call import Asked, Call
from .case import Caller, Case, Hook
from .client import DrillZooKeeper

WIRE = {"create": "CREATE", "get_children": "CHILDREN", "exists": "STAT", "get": "GET", "delete": "DELETE"}
UNDER_WAY = 0.1  # seconds that a request takes in which something is to happen
AFTER = 0.25  # seconds after a call: what an answer does in the background shall be done
SETTLED = 0.3  # seconds in which the news of a mishap reaches everybody, a new session included


def play(acquire: Function, case: Case, setting: Setting) -> tuple[Mapping[str, Any], Timeline]:
    """Plays the case in a world of its own, latencies drawn from the setting's seed. Raises MemoryError if the answer
    ran out of memory."""
    with World(seed=setting.seed, story=setting.token, patience=setting.patience) as world:
        stage = Stage(world, case)
        for caller in case.callers:
            world.client(caller.client).start(stage.call, acquire, caller, lane=caller.lane or None)
        for act in case.acts:
            world.at(act.at, partial(stage.do, act.do, act.whom, act.by))
        try:
            timeline = world.run(until=case.until)
        except WorldError:
            if not stage.failed:
                raise
        facts = stage.facts()  # now, for to close the world is to end calls that have not come back
    if stage.failed:
        raise stage.failed[0]
    return facts, timeline


class Stage:
    """One play under way."""

    def __init__(self, world: World, case: Case) -> None:
        self.world, self.case = world, case
        self.zks: dict[str, DrillZooKeeper] = {}
        self.calls: list[Call] = []
        self.asked: list[dict[str, Any]] = []
        self.fired: list[dict[str, Any]] = []
        self.ended: dict[str, float] = {}  # client -> when its session ended
        self.struck: dict[int, float] = {}  # hook -> when
        self.failed: list[MemoryError] = []
        self._sessions: dict[int, str] = {}
        self._leave: dict[str, threading.Event] = {}
        self._late: dict[tuple[str, str], float] = {}
        self.data: ZooKeeper = world.service("zk", ZooKeeper).database  # type: ignore[assignment]
        self._prepare()
        world.rule(self._rule)

    def _prepare(self) -> None:
        """The path is there, and has had children; the ensemble has been at work for a while."""
        tree, end = self.data.tree, self.data.end
        tree.zxid = self.case.born
        for path in ("/locks", self.case.path):
            tree.create(path, b"", (), 0, ("", None))
        tree.nodes[self.case.path].created = self.case.first

        def ending(life: Any) -> None:
            whose = self._sessions.get(life.ident, "")
            self.ended.setdefault(whose, self.now)
            if whose:
                self.world.emit(whose, "note", f"{whose}'s session ends", {"drill": "session"})
            end(life)

        self.data.end = ending  # type: ignore[method-assign]
        if self.case.slow[0]:
            self._late[self.case.slow[0], "CREATE"] = self.case.slow[1]

    @property
    def now(self) -> float:
        return round(self.world.now, 6)

    def facts(self) -> Mapping[str, Any]:
        calls = [dict(call.data) for call in self.calls]
        left = [path for path in self.data.tree.nodes if path.startswith(f"{self.case.path}/")]
        struck = max(self.struck.values()) if len(self.struck) == len(self.case.hooks) > 0 else None
        about = {"path": self.case.path, "calls": calls, "asked": self.asked, "fired": self.fired, "left": left}
        return about | {"ended": self.ended, "struck": struck, "session": self.case.session}

    # -- a client ----------------------------------------------------------------------------------------------

    def zk(self, me: Any) -> DrillZooKeeper:
        if me.name not in self.zks:
            client = me.zookeeper("zk", timeout=self.case.session)
            self.zks[me.name] = DrillZooKeeper(self, me.name, client)
        zk = self.zks[me.name]
        zk._client.start()
        self._sessions.setdefault(zk._client.client_id[0], me.name)
        return zk

    def call(self, me: Any, acquire: Function, caller: Caller) -> None:
        """Calls the answer, holds what it has got for as long as the case says, and leaves."""
        zk = self.zk(me)
        self._leave[caller.client + caller.lane] = leave = threading.Event()
        time.sleep(max(0.0, caller.comes - self.now))
        call = Call(self, caller)
        self.calls.append(call)
        watched = me.lock(Asked(acquire, zk, call), key=self.case.path)
        granted = call.made(watched)
        time.sleep(AFTER)
        call.look_back()
        if granted:
            leave.wait(None if caller.holds is None else max(0.0, caller.holds - AFTER))
            call.leaves()
            watched.release(granted)
            call.left()

    def delete(self, client: str, path: str) -> None:
        with suppress(KazooException):
            self.zks[client]._client.delete(path)

    # -- what is written down ----------------------------------------------------------------------------------

    def asks(self, client: str, method: str, path: str, watch: bool) -> dict[str, Any]:
        asked = {"client": client, "method": method, "path": path, "watch": watch, "t": self.now, "end": None}
        self.asked.append(asked)
        return asked

    def told(self, client: str, kind: str, path: str) -> None:
        self.fired.append({"client": client, "type": kind, "path": path, "t": self.now})

    def children(self) -> list[tuple[str, int, int]]:
        """Path, czxid and owner of each child."""
        path, nodes = self.case.path, self.data.tree.nodes
        names = [f"{path}/{name}" for name in nodes[path].children]
        return [(name, nodes[name].czxid, nodes[name].owner) for name in names]

    # -- what happens ------------------------------------------------------------------------------------------

    def strike(self, when: str, asked: dict[str, Any]) -> None:
        """Lets the hooks that have come to their moment strike, and what they have done be known to everybody."""
        for number, hook in enumerate(self.case.hooks):
            if number in self.struck or not self._due(hook, when, asked):
                continue
            self.struck[number] = self.now
            if hook.when == "during":
                self._late[hook.client, WIRE[asked["method"]]] = UNDER_WAY
                self.world.at(self.now + UNDER_WAY / 2, partial(self.do, hook.do, hook.whom))
            else:
                self.do(hook.do, hook.whom)
                time.sleep(SETTLED)

    def _due(self, hook: Hook, when: str, asked: dict[str, Any]) -> bool:
        if asked["client"] != hook.client or asked["method"] not in hook.methods:
            return False
        if (when == "before") is not (hook.when == "during"):
            return False
        mine = [a for a in self.asked if a["client"] == hook.client and a["method"] in hook.methods]
        if hook.when == "watched":
            own = any(a.get("made") == asked["path"] for a in self.asked if a["client"] == hook.client)
            return bool(asked["watch"] and asked["found"]) and not own
        return len(mine) >= hook.nth

    def do(self, what: str, whom: str, by: float = 0.0) -> None:
        if what == "free":
            if whom in self._leave:
                self._leave[whom].set()
        elif what == "crash":
            self.world.crash(whom)
        elif what == "clock":
            self.world.set_clock(whom, by)
        else:
            self.world.at(self.world.now, lambda: self._expire(whom))

    def _expire(self, whom: str) -> None:
        for ident, name in self._sessions.items():
            if name == whom and ident in self.data.lives:
                self.data.expire(self.data.lives[ident])

    def _rule(self, packet: Packet) -> Fate | None:
        late = self._late.pop((packet.client, packet.name), None) if packet.direction == "request" else None
        return None if late is None else Fate(after=late)
