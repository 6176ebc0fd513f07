"""The parent's end of the guard (`_guard.py`): while it is open the server may live, and no longer.

The pipe to the guard is the whole idea: it closes when this process ends, however it ends. A forked child inherits
the pipe and would hold the server up, so each child closes its copy at once and owns nothing. What is still open
at a normal exit is closed before the interpreter goes, so that the folder is gone when the shell prompt is back.
"""

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

GUARD = str(Path(__file__).with_name("_guard.py"))
LOG = "server.log"  # in the folder; the guard calls it so
PATIENCE = 15.0  # seconds for the guard to clean up; it needs milliseconds


class ServerFailed(RuntimeError):
    """The server could not be started or did not do as it was told; the message holds the end of its log."""


class Lifeline:
    """One guard process, with its folder; `ask` gives it a command, `close` ends server, folder and guard.

    server: what messages call the program, such as Redis or etcd.  parent_of_folder: where the new folder goes.
    Raises ServerFailed when the guard cannot start, for instance in a folder that cannot be written.
    """

    def __init__(self, server: str, parent_of_folder: str) -> None:
        self.server, self.owner = server, os.getpid()
        self.folder, self._place = "", parent_of_folder
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", GUARD, parent_of_folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,  # raw pipes: a forked child can drop them without flushing somebody else's words
            start_new_session=True,  # Ctrl-C in the terminal is not for the guard
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        _open.add(self)
        try:
            self.folder = self._read()["folder"]
        except BaseException:
            self.close()
            raise

    def ask(self, do: str, **more: str) -> dict[str, Any]:
        """Give the guard one command; its answer holds the server's `pid` and exit `code` (None while it runs)."""
        if os.getpid() != self.owner:
            told = f"The {self.server} server belongs to process {self.owner}: only that process can {do} it."
            raise ServerFailed(told)
        assert self._process.stdin
        with self._turn:
            with contextlib.suppress(OSError):  # a guard that is gone is reported by the read
                self._process.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
            answer = self._read()
        if "error" in answer:
            raise ServerFailed(f"The {self.server} server could not be told to {do}: {answer['error']}.")
        return answer

    def log(self) -> str:
        """The end of the server's log as part of a message."""
        with contextlib.suppress(OSError):
            lines = (Path(self.folder) / LOG).read_text(errors="replace").splitlines()
            return "Its log ends: " + " | ".join(lines[-6:])
        return "It left no log."

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            place = self.folder or f"a new folder in {self._place}"
            told = f"The guard of the {self.server} server is gone; it needs {place}, which must be writable."
            raise ServerFailed(told)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the server, remove the folder, end the guard. Closing twice, or in a forked child, does nothing."""
        if self not in _open:
            return
        _open.discard(self)
        self._drop_pipes()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self.folder:  # only left over when the guard itself was killed
            shutil.rmtree(self.folder, ignore_errors=True)

    def _drop_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def abandon(self) -> None:
        """In a forked child: let go of the pipe, and of the guard, which is no child of this process."""
        self._drop_pipes()
        self._process.returncode = 0  # else Popen complains here about a process that is not ours to wait for


_open: set[Lifeline] = set()  # strong on purpose: a server lives until it is stopped, or until the exit


def _close_all() -> None:
    for line in list(_open):
        line.close()


def _abandon_all() -> None:
    for line in list(_open):
        line.abandon()
    _open.clear()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
