"""A real Redis for one learner or one test: private, with a password, and gone when its owner is gone.

    with RedisServer() as server:
        server.client().set("lock", "mine", nx=True, px=10_000)

It listens on a unix socket in a fresh folder that only this user may enter, or (`tcp=True`, and where there are no
unix sockets) on a random port of 127.0.0.1. The password is random and travels on stdin only. Server and folder go at
`stop()`, at the end of the `with`, at the exit, and when this process is killed: see `_guard.py`. Where
LABKIT_REDIS_URL is set, nothing is started and nothing is stopped: that server is used as it is.
"""

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from labkit.live._lifeline import Lifeline, ServerFailed
from labkit.live._port import PORTS_TO_TRY, free_port
from labkit.live.find import NOT_FOUND, Found, RedisNotFound, find_redis

SOCKET_PATH_LIMIT = 103  # bytes: sun_path holds 104 on macOS and 108 on Linux, with its closing zero
ONE_PING = 0.5  # seconds until the next try: whoever took our port may accept and say nothing
UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"


class RedisServer:
    """A Redis server of one's own, for `with` or for `start()` and `stop()`.

    tcp      listen on a random port of 127.0.0.1 rather than on a unix socket
    persist  write each change to disk before the reply (AOF, fsync always), so that data outlives `kill()`
    patience seconds to wait for the first answer
    found    the Redis to use; without it, the one that `find_redis()` finds
    """

    def __init__(
        self, *, tcp: bool = False, persist: bool = False, patience: float = 10.0, found: Found | None = None
    ) -> None:
        self._tcp, self._persist, self._patience, self._wanted = tcp, persist, patience, found
        self._found: Found | None = None
        self._line: Lifeline | None = None
        self._url = self._config = ""

    def start(self) -> Self:
        """Start the server and wait until it answers PING; a server that was started already is left as it is.

        Raises RedisNotFound where there is none, ServerFailed (with the end of its log) when it does not answer.
        """
        if self._found is None:
            found = self._wanted or find_redis()
            if found is None:
                raise RedisNotFound(NOT_FOUND)
            self._found = found
            try:
                self._open(found)
            except BaseException:
                self.stop()
                raise
        return self

    def stop(self) -> None:
        """End the server and remove its folder; without effect on a server of LABKIT_REDIS_URL, or when stopped."""
        if self._line:
            self._line.close()
        self._line = self._found = None

    def kill(self) -> None:
        """Crash the server (SIGKILL): nothing is saved, connections break. `restart()` brings it back."""
        self._own("killed").ask("kill")

    def restart(self, *, keep_data: bool) -> None:
        """Stop and start the server at the same address with the same password.

        With `keep_data` it saves first, as an operator would; keys keep their deadline, and time passes meanwhile.
        Raises ServerFailed when there is no data to keep: the server was killed and had not been made to persist.
        """
        line = self._own("restarted")
        alive = line.ask("poll")["code"] is None
        if keep_data and not alive and not self._persist:
            raise ServerFailed(
                f"{self.found} was killed with its data in memory only, so there is nothing to keep. Use "
                "restart(keep_data=False), or RedisServer(persist=True) for a server whose data outlives a crash."
            )
        if keep_data and alive:
            self._save_and_shut_down()
            line.ask("wait")
        line.ask("kill")
        if not keep_data:
            _remove_data(Path(line.folder))
        self._launch(line)

    @property
    def found(self) -> Found:
        """Which Redis this is: kind, place and version."""
        if self._found is None:
            raise ServerFailed("This RedisServer is not running: use `with RedisServer() as server:`, or start() it.")
        return self._found

    @property
    def url(self) -> str:
        """The address for any Redis client, password included: hand it on, do not print it."""
        return self.found.where if self.found.kind == "url" else self._url

    @property
    def pid(self) -> int | None:
        """The process number of the server; None when it is down, or was not started here."""
        state = self._line.ask("poll") if self._line else {"code": 0}
        return state["pid"] if state["code"] is None else None

    @property
    def folder(self) -> Path | None:
        """The private folder of the server; None for a server that was not started here."""
        return Path(self._line.folder) if self._line else None

    def client(self, **options: Any) -> redis.Redis:
        """A new redis-py client with redis-py's own defaults, or with `options` as for `redis.Redis`."""
        return redis.Redis.from_url(self.url, **options)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<RedisServer: {self._found or 'not running'}>"

    def _own(self, done: str) -> Lifeline:
        """The guard of our server; a server that somebody else runs is not ours to stop."""
        if self._line is None:
            raise ServerFailed(f"{self.found} was not started by the lab, so it cannot be {done} by the lab.")
        return self._line

    def _open(self, found: Found) -> None:
        """Start a guard, then the server in it; on TCP once more when the port was taken in the meantime."""
        if found.kind == "url":
            return
        place, on_socket = _place(self._tcp)
        self._line = Lifeline("Redis", place)
        for left in reversed(range(1 if on_socket else PORTS_TO_TRY)):
            where = _on_socket(self._line.folder) if on_socket else _on_port()
            self._url, self._config = _configure(where, self._line.folder, self._persist)
            try:
                self._launch(self._line)
                return
            except ServerFailed as error:
                if not left or "in use" not in str(error):
                    raise

    def _launch(self, line: Lifeline) -> None:
        """Start the program and wait, within bounds, until it answers with our password."""
        line.ask("start", program=self.found.where, config=self._config)
        end = time.monotonic() + self._patience
        with self._impatient(ONE_PING) as client:
            while True:
                try:
                    client.ping()
                    return
                except (RedisError, OSError) as error:
                    code = line.ask("poll")["code"]
                    if code is not None:
                        raise ServerFailed(f"{self.found} ended with code {code}. {line.log()}") from error
                    if time.monotonic() > end:
                        why = f"gave no answer to PING within {self._patience:g} seconds ({error})"
                        raise ServerFailed(f"{self.found} {why}. {line.log()}") from error
                time.sleep(0.005)

    def _save_and_shut_down(self) -> None:
        """SHUTDOWN SAVE in one step, so that no write falls between the saving and the end; its reply is the end."""
        with self._impatient(self._patience) as client, contextlib.suppress(redis.exceptions.ConnectionError):
            client.execute_command("SHUTDOWN", "SAVE")

    def _impatient(self, timeout: float) -> redis.Redis:
        return self.client(socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0))


