"""The edges of P3: when the server granted, when the resource took the write, and what a recording does not show. What
no story can bring about is written down as a timeline, row by row.
"""

from __future__ import annotations

from typing import Any

from labkit.checks import CHECKS
from labkit.stories import play
from labkit.timeline import Event, Timeline


def test_the_order_of_grants_is_the_servers_not_that_of_their_arrival() -> None:
    timeline = play("gc-pause", lock="ghost", at=0.0006, pause=12.0)  # B is granted, and hears of it, before A hears
    verdict = CHECKS["no_stale_write"](timeline)
    assert verdict.holds is False and verdict.why.startswith("A's write")


HELD = {"value": "a", "until": 10.0, "owner": "A", "grant": 0}
TAKEN = {"value": "b", "until": 20.0, "owner": "B", "grant": 3}
WRITE = (10.5, "A", "invoke", "write", {"resource": "disk", "grant": 0, "value": 1}, None)
LATE = (12.0, *WRITE[1:])
GRANT = (11.0, "redis", "apply", "SET stock b", {"keys": {"stock": TAKEN}}, 3)
HEARD = (11.0, "B", "ok", "acquire", {"token": "b", "deadline": 20.0, "grant": 3}, 3)


def written(*rows: tuple[Any, ...]) -> Timeline:
    """A run in which A is granted the lock until 10 s and B asks for it; `rows` follow: t, node, kind, name, data,
    cause. The cause of a row without one is A's write."""
    first = [
        (0.0, "A", "invoke", "acquire", {"key": "stock", "ttl": 10}, None),
        (1.0, "redis", "apply", "SET stock a", {"keys": {"stock": HELD}}, 0),
        (1.0, "A", "ok", "acquire", {"token": "a", "deadline": 10.0, "grant": 0}, 0),
        (9.0, "B", "invoke", "acquire", {"key": "stock", "ttl": 10}, None),
        (10.0, "redis", "expire", "stock", {"keys": {"stock": None}}, None),
    ]
    write = next((len(first) + n for n, row in enumerate(rows) if row in (WRITE, LATE)), None)
    return Timeline(
        tuple(Event(n, *(row if len(row) == 6 else (*row, write))) for n, row in enumerate([*first, *rows]))
    )


def no_stale_write(*rows: tuple[Any, ...]) -> bool | None:
    return CHECKS["no_stale_write"](written(*rows)).holds


def test_a_write_to_a_resource_that_is_not_recorded_still_counts() -> None:
    assert no_stale_write(GRANT, HEARD, LATE, (13.0, "A", "ok", "write", {})) is False


def test_a_grant_between_call_and_return_of_such_a_write_leaves_it_open() -> None:
    assert no_stale_write(WRITE, GRANT, HEARD, (13.0, "A", "ok", "write", {})) is None


def test_doubts_about_several_writes_are_one_doubt() -> None:
    again = (10.6, *WRITE[1:])
    assert no_stale_write(WRITE, again, GRANT, HEARD, (13.0, "A", "ok", "write", {})) is None


def test_a_write_before_the_grant_is_fine() -> None:
    assert no_stale_write(WRITE, (10.9, "A", "ok", "write", {}), GRANT, HEARD) is True


def test_a_write_that_was_sent_and_never_applied_was_not_accepted() -> None:
    sent = (12.0, "A", "send", "SET disk 1", {"to": "redis"})
    assert no_stale_write(GRANT, HEARD, LATE, sent) is True


def test_a_write_without_an_answer_may_or_may_not_have_been_accepted() -> None:
    assert no_stale_write(GRANT, HEARD, LATE) is None


def test_in_one_microsecond_the_order_of_events_decides() -> None:
    applied, answered = (11.0, "redis", "apply", "SET disk 1", {"keys": {}}), (11.5, "A", "ok", "write", {})
    assert no_stale_write(WRITE, applied, GRANT, HEARD, answered) is True
    assert no_stale_write(WRITE, GRANT, HEARD, applied, answered) is False


def test_a_refused_write_is_no_stale_write() -> None:
    assert no_stale_write(GRANT, HEARD, LATE, (13.0, "A", "fail", "write", {})) is None
