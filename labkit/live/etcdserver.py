"""A real etcd for one learner or one test: one member on the loopback address, gone when its owner is gone.

    with EtcdServer() as server:
        lock = EtcdLock(EtcdClient(*server.etcd()), "stock")

It is Debian's (or any other) `etcd` program, on random ports of 127.0.0.1, with its data in a fresh folder. Program and
folder go at `stop()`, at the end of the `with`, at the exit, and when this process is killed: see `_guard.py`. Its
election time-out is short, so that leases of one second can be had. It has no password: whoever can log in to this
machine can use it, so nothing but tests belongs there. Clients speak to its JSON gateway, by the standard library.
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labkit.live._lifeline import Lifeline, ServerFailed
from labkit.live._port import PORTS_TO_TRY, free_port

NOT_FOUND = (
    "No etcd was found: there is no program of that name on PATH. Get one with `apt install etcd-server` (Debian, "
    "Ubuntu) or `brew install etcd` (macOS)."
)
HEARTBEAT, ELECTION = 50, 250  # milliseconds; a lease lasts one and a half election time-outs at least

Post = Callable[[str, dict[str, Any]], dict[str, Any]]


class EtcdNotFound(RuntimeError):
    """No etcd can be used here; the message says how to get one."""


def find_etcd() -> str | None:
    """The program that `EtcdServer` would start, or None where there is none."""
    return shutil.which("etcd")


class EtcdServer:
    """An etcd of one's own, for `with` or for `start()` and `stop()`. patience: seconds to wait for a leader."""

    def __init__(self, patience: float = 20.0) -> None:
        self._patience = patience
        self._line: Lifeline | None = None
        self._port, self._start = 0, ""

    def start(self) -> Self:
        """Starts it and waits until it has a leader; one that was started already is left as it is. Raises
        EtcdNotFound, or ServerFailed with the end of its log."""
        if self._line is None:
            program = find_etcd()
            if program is None:
                raise EtcdNotFound(NOT_FOUND)
            self._line = Lifeline("etcd", tempfile.gettempdir())
            try:
                self._open(self._line, program)
            except BaseException:
                self.stop()
                raise
        return self

    def stop(self) -> None:
        """Ends the server and removes its folder; without effect when it is stopped."""
        if self._line:
            self._line.close()
        self._line = None

    def restart(self) -> None:
        """Kills it (SIGKILL) and starts it again at the same address, with its data: it has written all it said."""
        if self._line is None:
            raise ServerFailed("This EtcdServer is not running: use `with EtcdServer() as server:`, or start() it.")
        self._line.ask("kill")
        self._launch(self._line)

    @property
    def folder(self) -> Path | None:
        """Where its data is, while it runs."""
        return Path(self._line.folder) if self._line else None

    def etcd(self, timeout: float = 5.0) -> tuple[Post, Callable[[dict[str, Any]], Stream]]:
        """What an EtcdClient needs: `post` and `watch`. timeout: seconds to wait for an answer."""
        return (lambda path, body: post(self._port, path, body, timeout)), (
            lambda body: Stream(self._port, body, timeout)
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _open(self, line: Lifeline, program: str) -> None:
        """On ports that are free just now; on others if somebody else was faster."""
        for left in reversed(range(PORTS_TO_TRY)):
            self._port, peers = free_port(), free_port()
            self._start = _configure(program, line.folder, self._port, peers)
            try:
                self._launch(line)
                return
            except ServerFailed as error:
                if not left or "in use" not in str(error):
                    raise

    def _launch(self, line: Lifeline) -> None:
        """The guard starts programs that read what to do from stdin; this one is a Python that becomes etcd."""
        line.ask("start", program=sys.executable, config=self._start)
        end = time.monotonic() + self._patience
        while True:
            try:
                if "error" not in post(self._port, "/v3/kv/range", {"key": "YQ=="}, 1.0):  # a read that needs a leader
                    return
            except OSError:
                pass
            code = line.ask("poll")["code"]
            if code is not None:
                raise ServerFailed(f"etcd ended with code {code}. {line.log()}")
            if time.monotonic() > end:
                raise ServerFailed(f"etcd had no leader within {self._patience:g} seconds. {line.log()}")
            time.sleep(0.02)


def post(port: int, path: str, body: dict[str, Any], timeout: float) -> dict[str, Any]:
    """One request to the gateway on a connection of its own; its answer, be it a result or an error. Raises OSError
    (TimeoutError, ConnectionError) where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        told: dict[str, Any] = json.loads(text) if text.startswith("{") else {"error": text.strip(), "code": 12}
        return told
    except http.client.HTTPException as error:
        raise ConnectionError(f"etcd's gateway broke off its answer: {error!r}") from error
    finally:
        connection.close()


class Stream:
    """A watch: one JSON message a line for as long as it is open. HTTP/1.0, which has no chunks."""

    def __init__(self, port: int, body: dict[str, Any], timeout: float) -> None:
        self._rest = b""
        data = json.dumps(body).encode()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        try:
            self._socket.sendall(b"POST /v3/watch HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data))
            while (line := self._line()).strip():
                if line.startswith(b"HTTP/") and b" 200 " not in line:
                    raise ConnectionError(f"etcd's gateway answers a watch with {line!r}")
        except BaseException:
            self.close()
            raise

    def read(self, timeout: float) -> dict[str, Any] | None:
        """The next message; None if there is none within `timeout` seconds. Raises ConnectionError at the end."""
        end = time.monotonic() + timeout
        while True:
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                line = self._line()
            except TimeoutError:
                return None
            if line.strip():
                message: dict[str, Any] = json.loads(line)
                return message

    def close(self) -> None:
        self._socket.close()

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("etcd has closed the stream of a watch.")
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return line


def _configure(program: str, folder: str, port: int, peers: int) -> str:
    """What the starting Python does: become etcd with these arguments, and without what the environment would tell an
    etcd: that could open it to the network, or have it write elsewhere."""
    clients, members = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peers}"
    arguments = [program, "--name=lab", f"--data-dir={Path(folder) / 'etcd'}", "--logger=zap", "--log-level=warn"]
    arguments += [f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"]
    arguments += [f"--listen-peer-urls={members}", f"--initial-advertise-peer-urls={members}"]
    arguments += [f"--initial-cluster=lab={members}", f"--heartbeat-interval={HEARTBEAT}"]
    arguments.append(f"--election-timeout={ELECTION}")
    rest = "{name: value for name, value in os.environ.items() if not name.startswith('ETCD_')}"
    return f"import os\nos.execve({program!r}, {arguments!r}, {rest})\n"
