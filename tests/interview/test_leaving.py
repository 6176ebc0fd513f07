"""What ends a process leaves an interview first, once, and never while words are being noted."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from labkit.interview import begin, terminal
from labkit.interview.leaving import ENDINGS, at_last, leaving
from labkit.progress import Progress, Reply, logbook


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    """The signals as a process finds them, whatever a test does to them."""
    before = {each: signal.signal(each, signal.SIG_DFL) for each in ENDINGS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("number", ENDINGS)
def test_the_first_one_leaves_as_an_interrupt_does_and_the_next_does_nothing(number):
    with leaving():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        for each in ENDINGS:
            signal.raise_signal(each)
    assert [signal.getsignal(each) for each in ENDINGS] == [signal.SIG_DFL] * len(ENDINGS)


def test_once_the_interview_is_being_left_it_does_nothing():
    with leaving():
        at_last()
        signal.raise_signal(signal.SIGTERM)


def test_what_somebody_ignores_stays_ignored():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with leaving():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_words_are_noted_when_the_terminal_fails_and_its_signal_comes_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(screen: terminal.Screen, lines: list[str], limits: str) -> float:
        lines.append("half a thought\n")
        raise OSError(5, "Input/output error")

    def late(reply: Reply) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(terminal.Screen, "answer", fails)
    monkeypatch.setattr(logbook, "examine_reply", late)
    with suppress(OSError), leaving():
        terminal.ask(begin(["n1"])[0], terminal.Screen(home))
    assert [reply.text for reply in Progress.open().record().replies] == ["half a thought"]