def _place(tcp: bool) -> tuple[str, bool]:
    """The folder to make our folder in, and whether a unix socket can be had there: its path must be short."""
    temporary = tempfile.gettempdir()
    if UNIX_SOCKETS and not tcp:
        for place in (temporary, "/tmp", "/var/tmp"):
            path = os.path.join(place, "labkit-12345678", "redis.sock")
            if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT and os.access(place, os.W_OK | os.X_OK):
                return place, True
    return temporary, False


def _on_socket(folder: str) -> tuple[str, str]:
    """The URL (with a gap for the password) and the lines of configuration of a server on a private unix socket."""
    path = os.path.join(folder, "redis.sock")
    return f"unix://:%s@{quote(path).replace('%', '%%')}", f"port 0\nunixsocket {_quoted(path)}\nunixsocketperm 700"


def _on_port() -> tuple[str, str]:
    """The same on a port of the loopback address that is free just now."""
    port = free_port()
    return f"redis://:%s@127.0.0.1:{port}/0", f"port {port}"


def _configure(where: tuple[str, str], folder: str, persist: bool) -> tuple[str, str]:
    """The URL and the whole configuration, with a password made for it."""
    password = secrets.token_hex(24)
    lines = [
        where[1],
        "bind 127.0.0.1",
        "protected-mode yes",
        f"requirepass {password}",
        f"dir {_quoted(folder)}",
        'save ""',
        "appendonly yes\nappendfsync always" if persist else "appendonly no",
        "daemonize no",
    ]
    return where[0] % password, "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _remove_data(folder: Path) -> None:
    for name in ("dump.rdb", "appendonly.aof"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "appendonlydir", ignore_errors=True)
