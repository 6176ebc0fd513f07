"""The server's end of one connection: what has arrived there and who executes it."""

from __future__ import annotations

from collections import deque

from .data import Session
from .task import Task
from .wire import Connection, Packet


class Line:
    """The server's end of one connection: what has arrived and the session that executes it."""

    def __init__(self, connection: Connection | None) -> None:
        self.connection = connection
        self.inbox: deque[Packet | None] = deque()
        self.session: Session | None = None
        self.lane = ""  # of whoever sent the last command
        self.task: Task | None = None
        self.busy = False
        self.wrote = 0  # how far the stream to the replicas was at this connection's last write

    def take(self, packet: Packet | None) -> None:
        """A request, or None: the end of the stream, which also ends a command that waits."""
        assert self.task is not None
        self.inbox.append(packet)
        if packet is None and self.busy:
            self.task.hub.kill(self.task)
        elif not self.busy:
            self.task.hub.wake_now(self.task)

    def next(self) -> Packet | None:
        assert self.task is not None
        self.busy = False
        while not self.inbox:
            self.task.hub.park()
        self.busy = True
        return self.inbox.popleft()
