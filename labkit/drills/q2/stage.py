"""The stage for `acquire` and `release`: nodes that a rival partly holds, and of which some are ill; then the calls.

Each node is a server of its own; what is sent to it is written down word by word, for a timeline shortens long commands
and a judge has to see tokens. Where a key is, and whose, stands in the timeline. A rival's key is set before the first
call, so that nothing but the answer is at work while it runs; all latencies are above zero.
"""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from ...faults import Partition, Restart
from ...locks import Lease
from ...recording import ADDRESS
from ...sim import Fate, Packet, World, WorldClosed, WorldError
from ...timeline import Timeline
from ..trial import Function, Setting
from ..where import line_of_answer
from .outcome import Asked

WORDS = "orders stock invoice mail-run night-batch seats ledger report cache-fill payout".split()
PATIENCE = 0.05  # seconds: the socket time-outs of the clients that an answer is given
BEGIN = 0.5  # seconds: by then the rival has set its keys
LATE = 0.7  # seconds that a late request stays in the network: longer than any answer waits
SOON = 0.0001  # seconds from a request to what it sets off: less than any latency
REST = 1.0  # seconds after a call: what is still under way shall arrive, what an answer leaves running shall show
END = 500.0  # seconds: of a run that does not end by itself
LONG = 600.0  # seconds: longer than a run
SCRIPTS = ("EVAL", "EVALSHA")
UNLOCKING = (*SCRIPTS, "SCRIPT", "GET", "DEL", "GETDEL", "UNLINK")
ERRORS = (
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "NOPERM this user has no permissions to run the command",
)


@dataclass(frozen=True)
class Case:
    """One play; nodes are counted from 0. ttl: seconds.  held: where the rival B has the lock.  ours: where the lease
    of a release has its key.  ails: what ails a node.  mute: nodes whose unlock gets lost.  swap: nodes that go over to
    B as soon as they have answered to A once.  then: at the SET to how many nodes, counted, what happens to A, and by
    how many seconds.  lag: seconds from that SET until it happens.  cleaning: seconds that A stands still at what it
    sends after the SETs.  overdue: seconds for which the deadline of the lease of a release has been over; None: it is
    ahead.  calls: how many; before the next, what the last one got is given back."""

    name: str
    ttl: float
    nodes: int
    held: tuple[int, ...] = ()
    ours: tuple[int, ...] = ()
    ails: Mapping[int, str] = field(default_factory=dict)
    mute: tuple[int, ...] = ()
    swap: tuple[int, ...] = ()
    then: tuple[int, str, float] | None = None
    lag: float = SOON
    cleaning: float = 0.0
    overdue: float | None = None
    calls: int = 1

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(f"n{number + 1}" for number in range(self.nodes))


def play(function: Function, case: Case, what: str, setting: Setting) -> tuple[Mapping[str, Any], Timeline]:
    """Plays the case in a world of its own, latencies drawn from the setting's seed. what: "acquire" or "release".
    Raises MemoryError if the answer ran out of memory."""
    draw = random.Random(f"stage/{setting.seed}")
    with World(seed=setting.seed, story=setting.token, patience=setting.patience) as world:
        stage = Stage(world, case, what, f"{draw.getrandbits(128):032x}", f"{draw.getrandbits(128):032x}")
        for server in case.servers:
            world.server(server)
        world.client("B").start(stage.rival)
        world.client("A").start(stage.client, function)
        stage.fall_ill(draw)
        world.rule(stage.rule)
        try:
            timeline = world.run(until=END)
            # as it stands now: closing the world ends whatever still runs
            left = {"calls": [dict(call) for call in stage.calls], "sent": list(stage.sent)}
        except WorldError:
            if not stage.failed:
                raise
    if stage.failed:
        raise stage.failed[0]
    facts = {"name": case.name, "ttl": case.ttl, "servers": case.servers, "token": stage.ours}
    illness = {case.servers[number]: what for number, what in case.ails.items()}
    silent = [case.servers[number] for number in case.mute]
    return {**facts, **left, "ails": illness, "mute": silent}, timeline


