"""A session with the world's ZooKeeper, kept as kazoo keeps it, over the world's network and in virtual time.

One thread connects, reads, and sends a ping when a third of the time-out has passed without a request. Where the
connection drops, or a ping has no answer a third later, the state is SUSPENDED, calls under way raise ConnectionLoss,
watches fire with type NONE, and it connects again for the same session. Only the ensemble can say that the session has
ended: then it is LOST, and a new session begins by itself. Listeners are called on that thread, watches on another one.
Unlike kazoo it is started from the first, and hears it at once when the session ends while it is connected; calls under
way then raise SessionExpiredError, where kazoo's raise ConnectionLoss. It is long because it is one thing: what a
connection's end means to calls, watches and listeners is to be read in one place.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kazoo import exceptions
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, SessionExpiredError
from kazoo.protocol.states import EventType, KazooState, KeeperState, WatchedEvent
from redis.exceptions import ResponseError

from .zkframes import Frames, pack
from .zookeeper import ZooKeeper

if TYPE_CHECKING:
    from .nodes import Client

Watch = Callable[[WatchedEvent], Any]
Listener = Callable[[str], Any]
PAUSES = (0.1, 0.5)  # seconds before the next attempt to connect: at first, and at most
KNOCK = 1.0  # seconds until a connection that nobody answers is asked for again, as TCP does
MEMBERS = 3  # of the ensemble: each may take its part of the time-out to answer (source: kazoo's connect_timeout)
ENDINGS = {"CREATED": ("data",), "CHANGED": ("data",), "DELETED": ("data", "child"), "CHILD": ("child",)}


class Call:
    """A request under way. watcher: (kind, path, function) to be entered when the reply has come; `missing`: also when
    it says that there is no such node, for then the watch waits for it."""

    def __init__(self, name: str, watcher: tuple[str, str, Watch | None], missing: bool) -> None:
        self.name, self.watcher, self.missing = name, watcher, missing
        self.done = threading.Event()
        self.reply: Any = None
        self.error: Exception | None = None

    def end(self, reply: Any, error: Exception | None = None) -> None:
        self.reply, self.error = reply, error
        self.done.set()


class SessionKeeper:
    """timeout: seconds that are asked for; once it is connected, those that were granted.  state: of KazooState."""

    def __init__(self, node: Client, server: str = "zk", timeout: float = 10.0) -> None:
        self._node, self._server = node, node.world.service(server, ZooKeeper)
        self._asked = self.timeout = float(timeout)
        self.state = KazooState.LOST
        self._listeners: list[Listener] = []
        self._watches: dict[tuple[str, str], dict[Watch, None]] = {}
        self._to_tell: queue.SimpleQueue[tuple[Watch, WatchedEvent]] = queue.SimpleQueue()
        self._turn = threading.Condition()  # whoever changes what follows has it
        self._frames: Frames | None = None  # while connected
        self._pending: deque[Call] = deque()
        self._session = self._ended = 0  # its number, and how many have ended
        self._sent = 0.0  # when a request left last
        self._pinged: float | None = None  # when the ping left that has no answer yet
        self._keeper: threading.Thread | None = None
        self._stopping = False
        threading.Thread(target=self._tell, name="zk-watches", daemon=True).start()
        self.start_async()

    # -- what kazoo's client offers of it -----------------------------------------------------------------------

    def add_listener(self, listener: Listener) -> None:
        """listener(state): called on the thread that keeps the session, so it must not wait; one that returns True is
        removed."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    @property
    def connected(self) -> bool:
        return self._frames is not None

    @property
    def client_id(self) -> tuple[int, bytes] | None:
        """The session's number, with an empty password; None while there is no session."""
        return (self._session, b"") if self._session else None

    def start(self, timeout: float = 15.0) -> None:
        """Waits until it is connected. Raises TimeoutError after `timeout` seconds, and stops."""
        self.start_async()
        with self._turn:
            self._turn.wait_for(lambda: self._frames is not None, timeout)
        if self._frames is None:
            self.stop()
            raise TimeoutError(f"{self._server.name} could not be reached within {timeout:g} s.")

    def start_async(self) -> None:
        if self._keeper is None:
            self._stopping = False
            self._keeper = threading.Thread(target=self._keep, name="zk-session", daemon=True)
            self._keeper.start()

    def stop(self) -> None:
        """Ends the session if the ensemble can be reached; else it runs out there by itself."""
        keeper, self._stopping = self._keeper, True
        if keeper is None:
            return
        with self._turn:
            if self._frames is not None:
                self._send(Call("CLOSE", ("", "", None), False), "CLOSE")
            self._turn.notify_all()
        keeper.join(self.timeout)

    # -- a call ------------------------------------------------------------------------------------------------

    def _ask(self, *words: str | bytes, watcher: Any = ("", "", None), missing: bool = False) -> Any:
        """Sends a request in its turn and waits for the reply. While there is no connection it waits for the next."""
        if threading.current_thread() is self._keeper:
            raise RuntimeError(
                "A listener is called by the thread that reads replies: hand the news on, ask elsewhere."
            )
        call = Call(str(words[0]), watcher, missing)
        with self._turn:
            ended = self._ended
            while self._frames is None:
                if self._stopping:
                    raise ConnectionClosedError("This client has been stopped: start() it again.")
                self._turn.wait()
                if self._ended != ended:
                    raise SessionExpiredError("The session ended before the request was sent.")
            self._send(call, *words)
        call.done.wait()
        if call.error is not None:
            raise call.error
        return call.reply

    def _send(self, call: Call, *words: str | bytes) -> None:
        assert self._frames is not None
        self._pending.append(call)
        self._sent = time.monotonic()
        self._frames.send(pack(*words))

    # -- the thread that keeps the session -----------------------------------------------------------------------

    def _keep(self) -> None:
        pause = PAUSES[0]
        while not self._stopping:
            try:
                frames = self._connect()
                pause = PAUSES[0]
                self._talk(frames)
            except SessionExpiredError as error:
                self._drop(error)
            except OSError as error:
                self._drop(ConnectionLoss(f"{error}; whether it was executed is unknown."))
            if not self._stopping:
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])
        self._keeper = None
        self._drop(ConnectionClosedError("This client has been stopped."))

    def _connect(self) -> Frames:
        """A connection that carries the session, or a new one. Raises SessionExpiredError, OSError."""
        within = self._asked / MEMBERS
        frames = Frames(self._node.world.network.connect(self._node, self._server, min(within, KNOCK)))
        try:
            frames.send(pack("CONNECT", str(round(self._asked * 1000)), str(self._session)))
            reply = frames.next(within)
            if reply is None:
                raise TimeoutError(f"{self._server.name} does not answer")
        except OSError:
            frames.close()
            raise
        if isinstance(reply, ResponseError):
            frames.close()
            raise _error(reply)
        with self._turn:
            self._session, granted = reply[0]
            self.timeout, self._sent, self._pinged, self._frames = granted / 1000, time.monotonic(), None, frames
            self._turn.notify_all()
        self._become(KazooState.CONNECTED)
        return frames

    def _talk(self, frames: Frames) -> None:
        """Reads until the connection ends, and pings. Returns once the session has been closed."""
        third = self.timeout / 3
        while self._frames is not None:
            since = self._sent if self._pinged is None else self._pinged
            frame = frames.next(since + third - time.monotonic())
            if frame is not None:
                self._take(frame)
            elif self._pinged is not None:
                raise TimeoutError(f"{self._server.name} has not answered a ping for {third:g} s")
            elif time.monotonic() >= self._sent + third:  # else a request has left meanwhile
                with self._turn:
                    self._send(Call("PING", ("", "", None), False), "PING")
                    self._pinged = self._sent

    def _take(self, frame: Any) -> None:
        if isinstance(frame, list) and isinstance(frame[0], bytes):
            if frame[0] == b"closed":
                raise SessionExpiredError("The ensemble has ended the session.")
            self._fire(frame[1].decode(), frame[2].decode())
            return
        call = self._pending.popleft()
        if call.name == "PING":
            self._pinged = None
        error = _error(frame) if isinstance(frame, ResponseError) else None
        if isinstance(error, exceptions.SessionMovedError):
            self._pending.appendleft(call)
            raise ConnectionResetError("another connection carries the session")
        gone = call.missing and isinstance(error, exceptions.NoNodeError)
        kind, path, watch = call.watcher
        if watch is not None and (gone or error is None):
            self._watches.setdefault((kind, path), {})[watch] = None
        call.end(None if gone else frame, None if gone else error)
        if call.name == "CLOSE":
            self._drop(ConnectionClosedError("This client has been stopped."))

    def _drop(self, error: Exception) -> None:
        """There is no connection: calls under way fail, watches fire, listeners are told."""
        with self._turn:
            frames, self._frames = self._frames, None
            pending, self._pending = self._pending, deque()
            over = not isinstance(error, ConnectionLoss)
            if over and self._session:
                self._session, self._ended = 0, self._ended + 1
            self._turn.notify_all()
        if frames is not None:
            frames.close()
            self._become(KazooState.SUSPENDED)
        if over:
            self._become(KazooState.LOST)
        for call in pending:
            call.end(None, error)
        watches, self._watches = self._watches, {}
        state = KeeperState.EXPIRED_SESSION if over else KeeperState.CONNECTING
        for watch in dict.fromkeys(watch for watchers in watches.values() for watch in watchers):
            self._to_tell.put((watch, WatchedEvent(EventType.NONE, state, None)))

    # -- telling -------------------------------------------------------------------------------------------------

    def _fire(self, event: str, path: str) -> None:
        for kind in ENDINGS[event]:
            for watch in self._watches.pop((kind, path), ()):
                self._to_tell.put((watch, WatchedEvent(event, KeeperState.CONNECTED, path)))

    def _become(self, state: str) -> None:
        if state == self.state:
            return
        self.state = state
        for listener in list(self._listeners):
            if self._call(listener, state) is True:
                self._listeners.remove(listener)

    def _tell(self) -> None:
        """The thread on which watches are called, one after the other."""
        while True:
            self._call(*self._to_tell.get())

    def _call(self, function: Callable[[Any], Any], what: Any) -> Any:
        """As kazoo, it survives what a listener or a watch raises, and says so."""
        try:
            return function(what)
        except Exception as error:
            self._node.note(
                f"{self._node.name}: a watch or listener of ZooKeeper raised {type(error).__name__}: {error}"
            )
            return None


def _error(answer: ResponseError) -> Exception:
    """kazoo's exception of this name."""
    name, _, rest = str(answer).partition(" ")
    return getattr(exceptions, f"{name}Error")(rest)  # type: ignore[no-any-return]
