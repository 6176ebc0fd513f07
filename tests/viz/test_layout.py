"""The picture as data: every text readable, every lane in its place, nothing left out in silence."""

from __future__ import annotations

from itertools import combinations

import pytest

from labkit.timeline import Timeline
from labkit.verdict import Verdict
from labkit.viz.folding import LIMIT
from labkit.viz.lanes import MAX_LANES, WIDTH
from labkit.viz.layout import layout
from labkit.viz.shapes import Picture, clash
from tests.viz import builders
from tests.viz.builders import Script

RUNS = [pytest.param(build, id=build.__name__) for build in builders.ALL]


def texts(picture: Picture) -> list[str]:
    return [label.text for label in picture.labels]


def verdict(*evidence: int) -> Verdict:
    return Verdict("No two believe.", False, "A and B did.", evidence)


@pytest.mark.parametrize("build", RUNS)
def test_no_two_texts_overlap(build: object) -> None:
    timeline = build()  # type: ignore[operator]
    labels = layout(timeline, [verdict(*range(0, len(timeline), 7))]).labels
    assert [(a.text, b.text) for a, b in combinations(labels, 2) if clash(a.rect, b.rect)] == []


@pytest.mark.parametrize("build", RUNS)
def test_every_text_is_on_the_card(build: object) -> None:
    picture = layout(build())  # type: ignore[operator]
    rects = [label.rect for label in picture.labels]
    assert all(x0 >= 0 and y0 >= 0 and x1 <= picture.width and y1 <= picture.height for x0, y0, x1, y1 in rects)


@pytest.mark.parametrize("build", RUNS)
def test_equal_timelines_give_equal_pictures(build: object) -> None:
    assert layout(build()) == layout(build())  # type: ignore[operator]


def test_an_empty_run_has_a_picture_that_says_so() -> None:
    assert "Nothing happened in this run." in texts(layout(Timeline(())))


def test_lanes_are_named_clients_first_then_servers_then_resources() -> None:
    names = [text for text in texts(layout(builders.fenced())) if text in ("A", "A/T2", "B", "redis", "store")]
    assert names == ["A", "A/T2", "B", "redis", "store"]


def test_threads_stand_next_to_their_client() -> None:
    script = Script()
    script.grant(0.0, "A")
    script.refused(1.0, "B")
    script.refused(2.0, "A/T2")
    names = [text for text in texts(layout(script.timeline())) if text in ("A", "A/T2", "B")]
    assert names == ["A", "A/T2", "B"]


def test_the_overlap_is_measured() -> None:
    assert "overlap 27 s" in texts(layout(builders.gc_pause()))


def test_a_short_overlap_is_measured_in_milliseconds() -> None:
    assert "overlap 48.6 ms" in texts(layout(builders.millisecond()))


def test_two_valid_leases_at_once_are_named() -> None:
    script = Script()
    script.grant(0.0, "A")
    script.grant(1.0, "B")
    script.add(5.0, "A", "note", "The end.")
    assert "overlap 4 s, both leases valid" in texts(layout(script.timeline()))


def test_a_peaceful_run_has_no_overlap() -> None:
    assert not [text for text in texts(layout(builders.peaceful())) if text.startswith("overlap")]


def test_belief_is_hatched_after_its_deadline() -> None:
    bars = [box for box in layout(builders.gc_pause()).boxes if box.hatch and box.x1 - box.x0 > 20]
    assert len(bars) == 1
    assert "lease over, still believes" in texts(layout(builders.gc_pause()))


def test_belief_that_ends_in_time_is_not_hatched() -> None:
    assert not [box for box in layout(builders.peaceful()).boxes if box.hatch]


def test_truth_names_the_owner_and_the_expiry() -> None:
    assert "A until 10.001 s" in texts(layout(builders.gc_pause()))


def test_a_renewed_lock_is_one_band_with_the_later_expiry() -> None:
    shown = texts(layout(builders.peaceful()))
    assert "A until 15 s" in shown
    assert "A until 10.001 s" not in shown


def test_faults_are_written_into_the_lanes() -> None:
    shown = texts(layout(builders.crash_and_restart()))
    for text in ("crash", "cut off from redis", "clock +5 s", "down", "restart, data lost"):
        assert text in shown


def test_a_pause_is_measured() -> None:
    assert "paused 35 s" in texts(layout(builders.gc_pause()))


def test_a_lost_packet_is_an_arrow_that_ends_early() -> None:
    lost = [arrow for arrow in layout(builders.crash_and_restart()).arrows if arrow.lost]
    assert len(lost) == 1


def test_a_packet_leads_from_sender_to_receiver() -> None:
    arrows = layout(builders.peaceful()).arrows
    assert len(arrows) == 16  # eight commands
    assert all(arrow.x0 < arrow.x1 for arrow in arrows)


def test_a_late_write_that_is_accepted_says_so() -> None:
    assert "A writes 8, lease over" in texts(layout(builders.gc_pause()))


