"""SIGTERM, and SIGHUP of a terminal that is closed, leave an interview as Ctrl-C does, so that words are noted first.

Once the interview is being left, neither can interrupt what is written: a closed terminal fails first and sends its
signal afterwards. A signal that somebody else heeds or ignores (`nohup`) is left alone, and so is every signal outside
the main thread, where Python sets none. Windows gives a closed console no time, so there only entered answers are kept.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def leaving() -> Iterator[None]:
    """While the block runs, the first of these signals raises KeyboardInterrupt, and a further one does nothing."""
    main = threading.current_thread() is threading.main_thread()
    ours = [each for each in ENDINGS if main and signal.getsignal(each) is signal.SIG_DFL]
    try:
        for each in ours:
            signal.signal(each, _leave)
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


def at_last() -> None:
    """The interview is being left already: from now on, what `leaving` heeds does nothing."""
    for each in ENDINGS:
        if signal.getsignal(each) is _leave:
            signal.signal(each, signal.SIG_IGN)


def _leave(number: int, frame: FrameType | None) -> None:
    at_last()
    raise KeyboardInterrupt
