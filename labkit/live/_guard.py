"""The guard: a small process that owns one server and its folder, and outlives its parent just long enough.

It runs as a plain script, on the standard library alone. Its stdin is the lifeline: the parent writes one JSON
command a line and gets one JSON reply a line; when the parent is gone, for whatever reason, stdin ends, and the guard
kills the server, removes the folder and goes. That works for SIGKILL too, and on macOS, where a child cannot ask to
die with its parent. On Linux the server in turn dies with the guard. The guard is the server's real parent, so that no
signal ever goes to a process number that was given away again.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 5.0  # seconds for an orderly exit before SIGKILL


def main(parent_of_folder: str) -> None:
    """Serve the commands start, poll, wait and kill until stdin ends."""
    for name in ("SIGINT", "SIGHUP"):  # Ctrl-C is for the parent
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.chdir(parent_of_folder)  # a learner's folder must not be held in use
    guard = Guard(tempfile.mkdtemp(prefix="labkit-", dir=parent_of_folder))
    try:
        reply({"folder": guard.folder})
        for line in iter(sys.stdin.readline, ""):
            reply(guard.obey(json.loads(line)))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        guard.end()


def reply(answer: dict[str, Any]) -> None:
    """Say one line to the parent; a parent that no longer listens is about to be noticed on stdin."""
    with contextlib.suppress(OSError):
        print(json.dumps(answer), flush=True)


class Guard:
    """One folder and at most one running server."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.server: subprocess.Popen[bytes] | None = None

    def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command; a failure of the machine (no such program, disk full) is an answer, not a death."""
        try:
            if command["do"] == "start":
                self.start(command["program"], command["config"])
            elif command["do"] == "wait":
                self.wait()
            elif command["do"] == "kill":
                self.kill()
            return {"pid": self.server and self.server.pid, "code": self.server and self.server.poll()}
        except OSError as error:
            return {"error": str(error)}

    def start(self, program: str, config: str) -> None:
        """Start the server with its configuration on stdin: the password is in no argument list and in no file."""
        self.kill()
        with open(os.path.join(self.folder, "server.log"), "ab") as log:
            self.server = subprocess.Popen(
                [program, "-"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # a group of its own: a background save is killed along with it
                preexec_fn=die_with_guard(),
            )
        assert self.server.stdin
        with contextlib.suppress(BrokenPipeError), self.server.stdin as stdin:
            stdin.write(config.encode("utf-8", "surrogateescape"))

    def wait(self) -> None:
        """Let a server that was told to shut down do so; kill it when it does not."""
        if self.server:
            try:
                self.server.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """The crash: no goodbye, nothing saved."""
        if self.server and self.server.poll() is None:
            if sys.platform == "win32":
                self.server.kill()
            else:
                os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()

    def end(self) -> None:
        """Leave nothing behind; a file that appears while the folder is being removed means one more try."""
        self.kill()
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                return
            time.sleep(0.05)


def die_with_guard() -> Callable[[], Any] | None:
    """What the server's process does before it becomes the server: on Linux, ask to die with the guard.

    The usual warning against preexec_fn is about threads; the guard has one.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    pr_set_pdeathsig = 1
    return lambda: prctl(pr_set_pdeathsig, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
