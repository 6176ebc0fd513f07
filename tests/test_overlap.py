"""Who believed at the same time, and what was done after a lease had ended."""

from __future__ import annotations

import pytest

from labkit.overlap import guards, lease_over, overlaps
from tests.viz import builders
from tests.viz.builders import Script


def test_an_overlap_reaches_from_the_second_grant_to_the_first_end_of_belief() -> None:
    (found,) = overlaps(builders.gc_pause())
    assert (found.key, found.nodes) == ("stock", ("A", "B"))
    assert found.start == pytest.approx(10.051)
    assert found.end == pytest.approx(37.02)


def test_one_of_two_believers_has_a_valid_lease_after_a_pause() -> None:
    (found,) = overlaps(builders.gc_pause())
    assert found.valid == 1


def test_beliefs_that_only_touch_do_not_overlap() -> None:
    script = Script()
    a = script.grant(0.0, "A")
    script.add(1.001, "A", "lost", "stock", grant=a)
    script.grant(1.0, "B")
    assert overlaps(script.timeline()) == ()


def test_three_believers_make_one_overlap() -> None:
    script = Script()
    for n, node in enumerate("ABC"):
        script.grant(float(n), node)
    script.add(5.0, "A", "note", "The end.")
    (found,) = overlaps(script.timeline())
    assert found.nodes == ("A", "B", "C")
    assert found.valid == 3


def test_different_locks_do_not_overlap() -> None:
    script = Script()
    script.grant(0.0, "A", "one")
    script.grant(1.0, "B", "other")
    assert overlaps(script.timeline()) == ()


def test_a_write_is_late_if_it_is_executed_after_the_lease() -> None:
    timeline = builders.gc_pause()
    late = [op.node for op in timeline.ops("write") if lease_over(timeline, op)]
    assert late == ["A"]


def test_a_write_without_any_lock_is_not_late() -> None:
    script = Script()
    script.write(1.0, "A", 1)
    timeline = script.timeline()
    assert lease_over(timeline, timeline.ops("write")[0]) is None


def test_a_key_with_a_prefix_that_an_acquisition_wrote_stands_for_the_lock() -> None:
    script = Script()
    call = script.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    state = {"value": "t", "until": 10.0, "owner": "A", "grant": call}
    counter = {"value": "1", "until": None, "owner": "A", "grant": call}
    script.command(0.0, "A", "EVAL", call, {"lock:stock": state, "lock:fence": counter})
    timeline = script.timeline()
    assert guards(timeline, "lock:stock")
    assert not guards(timeline, "lock:fence")


def test_what_an_acquisition_leaves_beside_the_locks_own_key_is_no_second_lock() -> None:
    script = Script()
    call = script.grant(0.0, "A")
    receipt = {"value": "1", "until": 60.0, "owner": "A", "grant": call}
    script.command(1.0, "A", "EVAL release", call, {"stock": None, "{stock}:released:tok-A": receipt})
    timeline = script.timeline()
    assert guards(timeline, "stock")
    assert not guards(timeline, "{stock}:released:tok-A")