@dataclass
class Stage:
    """ours, theirs: the values under which A's lease and B hold the lock before the call."""

    world: World
    case: Case
    what: str
    ours: str
    theirs: str
    sent: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    failed: list[MemoryError] = field(default_factory=list)
    running: bool = False
    _asked: set[str] = field(default_factory=set)
    _silenced: set[object] = field(default_factory=set)
    _swapped: set[str] = field(default_factory=set)

    # -- who acts ----------------------------------------------------------------------------------------------

    def rival(self, me: Any) -> None:
        for number in self.case.held:
            me.redis(self.case.servers[number]).set(self.case.name, self.theirs, nx=True, px=int(LONG * 1000))

    def client(self, me: Any, function: Function) -> None:
        case = self.case
        for number in case.ours:
            me.redis(case.servers[number]).set(case.name, self.ours, nx=True, px=int(LONG * 1000))
        limits = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE, "retry": Retry(NoBackoff(), 0)}
        nodes = [me.redis(server, **limits) for server in case.servers]
        time.sleep(BEGIN - me.world.now)
        for _ in range(case.calls):
            self._asked.clear()
            lock, lease = self._call(me, function, nodes)
            time.sleep(REST)
            if case.calls > 1 and lease is not None:
                lock.release(lease)

    def _call(self, me: Any, function: Function, nodes: list[Any]) -> tuple[Any, Any]:
        """One call of the answer. Returns it as a lock that is watched, and the lease that it gave, if any."""
        call: dict[str, Any] = {"ended": False, "raised": "", "ours": False, "message": "", "where": ""}
        self.calls.append(call)
        asked = Asked(function, nodes, (self.case.name, self.case.ttl), call)
        if self.what == "acquire":
            asked.give_back = lambda: self._clear(me)
        watched, lease = me.lock(asked), None
        self.running = True
        try:
            if self.what == "acquire":
                lease = watched.acquire()
                if call.get("moment") is not None:
                    call["deadline"] = me.world.moment(call["moment"])
            else:
                ahead = self.case.ttl if self.case.overdue is None else -self.case.overdue
                watched.release(Lease(self.case.name, self.ours, None, time.monotonic() + ahead))
        except (WorldClosed, GeneratorExit):
            raise
        except MemoryError as error:
            self.failed.append(error)
            traceback.clear_frames(error.__traceback__)
        except BaseException as error:
            call |= {"raised": type(error).__name__, "ours": isinstance(error, RedisError)}
            call |= {"message": ADDRESS.sub("", str(error))[:120], "where": line_of_answer(error)}
        call["ended"] = True
        return watched, lease

    def _clear(self, me: Any) -> None:
        """A gives its lock back without the answer's help, and nobody takes this for the answer's doing."""
        self.running = False
        for server in self.case.servers:
            me.redis(server).delete(self.case.name)

    # -- what becomes of what A sends --------------------------------------------------------------------------

    def fall_ill(self, draw: random.Random) -> None:
        """What ails a node from the beginning. An error is answered to a SET, or to what may delete a key."""
        for number, what in self.case.ails.items():
            server = self.case.servers[number]
            if what == "refused":
                self.world.arm(Restart(server, BEGIN - SOON, keep_data=True, down=LONG))
            elif what == "cut":
                self.world.arm(Partition("A", server, BEGIN - SOON))
            elif what in ("error", "denied"):
                error = ResponseError(draw.choice(ERRORS))
                names = ("SET",) if what == "error" and self.what == "acquire" else UNLOCKING
                handlers = self.world.server(server).handlers
                handlers |= dict.fromkeys(names, lambda words, error=error: error)

    def rule(self, packet: Packet) -> Fate | None:
        if not self.running or packet.client != "A":
            return None
        if packet.direction == "reply":
            self._answered(packet)
            return Fate(lost=True) if packet.exchange in self._silenced else None
        words = [word.decode("utf-8", "backslashreplace") for word in packet.words]
        self.sent.append({"seq": packet.seq, "t": self.world.now, "server": packet.server, "words": words})
        self._set_off(packet)
        return self._fate(packet)

    def _set_off(self, packet: Packet) -> None:
        case = self.case
        if packet.name == "SET":
            self._asked.add(packet.server)
            if case.then and len(self._asked) == case.then[0]:
                _, what, by = case.then
                strike = self.world.pause if what == "pause" else self.world.set_clock
                self.world.at(self.world.now + case.lag, lambda: strike("A", by))
        elif case.cleaning and len(self._asked) > case.nodes // 2:
            self.world.at(self.world.now + SOON, lambda: self.world.pause("A", case.cleaning))

    def _fate(self, packet: Packet) -> Fate | None:
        number = self.case.servers.index(packet.server)
        if packet.name != "SET" and number in self.case.mute:
            return Fate(lost=True)
        if packet.name != "SET" and self.what == "acquire":
            return None
        match self.case.ails.get(number):
            case "lost":
                return Fate(lost=True)
            case "late":
                return Fate(after=LATE)
            case "done":
                self._silenced.add(packet.exchange)
            case "reset":
                self.world.at(self.world.now + SOON, lambda: self.world.restart(packet.server, True, LONG))
        return None

    def _answered(self, packet: Packet) -> None:
        if self.case.servers.index(packet.server) in self.case.swap and packet.server not in self._swapped:
            self._swapped.add(packet.server)
            self.world.at(self.world.now, lambda: self._take_over(packet.server))

    def _take_over(self, name: str) -> None:
        """A's key ends, as at its expiry, and B's stands there in the same moment."""
        server, key = self.world.server(name), self.case.name
        self.world.evict(name, key)
        words = ["SET", key, self.theirs, "NX", "PX", str(int(LONG * 1000))]
        session = self.world.inside(server, server.database.session)
        self.world.inside(server, session.execute, [word.encode() for word in words])
        session.replies()
        session.close()
        copied = server.database.copies([key])[key]
        theirs = self.theirs, copied[2].expireat, {"owner": "B", "grant": None}
        server.report("apply", " ".join(words), {"keys": server.adopt({key: (theirs, copied)}), "reply": "+OK"})
