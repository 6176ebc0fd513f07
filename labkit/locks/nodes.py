"""Nodes: several servers asked at once, by one thread, under one deadline.

The command leaves for all before the first answer is read, over connections that are kept between rounds; so a round
takes as long as its slowest node, and no longer than its deadline, however many are silent. Answers come in the order
of the commands, and each connection counts those that it owes: a late one is never taken for another's. What is sent
behind a command that has had no answer arrives behind it. It decides nothing: what an answer is worth is the caller's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from redis.exceptions import RedisError, ResponseError, TimeoutError

from .round import NodeAnswer, Vote
from .safe import LUA, SHA

Judge = Callable[[Any], tuple[Vote, str]]  # a reply, or the error that a server replied -> the vote, and why
STALE = 1.0  # seconds: a connection that has rested for longer is looked at before it is used
TROUBLE = (RedisError, OSError)  # what may befall a node; anything else is a bug, and shows
ONCE: dict[str, Any] = {"retry": None, "retry_on_error": [], "retry_on_timeout": False, "health_check_interval": 0}


class Command(NamedTuple):
    """A command, packed once for all nodes. A script goes by its name, and in full until a node has answered to it: one
    that keeps silent cannot ask for it."""

    short: bytes
    full: bytes
    script: str = ""


def plain(*words: str | int) -> Command:
    packed = b"*%d\r\n%b" % (len(words), pack(*words))
    return Command(packed, packed)


def script(name: str, *keys_and_args: str | int) -> Command:
    """One of `safe`'s scripts; of its words the last two are arguments."""
    words = b"*%d\r\n" % (len(keys_and_args) + 3), pack(len(keys_and_args) - 2, *keys_and_args)
    return Command(HASHED[name].join(words), IN_FULL[name].join(words), name)


def pack(*words: str | int) -> bytes:
    """Words as Redis reads them."""
    encoded = [str(word).encode() for word in words]
    return b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded])


HASHED = {name: pack("EVALSHA", sha) for name, sha in SHA.items()}
IN_FULL = {name: pack("EVAL", source) for name, source in LUA.items()}


class Line:
    """The connection to one node. `owed`: how many answers are still to come; `late`, `trouble`: of the round that is
    on, whether it owed one before, and why nothing was sent."""

    def __init__(self, client: Any) -> None:
        self._pool, self._connection = client.connection_pool, None  # type: Any, Any
        self.name, self.owed, self.used = name_of(client), 0, 0.0
        self.late, self.trouble = False, None  # type: bool, Exception | None
        self._script, self._known = "", {""}  # what was asked last, and what this node has by name

    def post(self, command: Command) -> bool:
        """Sends, if there is a connection that still works."""
        if self._connection is None:
            return False
        self.late, self.trouble, self._script = self.owed > 0, None, command.script
        self.owed += 1  # first, so that an interruption leaves one too many and never one too few
        packed = command.short if command.script in self._known else command.full
        try:
            self._connection.send_packed_command([packed], check_health=False)
        except TROUBLE as error:
            self.close()
            self.trouble = error
        except BaseException:
            self.close()
            raise
        return self.trouble is None

    def open(self, patience: float) -> None:
        """Connects anew, once, as the client's own pool would. `patience`: seconds for each step of it."""
        try:
            if patience <= 0:
                raise TimeoutError("The round was over before its turn came.")
            limits = {"socket_timeout": patience, "socket_connect_timeout": patience}
            connection = self._pool.connection_class(**self._pool.connection_kwargs | ONCE | limits)
            connection.connect()
        except TROUBLE as error:
            self.trouble = error
            return
        self._connection, self.trouble = connection, None

    def read(self, end: float) -> Any:
        """The answer to the last command, or the error that it is. Raises TimeoutError if it has not come by `end`, a
        moment of `time.monotonic()`, and ConnectionError; what has arrived is taken even then."""
        reply: Any = None
        while self.owed:
            wait = max(0.0, end - time.monotonic())
            try:
                reply = self._connection.read_response(disable_decoding=True, timeout=wait, disconnect_on_error=False)
            except ResponseError as error:
                reply = error.with_traceback(None)
            except TimeoutError:
                raise
            except BaseException:
                self.close()
                raise
            self.owed -= 1
        return reply

    def answer(self, judge: Judge, start: float, until: float, last: bool) -> NodeAnswer | None:
        """What this node says of the command; None if it has not said it by `until` and that is not the `last` look."""
        error, came, silent, reply = self.trouble, False, False, None
        if error is None:
            try:
                reply, came = self.read(until), True
            except TimeoutError as silence:
                if not last:
                    return None
                error, silent = silence, True
            except TROUBLE as why:
                error = why
        self.used = now = time.monotonic()
        if came:
            vote, said = judge(reply)
            error = reply if isinstance(reply, Exception) else None
            (self._known.discard if error else self._known.add)(self._script)
            return NodeAnswer(self.name, True, True, vote, now - start, said, error)
        assert error is not None
        said = "no answer" if silent else str(error).partition("\n")[0]
        sent = self.trouble is None
        return NodeAnswer(self.name, sent, False, "unknown", now - start, said, error.with_traceback(None))

    def settle(self, farewell: Command | None = None) -> None:
        """Before new business. A connection that owes an answer from before is given up, for the link may be dead; the
        `farewell` goes down it first, behind what it is still carrying. So is one that the server has closed."""
        if self._connection is None or not (self.owed or time.monotonic() - self.used > STALE):
            return
        with suppress(*TROUBLE):
            self.read(0.0)
            if not self._connection.can_read(0):
                return
        if self._connection is not None and farewell is not None:
            self.post(farewell)
        self.close()

    def close(self) -> None:
        connection, self._connection, self.owed, self._known = self._connection, None, 0, {""}
        if connection is not None:
            connection.disconnect()


