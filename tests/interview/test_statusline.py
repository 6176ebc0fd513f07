"""The clock in the last line: it writes only while somebody looks, and gives the line back."""

import io
import os
import threading
from contextlib import suppress

import pytest

from labkit.interview import statusline
from labkit.interview.statusline import CLEAR, RESTORE, SAVE, ticking, watched


class Window:
    """A terminal of so many rows, and what is written to it."""

    def __init__(self) -> None:
        self.rows, self.parts, self.ticked = 24, list[str](), threading.Event()

    def write(self, text: str) -> None:
        self.parts.append(text)
        if "0:07" in text:
            self.ticked.set()


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Window:
    made = Window()
    monkeypatch.setattr(statusline, "watched", lambda: True)
    monkeypatch.setattr(statusline, "_write", made.write)
    monkeypatch.setattr(os, "get_terminal_size", lambda: os.terminal_size((80, made.rows)))
    return made


def test_it_is_written_into_the_last_line_with_the_cursor_where_it_was(window: Window) -> None:
    with ticking(lambda: "0:07 of 3:00"):
        assert window.ticked.wait(10)
    tick = window.parts[1]
    assert tick.startswith(f"{SAVE}\x1b[1;23r\x1b[24;1H") and "0:07 of 3:00" in tick and tick.endswith(RESTORE)


def test_the_line_is_given_back(window: Window) -> None:
    with ticking(lambda: "0:07"):
        assert window.ticked.wait(10)
    assert window.parts[-1] == f"{SAVE}\x1b[r\x1b[24;1H{CLEAR}{RESTORE}"


def test_the_line_is_given_back_after_an_interrupt(window: Window) -> None:
    with suppress(KeyboardInterrupt), ticking(lambda: "0:07"):
        raise KeyboardInterrupt
    assert "\x1b[r" in window.parts[-1]


def test_a_window_of_a_few_rows_gets_nothing(window: Window) -> None:
    window.rows = 5
    with ticking(lambda: "0:07"):
        pass
    assert window.parts == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("keyboard", "screen", "term", "expected"),
    [
        (Terminal, Terminal, "xterm", True),
        (io.StringIO, Terminal, "xterm", False),
        (Terminal, io.StringIO, "xterm", False),
        (Terminal, Terminal, "dumb", False),
    ],
)
def test_a_pipe_and_a_dumb_terminal_are_not_looked_at(monkeypatch, keyboard, screen, term, expected):
    monkeypatch.setattr("sys.stdin", keyboard())
    monkeypatch.setattr("sys.stdout", screen())
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("TERM", term)
    assert watched() is expected
