"""A clock in the last line of the terminal, while the program waits for a line from the keyboard.

The last row is taken out of the part that scrolls, as package managers do for their progress bars, so that what is
typed stays where it is, however long. A daemon thread writes there once a second, and only there. Where nobody looks (a
pipe, a dumb terminal, a window of a few rows) it does nothing at all.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SAVE, RESTORE, CLEAR = "\x1b7", "\x1b8", "\x1b[2K"


def watched() -> bool:
    """Whether a person sits at both ends of a terminal that knows its escape sequences."""
    dumb = os.environ.get("TERM", "dumb") == "dumb" and sys.platform != "win32"
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb


@contextmanager
def ticking(says: Callable[[], str]) -> Iterator[None]:
    """While the block runs, the last line says what `says()` returns, anew each second."""
    if not watched() or os.get_terminal_size().lines < 6:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_tick, args=(says, done), daemon=True)
    rows = os.get_terminal_size().lines
    # a new line first: the cursor may stand in the row that is taken away
    _write(f"\n{SAVE}\x1b[1;{rows - 1}r{RESTORE}\x1b[1A")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        rows = os.get_terminal_size().lines
        _write(f"{SAVE}\x1b[r\x1b[{rows};1H{CLEAR}{RESTORE}")


def _tick(says: Callable[[], str], done: threading.Event) -> None:
    while not done.is_set():
        columns, rows = os.get_terminal_size()
        _write(f"{SAVE}\x1b[1;{rows - 1}r\x1b[{rows};1H{CLEAR}\x1b[7m {says()[: columns - 3]} \x1b[0m{RESTORE}")
        done.wait(1.0)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