class Lines:
    """A line to each node, in the hands of one thread at a time."""

    def __init__(self, clients: Sequence[Any]) -> None:
        self.lines = [Line(client) for client in clients]

    def settle(self, farewell: Command | None = None) -> None:
        for line in self.lines:
            line.settle(farewell)

    def ask(self, command: Command, judge: Judge, end: float, which: Iterable[int] | None = None) -> list[NodeAnswer]:
        """Sends the command to all nodes, or to `which`, and reads what they answer until `end`. A node that owed an
        answer before gets the command behind the earlier ones and is not waited for."""
        start = time.monotonic()
        lines = self.lines if which is None else [self.lines[n] for n in which]
        missing = [line for line in lines if not line.post(command)]
        for line in missing:  # the others are answering meanwhile
            line.open((end - time.monotonic()) / (len(self.lines) + 1))  # one share is left for the answers
            line.post(command)
        return self._answers(lines, judge, start, end)

    def _answers(self, lines: list[Line], judge: Judge, start: float, end: float) -> list[NodeAnswer]:
        """Goes round among those that have not answered, and stays with each for longer from turn to turn: so that a
        silent one does not hide when the others answered."""
        found, stay = dict[Line, NodeAnswer](), (end - start) / 64
        while len(found) < len(lines):
            for line in lines:
                if line not in found:
                    until = start if line.late else min(end, time.monotonic() + stay)
                    came = line.answer(judge, start, until, last=line.late or until == end)
                    if came is not None:
                        found[line] = came
            stay *= 2
        return [found[line] for line in lines]


class Nodes:
    """Servers that know nothing of each other, and the lines to them: one set for each thread that is in a round at the
    same time. May be shared by many locks. Raises ValueError for none, for an even number unless `even`, and for two
    that are one server."""

    def __init__(self, clients: Iterable[Any], even: bool = False) -> None:
        self.clients = tuple(clients)
        names = [name_of(client) for client in self.clients]
        twice = sorted({name for name in names if names.count(name) > 1})
        if not names or (len(names) % 2 == 0 and not even):
            why = "One more than an odd number can lose no more of them; say even=True if it is meant."
            raise ValueError(f"{len(names)} nodes: give an odd number. {why}")
        if twice:
            raise ValueError(f"{twice[0]} is there twice: each node must be a server of its own.")
        self.majority = len(names) // 2 + 1
        self._idle, self._pid = list[Lines](), os.getpid()

    def __len__(self) -> int:
        return len(self.clients)

    @contextmanager
    def lines(self) -> Iterator[Lines]:
        """A set of lines for one piece of business; after an error it is not used again."""
        if self._pid != os.getpid():
            self._pid, self._idle = os.getpid(), []  # after a fork: those are the parent's
        try:
            lines = self._idle.pop()
        except IndexError:
            lines = Lines(self.clients)
        yield lines
        self._idle.append(lines)


def name_of(client: Any) -> str:
    """A server as its client calls it: host and port, or the path of its socket."""
    pool = client.connection_pool
    pieces = pool.connection_class(**pool.connection_kwargs).repr_pieces()
    return ":".join(str(value) for what, value in pieces if what not in ("db", "client_name"))
