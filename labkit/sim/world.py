"""The world: clients, servers and a network in virtual time, from which comes one value, the timeline.

    with World(seed=0) as world:
        world.server("redis")
        world.client("A").start(work)       # work(me): ordinary blocking code
        timeline = world.run(until=60)

Same seed and tape, same timeline. A run ends when the code of all clients has ended, when nothing can happen any more
(a deadlock, which is noted), or at `until`. A world can be run once; leaving the `with` closes it.
"""

from __future__ import annotations

import _thread
import concurrent.futures.thread
import math
from collections.abc import Callable
from typing import Any

from ..recording import Recorder, sentence
from ..timeline import KINDS, Event, Timeline
from .choices import Choices
from .data import Data
from .errors import ClientDied, WorldError
from .hub import MICRO, Hub, micros
from .leadership import Leadership, Links
from .monitor import watched
from .network import Trigger
from .nodes import Client, Node
from .redisserver import Database
from .server import Server
from .standins import MONOTONIC
from .substitute import substituted
from .task import Task, current, getcurrent, line_of, line_of_error
from .wire import Rule


class World(Leadership):
    """Raises ValueError for a tape that cannot be read. `patience`: real seconds that a client's code may run without
    waiting before it is stopped (None: for ever, for use with a debugger)."""

    def __init__(self, seed: int = 0, tape: str = "", story: str = "", patience: float | None = 1.0) -> None:
        self.seed, self.tape, self.story, self.patience = seed, tape, story, patience
        self.choices = Choices(seed, tape)
        self.hub = Hub(self.choices)
        self.hub.on_end = self._ended
        self.clients: dict[str, Client] = {}
        self.servers: dict[str, Server] = {}
        self.network = Links(self)
        self.recorder = Recorder(self)
        self._log: list[tuple[Any, ...]] = []
        self._mains: list[Task] = []
        self._waiting_mains = 0
        self._numbers = 0
        self._death: tuple[str, Exception] | None = None
        self._sealed: Timeline | None = None
        self._thread = _thread.get_ident()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- setting the stage -------------------------------------------------------------------------------------

    def client(self, name: str) -> Client:
        """The client of this name, made at its first mention. Raises ValueError for a name that is no word."""
        if name not in self.clients:
            self.clients[name] = Client(self, self._fresh(name))
        return self.clients[name]

    def server(self, name: str = "redis", version: tuple[int, ...] = (7, 0)) -> Server:
        """The server of this name, made at its first mention, with the commands of Redis `version`."""
        if name not in self.servers:
            self.servers[name] = Server(self, self._fresh(name), version)
        return self.servers[name]

    def service(self, name: str, data: Callable[[Server], Data]) -> Server:
        """The server of this name, made at its first mention, with a database of another kind than Redis', which
        `data(server)` makes. Raises ValueError if it exists with Redis' keys."""
        if name not in self.servers:
            self.servers[name] = Server(self, self._fresh(name), data=data)
        if isinstance(self.servers[name].database, Database):
            raise ValueError(f"{name} is a Redis server of this world: give the service a name of its own.")
        return self.servers[name]

    def _fresh(self, name: str) -> str:
        if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum():
            raise ValueError(f"A node's name is one word of letters, digits, - and _, not {name!r}.")
        if name in self.clients or name in self.servers:
            raise ValueError(f"This world already has a node called {name!r}.")
        return name

    def node(self, name: str) -> Node:
        """The client or server of this name. Raises ValueError, naming those that exist."""
        node = self.clients.get(name) or self.servers.get(name)
        if node is None:
            raise ValueError(f"No node is called {name!r}; this world has {', '.join([*self.clients, *self.servers])}.")
        return node

    def rule(self, rule: Rule) -> Rule:
        """Adds a rule: packet -> Fate, or None for no opinion. The first opinion wins."""
        self.network.rules.append(rule)
        return rule

    def trigger(self, trigger: Trigger) -> Trigger:
        """Adds a trigger: called with each request just before it leaves; it may pause or crash the sender."""
        self.network.triggers.append(trigger)
        return trigger

    def at(self, t: float, fn: Callable[[], None]) -> None:
        """Calls `fn()` at second `t` of the run. Raises ValueError for a time that is no number, or is past."""
        if not math.isfinite(t) or micros(t) < self.hub.now or t < 0:
            raise ValueError(f"t={t!r} is not a time from {self.now} s on.")
        self.hub.at(micros(t), lambda _: fn(), None)

    def arm(self, fault: Any) -> None:
        """Lets a fault of `labkit.faults` strike in this run."""
        fault.arm(self)

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.hub.now / MICRO

    # -- running -----------------------------------------------------------------------------------------------

    def run(self, until: float = 3600.0) -> Timeline:
        """Plays to the end and returns what happened. Raises RanAway, Stuck, or ClientDied (the first exception that a
        client's code did not handle), each with the timeline so far; KeyboardInterrupt closes the world first."""
        if self._sealed is not None:
            raise RuntimeError("This world has been run already; a timeline comes from a world of its own.")
        if self._thread != _thread.get_ident():
            raise RuntimeError("A world is made, run and closed in one thread: make this one where you run it.")
        try:
            with substituted(), watched(self.hub, self.patience):
                self.hub.run(micros(until))
            self._note_unfinished(until)
        except WorldError as error:
            error.timeline = self._seal()
            raise
        except KeyboardInterrupt:
            self.close()
            raise
        finally:
            timeline = self._seal()
            if self.hub.done is False:
                self.hub.done = True
        if self._death is not None:
            who, cause = self._death
            where = line_of_error(cause)
            died = ClientDied(
                f"{who} ended with an exception that its code does not handle: {sentence(cause)}, at {where}"
            )
            died.timeline = timeline
            raise died from cause
        return timeline

    def _seal(self) -> Timeline:
        if self._sealed is None:
            events = tuple(
                Event(seq, at / MICRO, node, kind, name, data, cause)
                for seq, (at, node, kind, name, data, cause) in enumerate(self._log)
            )
            self._sealed = Timeline(events, self.seed, self.tape, self.story)
        return self._sealed

    def close(self) -> None:
        """Ends what is left of the clients; nothing that they do in their clean-up code counts any more."""
        self._seal()
        if not self.hub.closed:
            with substituted(), watched(self.hub, self.patience):
                self.hub.close()
            queues: Any = concurrent.futures.thread._threads_queues
            for thread in [t for t in queues if "_labkit_task" in t.__dict__]:
                del queues[thread]
            self.network.clear()
            self._mains.clear()
            self.clients.clear()
            self.servers.clear()

    def start(self, client: Client, lane: str, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Starts a main task of a client; the run lasts until all of them have ended."""
        task = self.hub.spawn(client, lane, fn, *args)
        self._mains.append(task)
        self._waiting_mains += 1

    def inside(self, node: Node, fn: Callable[..., Any], *args: Any) -> Any:
        """Calls `fn` as a task of `node` would, so that the locks it makes wait in virtual time."""
        if isinstance(getcurrent(), Task):
            return fn(*args)
        result: list[Any] = []
        with substituted():
            self.hub.play(Task(self.hub, node, node.name, lambda: result.append(fn(*args)), ()))
        return result[0]

    def _ended(self, task: Task) -> None:
        if task in self._mains:
            if isinstance(task.failure, Exception):
                self.died(task.lane, "", task.failure)
            self._main_gone()
        if task in self.hub.tasks and isinstance(task.node, Client):
            task.node.thread_ended(t for t in self.hub.tasks if t.node is task.node)

    def _main_gone(self) -> None:
        self._waiting_mains -= 1
        self.hub.done = self._waiting_mains == 0

    def died(self, lane: str, thread: str, error: Exception) -> None:
        """A client's code ended with an exception. In its main task that ends the whole run's success."""
        who = f"{lane}, thread {thread}," if thread else lane
        self.emit(lane, "note", f"{who} died: {sentence(error)}", {"died": True})
        if not thread and self._death is None:
            self._death = (lane, error)

    def _note_unfinished(self, until: float) -> None:
        """A client that can never go on is a deadlock; one that was cut off is said to be so."""
        left = [task for task in self._mains if not task.ended and not task.node.crashed]
        idle = self.hub.idle(Server.expire)  # an expiry wakes nobody
        for task in left:
            stuck = task.parked and task.timer is None and not task.node.paused and idle
            text = "waits for ever" if stuck else f"is still at work when the run ends at {until:g} s"
            where = line_of(task.gr_frame)
            self.emit(task.lane, "note", f"{task.lane} {text}, at {where}", {"deadlock": stuck, "unfinished": True})

    # -- what the recorder asks --------------------------------------------------------------------------------

    def emit(self, node: str, kind: str, name: str, data: dict[str, Any], cause: int | None = None) -> int:
        """Writes an event and returns its number."""
        assert kind in KINDS, kind
        self._log.append((self.hub.now, node, kind, name, data, cause))
        return len(self._log) - 1

    def lane(self) -> str:
        task = getcurrent()
        return task.lane if isinstance(task, Task) else ""

    def enter(self, op: int | None) -> int | None:
        task = current()
        before, task.op = task.op, op
        return before

    def sent_at(self) -> float:
        return current().sent_at

    def moment(self, monotonic: float) -> float:
        task = getcurrent()
        stood = self.hub.stood.get(task.node.name, 0) if isinstance(task, Task) else 0
        return monotonic - MONOTONIC + stood / MICRO

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers
