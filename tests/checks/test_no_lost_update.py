"""The edges of P4: what an update is, whose write came in between, and what a recording does not show."""

from __future__ import annotations

from typing import Any

from labkit.checks import CHECKS
from labkit.timeline import Event, Timeline
from labkit.verdict import Verdict

Row = tuple[float, str, str, str, dict[str, Any], int | None]


def called(node: str, name: str, at: float, until: float | None = None, resource: str = "sold") -> list[Row]:
    """A call with its end, on a server that is not recorded; until None: no answer."""
    call: Row = (at, node, "invoke", name, {"resource": resource, "value": 1}, None)
    end: Row = (until or 0.0, node, "ok", name, {"value": 0}, -1)
    return [call, end] if until else [call]


def run(*calls: list[Row]) -> Timeline:
    """The calls one after the other, or as their times interleave; a cause of -1 is the call that the row ends."""
    rows = sorted((row, number) for number, call in enumerate(calls) for row in enumerate(call))
    timed = sorted(rows, key=lambda r: (r[0][1][0], r[1]))
    place: dict[int, int] = {}
    events = []
    for seq, ((_, (t, node, kind, name, data, cause)), number) in enumerate(timed):
        place.setdefault(number, seq)
        events.append(Event(seq, t, node, kind, name, data, place[number] if cause == -1 else cause))
    return Timeline(tuple(events))


def judged(*calls: list[Row]) -> Verdict:
    return CHECKS["no_lost_update"](run(*calls))


READ, WRITE = called("A", "read", 1.0, 1.1), called("A", "write", 5.0, 5.1)


def test_a_write_between_read_and_write_is_lost() -> None:
    verdict = judged(READ, called("B", "write", 3.0, 3.1), WRITE)
    assert verdict.holds is False
    assert verdict.why.startswith("A's write of 1 to sold at t = 5.000 s overwrites B's of t = 3.000 s, unseen")


def test_blind_writes_are_no_updates() -> None:
    assert judged(called("B", "write", 3.0, 3.1), WRITE, called("B", "read", 6.0, 6.1)).holds is None


def test_a_write_before_the_read_has_been_seen() -> None:
    assert judged(called("B", "write", 0.5, 0.6), READ, WRITE).holds is True


def test_a_write_after_the_update_overwrites_it_blindly_and_is_no_update() -> None:
    assert judged(READ, WRITE, called("B", "write", 6.0, 6.1)).holds is True


def test_ones_own_write_in_between_is_no_harm() -> None:
    assert judged(READ, called("A", "write", 3.0, 3.1), WRITE, called("B", "read", 6.0, 6.1)).holds is True


def test_a_thread_of_the_same_client_is_another() -> None:
    assert judged(READ, called("A/T2", "write", 3.0, 3.1), WRITE).holds is False


def test_the_latest_read_counts() -> None:
    assert judged(READ, called("B", "write", 3.0, 3.1), called("A", "read", 4.0, 4.1), WRITE).holds is True


def test_a_read_that_has_not_come_back_is_not_what_the_write_is_based_on() -> None:
    assert judged(READ, called("B", "write", 3.0, 3.1), called("A", "read", 4.0), WRITE).holds is False


def test_another_resource_is_another_matter() -> None:
    assert judged(READ, called("B", "write", 3.0, 3.1, "elsewhere"), WRITE).holds is None


def test_a_write_that_overlaps_the_read_leaves_it_open() -> None:
    assert judged(READ, called("B", "write", 0.9, 1.05), WRITE).holds is None


def test_a_write_that_overlaps_the_write_leaves_it_open() -> None:
    assert judged(READ, called("B", "write", 4.9, 5.05), WRITE).holds is None


def test_a_write_that_got_no_answer_leaves_it_open() -> None:
    assert judged(READ, called("B", "write", 3.0), WRITE).holds is None


def test_a_loss_that_is_certain_outweighs_a_doubt() -> None:
    assert judged(READ, called("C", "write", 2.0), called("B", "write", 3.0, 3.1), WRITE).holds is False


def test_a_refused_write_is_lost_by_nobody() -> None:
    refused = called("B", "write", 3.0, 3.1)
    refused[1] = (3.1, "B", "fail", "write", {"reason": "refused"}, -1)
    assert judged(READ, refused, WRITE, called("B", "read", 6.0, 6.1)).holds is True


def test_one_client_alone_puts_nothing_to_the_test() -> None:
    assert judged(READ, WRITE).holds is None
