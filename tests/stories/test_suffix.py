"""The number in a node's name starts again with a new parent; the czxid does not."""

from __future__ import annotations

from labkit import judge, play


def outcomes(token: str) -> list[tuple[str, str, str]]:
    """What became of each call to the store from A's third turn on."""
    timeline = play("suffix", token=token)
    return [(op.node, op.name, op.outcome) for op in timeline.ops() if op.name in ("register", "write")][5:]


def test_by_the_czxid_the_late_write_is_refused_and_the_new_holder_works() -> None:
    assert outcomes("czxid") == [("B", "register", "ok"), ("A", "write", "fail"), ("B", "write", "ok")]


def test_by_the_number_the_new_holder_is_refused_and_the_late_write_taken() -> None:
    assert outcomes("suffix") == [("B", "register", "fail"), ("A", "write", "ok")]


def test_the_ensemble_itself_never_has_two_holders() -> None:
    assert judge(play("suffix", token="suffix"), "exclusive_grants").holds is True
