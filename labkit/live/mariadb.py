"""A real MariaDB for one learner or one test: on a private socket, and gone when its owner is gone.

    with MariaDbServer() as server:
        connection = server.connect()          # PyMySQL's own, in no database yet

It is Debian's (or any other) `mariadbd`, with its data in a fresh folder that only this user may enter; it listens on a
socket in there, and on no network address at all. It has no tables of users: whoever can open the socket may do
everything. Nothing of it is meant to outlive a crash. Program and folder go at `stop()`, at the end of the `with`, at
the exit, and when this process is killed: see `_guard.py`. The driver, PyMySQL, is loaded when it is first needed.
"""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labkit.live._lifeline import Lifeline, ServerFailed

NOT_FOUND = (
    "No MariaDB was found: there is no program called mariadbd on PATH or in /usr/sbin. Get one with `apt install "
    "mariadb-server` (Debian, Ubuntu) or `brew install mariadb` (macOS)."
)
NO_DRIVER = "PyMySQL, the driver for MariaDB, is not installed here. Get it with `pip install pymysql`."
SOCKET_PATH_LIMIT = 103  # bytes: sun_path holds 104 on macOS and 108 on Linux, with its closing zero
SMALL = (
    "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=4M",
    "--innodb-flush-log-at-trx-commit=0",  # for speed: no machine really dies here
    "--skip-log-bin",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",  # texts that differ are different, as in SQLite
)


class MariaDbNotFound(RuntimeError):
    """No MariaDB can be used here; the message says how to get one."""


def find_mariadb() -> str | None:
    """The program that `MariaDbServer` would start, or None where there is none."""
    if sys.platform == "win32":  # no socket of a file's kind there
        return None
    return shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin")


def driver() -> Any:
    """The package pymysql. Raises MariaDbNotFound where it is not installed."""
    try:
        return importlib.import_module("pymysql")
    except ImportError as error:
        raise MariaDbNotFound(NO_DRIVER) from error


class MariaDbServer:
    """A MariaDB of one's own, for `with` or for `start()` and `stop()`. patience: seconds to wait for its answer."""

    def __init__(self, patience: float = 30.0) -> None:
        self._patience = patience
        self._line: Lifeline | None = None

    def start(self) -> Self:
        """Starts it and waits until it answers; one that was started already is left as it is. Raises MariaDbNotFound,
        or ServerFailed with the end of its log."""
        if self._line is None:
            program = find_mariadb()
            if program is None:
                raise MariaDbNotFound(NOT_FOUND)
            driver()
            self._line = Lifeline("MariaDB", _place())
            try:
                self._launch(self._line, program)
            except BaseException:
                self.stop()
                raise
        return self

    def stop(self) -> None:
        """Ends the server and removes its folder; without effect when it is stopped."""
        if self._line:
            self._line.close()
        self._line = None

    @property
    def folder(self) -> Path | None:
        """Where its data and its socket are, while it runs."""
        return Path(self._line.folder) if self._line else None

    def connect(self, database: str | None = None) -> Any:
        """A new connection: each statement commits by itself, and the number of rows is that of those found."""
        if self._line is None:
            raise ServerFailed(
                "This MariaDbServer is not running: use `with MariaDbServer() as server:`, or start() it."
            )
        pymysql = driver()
        flags = pymysql.constants.CLIENT.FOUND_ROWS
        where = {"unix_socket": _socket(self._line.folder), "database": database}
        return pymysql.connect(**where, user="root", autocommit=True, client_flag=flags)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _launch(self, line: Lifeline, program: str) -> None:
        """The guard starts programs that read what to do from stdin; this one is a Python that becomes mariadbd."""
        line.ask("start", program=sys.executable, config=_configure(program, line.folder))
        end = time.monotonic() + self._patience
        while True:
            if _listens(_socket(line.folder)):
                self.connect().close()
                return
            code = line.ask("poll")["code"]
            if code is not None:
                raise ServerFailed(f"MariaDB ended with code {code}. {line.log()}")
            if time.monotonic() > end:
                raise ServerFailed(f"MariaDB did not answer within {self._patience:g} seconds. {line.log()}")
            time.sleep(0.02)


def _listens(path: str) -> bool:
    """Whether somebody takes connections there. Asked without PyMySQL, which leaves a refused socket open."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def _place() -> str:
    """The folder to make our folder in: the path of a socket must be short."""
    temporary = tempfile.gettempdir()
    fits = len(os.fsencode(_socket(os.path.join(temporary, "labkit-12345678")))) <= SOCKET_PATH_LIMIT
    return temporary if fits else "/tmp"


def _socket(folder: str) -> str:
    return os.path.join(folder, "mariadb.sock")


def _configure(program: str, folder: str) -> str:
    """What the starting Python does: become mariadbd with these arguments."""
    data = os.path.join(folder, "data")
    arguments = [program, "--no-defaults", f"--datadir={data}", f"--tmpdir={data}", f"--socket={_socket(folder)}"]
    arguments += [f"--pid-file={os.path.join(data, 'pid')}", "--skip-networking", "--skip-grant-tables", *SMALL]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # it refuses to be root unless it is told so
        arguments.append("--user=root")
    return f"import os\nos.mkdir({data!r}, 0o700)\nos.execv({program!r}, {arguments!r})\n"
