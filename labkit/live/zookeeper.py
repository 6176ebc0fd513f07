"""A real ZooKeeper for one learner or one test: a single server on loopback, gone when its owner is gone.

    with ZooKeeperServer() as server:
        client = KazooClient(server.hosts, timeout=1.0)

It is Debian's (`apt install zookeeper`), run from its jar with a small heap, on a random port, with its data in a fresh
folder that only this user may enter. It asks for no password: whoever is on this machine and finds the port can speak
to it, so put nothing there that matters. Server and folder go at `stop()`, at the exit, and when this process is
killed: see `_guard.py`. One server is no ensemble; the protocol, the sessions and the log are the same.
"""

import contextlib
import os
import shlex
import shutil
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from labkit.live._lifeline import Lifeline, ServerFailed
from labkit.live._port import PORTS_TO_TRY, free_port
from labkit.live.redisserver import _place

JARS = ("/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar")  # the second one writes the log
MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
LONGEST = 60_000  # milliseconds that a session may be granted; as shipped it is 20 ticks
JAVA = ("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
NOT_FOUND = (
    "No ZooKeeper was found: it takes java on the PATH and /usr/share/java/zookeeper.jar, which `apt install "
    "zookeeper` brings on Debian and Ubuntu; LABKIT_ZOOKEEPER_JAR names a jar elsewhere."
)


class ZooKeeperNotFound(RuntimeError):
    """There is no ZooKeeper on this machine; the message says how to get one."""


def find_zookeeper() -> str | None:
    """The class path to run ZooKeeper from, or None. Raises ZooKeeperNotFound where LABKIT_ZOOKEEPER_JAR leads
    nowhere."""
    named = os.environ.get("LABKIT_ZOOKEEPER_JAR", "")
    if named and not Path(named).is_file():
        raise ZooKeeperNotFound(f"LABKIT_ZOOKEEPER_JAR={named} is no file. Name the jar, or leave it out.")
    jars = (named, *JARS[1:]) if named else JARS
    if os.name != "posix" or shutil.which("java") is None or not Path(jars[0]).is_file():
        return None
    return os.pathsep.join(jars)


class ZooKeeperServer:
    """A server of one's own, for `with` or for `start()` and `stop()`.

    tick     seconds; a session lasts at least two of them (at most a minute) and ends up to one late
    reaping  seconds between two rounds in which empty containers are deleted
    patience seconds to wait for the first answer
    """

    def __init__(self, *, tick: float = 0.1, reaping: float = 60.0, patience: float = 30.0) -> None:
        self._tick, self._reaping, self._patience = tick, reaping, patience
        self._line: Lifeline | None = None
        self._port = 0

    def start(self) -> Self:
        """Starts it and waits until it answers. Raises ZooKeeperNotFound where there is none, ServerFailed (with the
        end of its log) when it does not answer."""
        if self._line is None:
            jars = find_zookeeper()
            if jars is None:
                raise ZooKeeperNotFound(NOT_FOUND)
            self._line = Lifeline("ZooKeeper", _place(True)[0])
            try:
                self._open(self._line, jars)
            except BaseException:
                self.stop()
                raise
        return self

    def stop(self) -> None:
        """Ends the server and removes its folder; without effect when stopped."""
        if self._line is not None:
            self._line.close()
        self._line = None

    def kill(self) -> None:
        """Crashes it (SIGKILL). Its log is on disk: `restart()` brings it back with all that it had acknowledged."""
        self._own().ask("kill")

    def restart(self) -> None:
        """Crashes it and starts it again at the same address, with its log: nodes are there, sessions go on."""
        line = self._own()
        line.ask("kill")
        self._launch(line, find_zookeeper() or "")

    @property
    def hosts(self) -> str:
        """What kazoo's client is given."""
        self._own()
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _own(self) -> Lifeline:
        if self._line is None:
            raise ServerFailed("This ZooKeeperServer is not running: use `with ZooKeeperServer() as server:`.")
        return self._line

    def _open(self, line: Lifeline, jars: str) -> None:
        """On a port that is free just now; on another one if somebody else was faster."""
        for left in reversed(range(PORTS_TO_TRY)):
            self._port = free_port()
            try:
                self._launch(line, jars)
                return
            except ServerFailed as error:
                if not left or "in use" not in str(error):
                    raise

    def _launch(self, line: Lifeline, jars: str) -> None:
        """The guard runs a program that reads its configuration from stdin: here a shell, which becomes the server."""
        config = Path(line.folder) / "zoo.cfg"
        config.write_text(self._config(line.folder), encoding="utf-8")
        reaping = f"-Dznode.container.checkIntervalMs={round(self._reaping * 1000)}"
        command = ["java", *JAVA, reaping, "-cp", jars, MAIN, str(config)]
        line.ask("start", program="sh", config=f"exec {shlex.join(command)}\n")
        self._await(line)

    def _config(self, folder: str) -> str:
        lines = {
            "tickTime": round(self._tick * 1000),
            "maxSessionTimeout": LONGEST,
            "dataDir": os.path.join(folder, "data"),
            "clientPort": self._port,
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "ruok,srvr",
            "maxClientCnxns": 0,
        }
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    def _await(self, line: Lifeline) -> None:
        """Waits, within bounds, until it says that it is fine."""
        end = time.monotonic() + self._patience
        while not self._is_fine():
            code = line.ask("poll")["code"]
            if code is not None:
                raise ServerFailed(f"ZooKeeper ended with code {code}. {line.log()}")
            if time.monotonic() > end:
                raise ServerFailed(f"ZooKeeper gave no answer within {self._patience:g} seconds. {line.log()}")
            time.sleep(0.02)

    def _is_fine(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1.0) as probe:
            probe.sendall(b"ruok")
            return probe.recv(16) == b"imok"
        return False
