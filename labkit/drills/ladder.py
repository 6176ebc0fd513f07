"""Help, one rung at a time: three hints, then the model answer; each rung taken is written down.

    hint("q1")            the next hint
    hint("q1", 1)         the first one again
    model_answer("q1")    after an attempt of your own

The model answer is the one the exercise was cut from, so it is known to earn full points. `rubric` is how a spoken
answer is scored; it gives no code away.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import dropwhile
from pathlib import Path

from .. import progress
from ..progress import Sentence
from .drill import Drill, load, spoken

HERE = Path(__file__).parent


class Page(Sentence):
    """Markdown that shows itself in a notebook, and is readable as it stands in a shell."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def hint(question: str, number: int | None = None) -> Page:
    """The next hint to `question`, or hint `number` once more. After the last one: where the model answer is. Raises
    ValueError for a question or a number that does not exist, or a hint that is not due yet."""
    drill = load(question)
    taken = min(progress.hints_taken(question), len(drill.hints))
    wanted = min(taken + 1, len(drill.hints) + 1) if number is None else number
    if (
        isinstance(wanted, bool)
        or not isinstance(wanted, int)
        or not 1 <= wanted <= len(drill.hints) + (number is None)
    ):
        raise ValueError(f"hint {number!r} of {question} does not exist: there are 1 to {len(drill.hints)}.")
    if wanted > len(drill.hints):
        return Page(f'Those were all {len(drill.hints)} hints. `model_answer("{question}")` shows the model answer.')
    if wanted > taken + 1 and question not in progress.Progress.open().record().opened:
        raise ValueError(f"hint {wanted} of {question} comes after hint {taken + 1}: hints are taken one by one.")
    progress.note_hint(question, wanted)
    return Page(f"**Hint {wanted} of {len(drill.hints)}.** {drill.hints[wanted - 1]}")


def model_answer(question: str) -> Page:
    """The model answer to `question`, once you have made an attempt of your own; before that, what to do first."""
    load(question)
    if not progress.tries(question):
        return Page(
            f"The model answer to {question} is shown after an attempt of your own, be it half right: write something, "
            f'run `check("{question}")`, and come back. Until then there are hints: `hint("{question}")`.'
        )
    progress.note_model_answer(question)
    lines = (HERE / question / "model.py").read_text(encoding="utf-8").splitlines()
    code = "\n".join(dropwhile(lambda line: line.startswith("#") or not line, lines)).strip()
    return Page(f"**Model answer to {question}**\n\n```python\n{code}\n```")


def rubric(question: str, said: Iterable[int] | None = None) -> Page:
    """How a spoken answer to `question` is scored. `said`: the numbers of the key points that yours had. Raises
    ValueError for a number that does not exist."""
    drill = spoken(question)
    if said is None:
        return Page("\n".join([f"**{question}: one point for each.**", "", *_points(drill)]))
    mine = {_point(drill, number) for number in said}
    missing = [n for n in range(1, len(drill.rubric.key_points) + 1) if n not in mine]
    head = f"**{len(mine)} of {len(drill.rubric.key_points)} key points.**"
    if not missing:
        return Page(f"{head} Nothing is left out.")
    return Page("\n".join([f"{head} Left out:", "", *(f"- {n}: {drill.rubric.key_points[n - 1]}" for n in missing)]))


def _points(drill: Drill) -> list[str]:
    wrong = ["", "Often said, and wrong:", "", *(f"- {text}" for text in drill.rubric.wrong)]
    return [*(f"{n}. {text}" for n, text in enumerate(drill.rubric.key_points, 1)), *wrong]


def _point(drill: Drill, number: int) -> int:
    most = len(drill.rubric.key_points)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise ValueError(f"Key point {number!r} of {drill.name} does not exist: there are 1 to {most}.")
    return number