def test_a_refused_write_is_a_cross_on_the_resource() -> None:
    picture = layout(builders.fenced())
    assert "A's 8 refused" in texts(picture)
    assert [mark for mark in picture.marks if mark.shape == "cross" and mark.size == 4.0]


def test_a_write_without_an_answer_is_neither_accepted_nor_refused() -> None:
    script = Script()
    call = script.add(0.0, "A", "invoke", "write", resource="sold", value=1)
    script.add(0.0, "A", "send", "SET sold 1", call, to="redis")
    script.add(5.0, "A", "unknown", "write", call, reason="TimeoutError: timed out")
    picture = layout(script.timeline())
    assert "A writes 1, no answer" in texts(picture)
    assert {mark.shape for mark in picture.marks} == {"hollow"}


def test_an_operation_without_an_answer_is_open() -> None:
    assert [mark for mark in layout(builders.crash_and_restart()).marks if mark.shape == "hollow"]


def test_evidence_is_circled_and_numbered() -> None:
    picture = layout(builders.gc_pause(), [verdict(0, 3)])
    assert len([mark for mark in picture.marks if mark.shape == "ring"]) == 2
    assert "1" in texts(picture)
    assert "1  BROKEN: No two believe. A and B did." in texts(picture)


def test_what_holds_is_counted_and_not_circled() -> None:
    picture = layout(builders.gc_pause(), [Verdict("c", True, "w", (0,)), Verdict("d", None, "w", (1,))])
    assert not [mark for mark in picture.marks if mark.shape == "ring"]
    assert "1 claim holds, 1 cannot be told from this run." in texts(picture)


def test_a_long_run_is_cut_with_a_notice() -> None:
    shown = texts(layout(builders.busy()))
    assert f"Cut after {LIMIT} events: 1500 later events are not shown; tell() has them all." in shown


def test_a_short_run_has_no_notice() -> None:
    assert not [text for text in texts(layout(builders.peaceful())) if "not shown" in text]


def test_lanes_beyond_what_can_be_read_are_named_in_a_notice() -> None:
    script = Script()
    for n in range(MAX_LANES + 3):
        script.refused(n * 0.1, f"C{n}")
    assert "4 lanes are not shown: C16, C17, C18, redis." in texts(layout(script.timeline()))


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    assert "packet lost" in texts(layout(builders.crash_and_restart()))
    assert "packet lost" not in texts(layout(builders.peaceful()))


def test_a_long_name_is_cut_and_stays_in_its_column() -> None:
    script = Script()
    script.refused(0.0, "an-uncommonly-long-name-of-a-client")
    label = next(label for label in layout(script.timeline()).labels if label.text.startswith("an-unc"))
    assert label.text.endswith("…")
    assert label.rect[2] < 60


def test_the_card_is_as_wide_as_promised_and_as_high_as_its_lanes_need() -> None:
    picture = layout(builders.gc_pause())
    assert picture.width == WIDTH == 9.5 * 72
    assert picture.height < 72 * (0.75 * 4 + 1)


def lanes_of(script: Script, *names: str) -> list[str]:
    return [text for text in texts(layout(script.timeline())) if text in names]


def test_clients_and_numbered_servers_are_in_order_whoever_comes_first() -> None:
    script = Script()
    for n, (client, server) in enumerate([("C", "n3"), ("A", "n10"), ("B", "n2")]):
        call = script.add(float(n), client, "invoke", "acquire", key="stock", ttl=10.0)
        script.command(float(n), client, "SET stock", call, to=server)
        script.add(n + 0.1, client, "fail", "acquire", call, reason="busy")
    assert lanes_of(script, "A", "B", "C", "n2", "n3", "n10") == ["A", "B", "C", "n2", "n3", "n10"]


def test_an_accepted_write_of_the_same_value_is_its_writers_from_then_on() -> None:
    script = Script()
    script.write(1.0, "B", 1)
    call = script.add(20.0, "A", "invoke", "write", resource="stock-count", value=1)
    script.add(script.command(20.0, "A", "SET stock-count 1", call), "A", "ok", "write", call)  # changes no key
    script.add(40.0, "A", "note", "The end.")
    shown = texts(layout(script.timeline()))
    assert "1 by B" in shown
    assert "1 by A" in shown


def test_what_a_long_acquisition_was_given_stands_at_its_end() -> None:
    script = Script()
    call = script.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    script.add(30.0, "A", "ok", "acquire", call, token="t", deadline=40.0, fence=42)
    placed = {label.text: label.x for label in layout(script.timeline()).labels}
    assert placed["fence 42"] > placed["acquire"] + 100


def test_a_promotion_says_who_is_cut_off() -> None:
    script = Script()
    script.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    script.command(0.0, "A", "SET stock", 0, to="r1")
    script.add(1.0, "r1", "promote", "r1", of="redis", isolated=["A"])
    shown = texts(layout(script.timeline()))
    assert "promoted to primary; A cut off with redis" in shown
    assert "becomes the primary" in shown  # the legend
