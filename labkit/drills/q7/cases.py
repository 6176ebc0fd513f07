"""The material of the plays: tasks and effects, drawn anew each time, and the scripts of `commit_step`, which say what
may have become of a task by the time its worker finishes a step."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .bench import Effect, Row

TASKS = "report-7 invoice-run stock-count mail-run night-batch refunds export-3 archive".split()
TWICE = "INSERT INTO stock VALUES (?, ?)", ("nuts", 1)
NO_TABLE = "INSERT INTO no_such_table VALUES (?)", (1,)
TOO_FEW = "UPDATE stock SET pieces = ? WHERE item = ?", (1,)
RAISES = {TWICE[0]: "IntegrityError", NO_TABLE[0]: "OperationalError", TOO_FEW[0]: "ProgrammingError"}
LIMIT = 10_000


@dataclass(frozen=True)
class Case:
    """A call, and what came before it. progress: by its fields, without the lease; None: what the last call gave.
    row: what the table holds by then for the task, if that has changed; "gone": no row.  right: whether the step has to
    be committed.  over: how long ago the lease ended, in seconds."""

    about: str
    progress: Row | None
    data: str
    statements: tuple[Effect, ...]
    row: Row | str | None = None
    right: bool = True
    over: float = -30.0


def cast(draw: random.Random) -> tuple[str, Row, tuple[Row, ...], float]:
    """A task, its row, the rows of other tasks, and the lock's TTL."""
    task, *others = draw.sample(TASKS, 3)
    mine = (task, draw.randrange(1, 60), "B", draw.randrange(3, 20), f"order-{draw.randrange(1000, 9999)}")
    rest = tuple(
        (name, draw.randrange(1, 60), "C", draw.randrange(20), f"ünit {draw.randrange(99)}") for name in others
    )
    return task, mine, rest, round(draw.uniform(10, 40), 1)


def sends(draw: random.Random) -> Effect:
    """An effect that is seen if it is there twice."""
    return "INSERT INTO sent VALUES (NULL, ?)", (f"mail {draw.randrange(10_000)}",)


def takes_out(draw: random.Random) -> Effect:
    """Another, of which the order does not matter."""
    return "UPDATE stock SET pieces = pieces - ? WHERE item = ?", (draw.randrange(1, 9), draw.choice(("bolts", "nuts")))


def steps(draw: random.Random, mine: Row) -> list[Case]:
    """Some steps of a task, one after the other; the second has no effects of its own."""
    texts = [f"order-{draw.randrange(1000, 9999)}", "", f'{{"größe": {draw.randrange(99)}}}', "锁" * 3000]
    effects = [(sends(draw), takes_out(draw)), (), (takes_out(draw),), (sends(draw), takes_out(draw), sends(draw))]
    first = Case("A holds the task", mine, texts[0], effects[0])
    return [first, *(Case("A goes on", None, text, made) for text, made in zip(texts[1:], effects[1:], strict=True))]


def zombies(draw: random.Random, mine: Row) -> list[Case]:
    """What may have become of a task that A has taken over as `mine`."""
    task, epoch, worker, step, data = mine
    stories: list[tuple[str, Row | str, bool, float]] = [
        ("B has taken the task over, and finished nothing yet", (task, epoch + 1, "B", step, data), False, 5.0),
        ("A's lease is over, but nobody has taken the task over", mine, True, 7.0),
        ("B has taken the task over, and finished a step", (task, epoch + 1, "B", step + 1, "b"), False, 5.0),
        ("A itself has taken the task over anew", (task, epoch + 1, worker, step, data), False, -30.0),
        ("a failover forgot A's take-over, and B was given the same epoch", (task, epoch, "B", step, data), False, 5.0),
        ("A's step is finished already, and the one after it", (task, epoch, worker, step + 2, "x"), False, -30.0),
        ("a failover of the database forgot the last step", (task, epoch, worker, step - 1, "w"), False, -30.0),
        ("a failover forgot A's take-over", (task, epoch - 1, "B", step, data), False, -30.0),
        ("the row is gone", "gone", False, -30.0),
        ("nothing has changed", mine, True, -30.0),
    ]
    return [
        Case(f"{about[0].upper()}{about[1:]}", mine, "next", (sends(draw),), row, right, over)
        for about, row, right, over in stories
    ]


def again(draw: random.Random, mine: Row) -> list[Case]:
    """The reply to a commit was lost, so A tries again."""
    effects = sends(draw), takes_out(draw)
    return [
        Case("A finishes a step", mine, "one", effects),
        Case("A passes the same Progress a second time", mine, "one", effects, right=False),
        Case("A passes it a third time, with other effects", mine, "other", (sends(draw),), right=False),
    ]


def broken(draw: random.Random, mine: Row) -> list[Case]:
    bad = [TWICE, NO_TABLE, TOO_FEW]
    draw.shuffle(bad)
    return [
        Case("Its last statement raises", mine, "next", (sends(draw), takes_out(draw), bad[0])),
        Case("Its second statement raises", mine, "next", (takes_out(draw), bad[1], sends(draw))),
        Case("Its first statement raises", mine, "next", (bad[2], sends(draw))),
        Case("After that all its statements are sound", mine, "next", (sends(draw), takes_out(draw))),
    ]


def large(draw: random.Random, mine: Row) -> list[Case]:
    """Sizes on both sides of the limit, in letters of one, two, three and four bytes."""
    more = draw.randrange(3_400, 9_000)
    texts = ["x" * LIMIT, "x" * (LIMIT + 1), "é" * 5_000, "锁" * 3_333 + "x", "锁" * 3_334, "😀" * 2_501, "锁" * more]
    sound = [text for text in texts if len(text.encode()) <= LIMIT]
    rest = [text for text in texts if text not in sound]
    draw.shuffle(rest)
    cases = [Case(_sized(text), mine, text, (sends(draw),), row=mine) for text in sound]
    return cases + [Case(_sized(text), mine, text, (sends(draw),), row=mine) for text in rest]


def _sized(text: str) -> str:
    return f"`data` has {len(text)} characters, {len(text.encode())} bytes in UTF-8"


def every_way_out(draw: random.Random, mine: Row) -> list[Case]:
    task, epoch, _, step, data = mine
    effects = (sends(draw),)
    return [
        Case("A finishes a step", mine, "one", effects),
        Case("A passes the same Progress a second time", mine, "one", effects, right=False),
        Case("A's second statement raises", mine, "one", (*effects, TWICE), row=mine),
        Case("`data` is too large", mine, "x" * (LIMIT + 1), effects, row=mine),
        Case("The row is gone", mine, "one", effects, row="gone", right=False),
        Case("B has taken the task over", mine, "one", effects, (task, epoch + 1, "B", step, data), right=False),
        Case("A holds the task again", mine, "one", (), row=mine),
    ]


SCRIPTS: Mapping[str, Callable[[random.Random, Row], list[Case]]] = {
    "one transaction": steps,
    "zombie refused": zombies,
    "effect once": again,
    "errors pass": broken,
    "data limit": large,
    "transaction closed": every_way_out,
}
