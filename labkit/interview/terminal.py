"""A mock interview in a terminal: asks, times, has the answer scored, asks again, proves, and sums up.

At a keyboard each choice is one key; from a pipe each is a line, so that a script can play a whole interview. What is
no choice gets a sentence and is asked anew. Ctrl-C, the end of the input or of the terminal leaves at any point, and
what was said until then is kept: words when they are entered, the score once the key points have been ticked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..progress import Progress
from .leaving import at_last, leaving
from .proof import claim, prove
from .scoring import RULE, allowed, said, summarise
from .sitting import Sitting
from .statusline import ticking, watched
from .words import CLEAR, GOT, LIMITS, minutes

YES_NO = {"y": "yes", "n": "no"}
HOW = (
    "Write your answer, and end it with an empty line. Or say it aloud, as to an interviewer, and press Enter when you "
    "have done."
)


@dataclass(frozen=True)
class Screen:
    """Where it is played. clock: seconds that only go forward.  pictures: the folder for the pictures of proofs."""

    pictures: Path
    clock: Callable[[], float] = time.monotonic
    console: Console = field(default_factory=lambda: Console(highlight=False))

    def say(self, text: str = "", style: str = "", indent: int = 0) -> None:
        self.console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))

    def key(self, question: str, choices: Mapping[str, str]) -> str:
        """One of `choices`, by its key or its word. Raises EOFError at the end of the input."""
        offered = ", ".join(f"{key} {word}" for key, word in choices.items())
        while True:
            typed = self._typed(f"{question} [{offered}] ").strip().lower()
            for key, word in choices.items():
                if typed in (key, word):
                    return key
            self.say(f"{typed!r} is no answer here; it is one of: {offered}.", "yellow")

    def _typed(self, prompt: str) -> str:
        self.console.print(Text(prompt, "bold"), end="")
        if not watched():
            lines: list[str] = []
            self._read("", lines)
            return lines[0]
        key = typer.getchar()
        if key == "\x04":  # Ctrl-D
            raise EOFError
        self.say("" if key in "\r\n" else key)
        return key

    def answer(self, lines: list[str], limits: str) -> float:
        """Adds what is entered to `lines`, up to an empty line, and returns the seconds that it took."""
        start = self.clock()

        def says() -> str:
            return f"{minutes(self.clock() - start)}{limits}"

        while not lines or lines[-1].strip():
            with ticking(says):
                self._read(f"{minutes(self.clock() - start)} > ", lines)
        return self.clock() - start

    def _read(self, prompt: str, lines: list[str]) -> None:
        """Adds a line to `lines`, before anything else can happen to it. At a keyboard, `input` lets the line be
        edited; from a pipe nothing echoes what was read."""
        if watched():
            lines.append(_edited(prompt, lines))
            return
        self.console.print(Text(prompt), end="")
        lines.append(sys.stdin.readline())
        self.say(lines[-1].rstrip("\n"))
        if not lines[-1]:
            raise EOFError


def _edited(prompt: str, lines: list[str]) -> str:
    """A line from the keyboard; one that an interrupt finds half typed is added to `lines` as it is."""
    try:
        import readline  # arrows edit the line
    except ImportError:  # not on Windows, where the console does it
        return input(prompt)
    try:
        return input(prompt)
    except KeyboardInterrupt:
        lines.append(readline.get_line_buffer())
        raise


def play(sittings: Sequence[Sitting], screen: Screen) -> bool:
    """Asks one question after the other. Returns whether the interview was played to its end."""
    names = ", ".join(sitting.drill.name for sitting in sittings)
    screen.say(f"A mock interview: {names}. For each answer {LIMITS}.")
    screen.say("Ctrl-C leaves at any point; what you have said until then is kept.", "dim")
    try:
        with leaving():
            for number, sitting in enumerate(sittings, 1):
                head = f"{sitting.drill.name} · {sitting.drill.title}"
                screen.say(f"\nQuestion {number} of {len(sittings)} · {head}", "bold")
                ask(sitting, screen)
    except (KeyboardInterrupt, EOFError):
        screen.say("\nYou have left the interview. What you said until then is kept.", "yellow")
        return False
    finally:
        conclude(sittings[0].interview, screen)
    return True


def ask(sitting: Sitting, screen: Screen) -> None:
    """One question from beginning to end. An interrupt gets out, after all that there is has been noted."""
    now = sitting
    with _noted(lambda: now):
        screen.say(" ".join(now.drill.question.split()), indent=2)
        screen.say(HOW, "dim")
        now = _listen(screen, f" of {LIMITS}", now.answered)
        limit = allowed(now.spoken)
        how = "aloud" if now.spoken else "in writing"
        screen.say(f"{minutes(now.seconds)} {how}; {minutes(limit)} were allowed.", "dim")
        now = _score(now, screen)
        now = replace(now, clear=int(screen.key("How well could you be followed?", CLEAR)))
        for step in _follow_up(now, screen):
            now = step


@contextmanager
def _noted(sitting: Callable[[], Sitting]) -> Iterator[None]:
    """The review as it stands is noted, however the block ends."""
    try:
        yield
    except BaseException:
        at_last()
        raise
    finally:
        sitting().note()


def _listen(screen: Screen, limits: str, take: Callable[[str, float], Sitting]) -> Sitting:
    """Hears an answer; lines that were entered before an interrupt are an answer too, and so they are before any
    other end: a terminal that is closed fails in many ways."""
    lines: list[str] = []
    start = screen.clock()
    try:
        seconds = screen.answer(lines, limits)
    except BaseException:
        at_last()
        if _joined(lines):
            take(_joined(lines), screen.clock() - start)
        raise
    return take(_joined(lines), seconds)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip("\n") for line in lines).strip()


def _score(sitting: Sitting, screen: Screen) -> Sitting:
    """Ticks the key points one by one, then what is often said and wrong."""
    rubric = sitting.drill.rubric
    screen.say("\nKey points. Did your answer have it?", "bold")
    points = _ticks(sitting, "k", rubric.key_points, screen)
    screen.say("\nOften said, and wrong. Did you say it?", "bold")
    wrong = _ticks(sitting, "w", rubric.wrong, screen)
    of = len(rubric.key_points)
    screen.say(f"\n{len(points)} of {of} key points, and {len(wrong)} of what is often said and wrong.")
    return sitting.ticked(points, wrong)


def _ticks(sitting: Sitting, kind: str, claims: Sequence[str], screen: Screen) -> list[int]:
    ticked = []
    for number, words in enumerate(claims, 1):
        screen.say(f"{number}/{len(claims)} {words}", indent=2)
        runs = claim(sitting.drill, kind, number)
        choices = YES_NO | ({"p": "prove it"} if runs else {})
        while (key := screen.key("  Said?" if kind == "w" else "  Had it?", choices)) == "p":
            show(runs, screen)
        ticked += [number] if key == "y" else []
    return ticked


def _follow_up(sitting: Sitting, screen: Screen) -> Iterator[Sitting]:
    """Asks the follow-up, has it proved or answered, and asks whether it was got. Yields the sitting at each step, for
    the next one may be interrupted."""
    missed = f"You missed {', '.join(map(str, sitting.missed))}" if sitting.missed else "You missed nothing"
    screen.say(f"\n{missed}. The interviewer goes on:", "bold")
    screen.say(sitting.asks.asks, indent=2)
    sitting = _listen(screen, "", sitting.followed)
    sitting = yield from _settle(sitting, screen, {"p": "prove it", "a": "the answer"})
    screen.say(sitting.asks.answer, indent=2)
    if not sitting.proved:
        sitting = yield from _settle(sitting, screen, {"p": "prove it", "g": "go on"})
    yield replace(sitting, got=GOT[screen.key("Had you answered it?", GOT)])


def _settle(sitting: Sitting, screen: Screen, choices: Mapping[str, str]) -> Generator[Sitting, None, Sitting]:
    while screen.key("Next?", choices) == "p":
        show(sitting.asks.proof, screen)
        sitting = sitting.proven(after="a" not in choices)
        yield sitting
    return sitting


def show(runs: Sequence[str], screen: Screen) -> None:
    """«Prove it»: what each run tells, and where its picture is. A picture that cannot be written costs a sentence."""
    for run in runs:
        proof = prove(run)
        screen.say(str(proof), indent=2)
        try:
            screen.say(f"Its picture: {proof.save(screen.pictures)}", "cyan", indent=2)
        except OSError as error:
            screen.say(f"Its picture cannot be written ({error}); `--pictures` names another folder.", "yellow", 2)


def conclude(interview: str, screen: Screen) -> None:
    """The four axes of this interview, and by which rule."""
    reviews = [each for each in Progress.open().record().reviews if each.interview == interview]
    if not reviews:
        screen.say("\nNo answer was scored, so there is no summary.")
        return
    screen.say("\nSummary", "bold")
    for axis, number in summarise(reviews).levels.items():
        screen.say(f"  {axis:<16} {'#' * (number or 0):<4} {said(number)}{f', {number} of 4' if number else ''}")
    screen.say(f"\nHow this is computed:\n{RULE}", "dim")
