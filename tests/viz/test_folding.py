"""Tries that changed nothing are folded, everything else is drawn or counted."""

from __future__ import annotations

from labkit.viz.folding import LIMIT, choose
from tests.viz import builders
from tests.viz.builders import Script


def test_a_short_run_is_drawn_whole() -> None:
    timeline = builders.peaceful()
    shown = choose(timeline)
    assert shown.timeline.events == timeline.events
    assert (shown.hidden, shown.folds, shown.missing) == (frozenset(), (), 0)


def test_of_many_refused_tries_the_first_and_the_last_are_drawn() -> None:
    shown = choose(builders.gc_pause(polls=60))
    (fold,) = shown.folds
    assert (fold.node, fold.count) == ("B", 58)
    drawn = [e for e in shown.events() if e.node == "B" and e.kind == "fail"]
    assert len(drawn) == 2


def test_four_tries_are_not_folded() -> None:
    assert choose(builders.gc_pause(polls=4)).folds == ()


def test_a_try_that_changed_a_key_is_never_folded() -> None:
    shown = choose(builders.gc_pause(polls=60))
    hidden = [shown.timeline.events[seq] for seq in shown.hidden]
    assert not [event for event in hidden if event.data.get("keys")]


def test_a_try_that_was_lost_is_never_folded() -> None:
    script = Script()
    for n in range(8):
        call = script.add(n * 1.0, "B", "invoke", "acquire", key="stock", ttl=10.0)
        sent = script.add(n * 1.0, "B", "send", "SET stock", call, to="redis")
        script.add(n + 0.1, "B", "drop", "SET stock", sent, to="redis")
        script.add(n + 0.5, "B", "fail", "acquire", call, reason="no answer")
    assert choose(script.timeline()).hidden == frozenset()


def test_tries_without_recorded_packets_are_folded_too() -> None:
    script = Script()
    for n in range(9):
        call = script.add(n * 1.0, "B", "invoke", "acquire", key="stock", ttl=10.0)
        script.add(n + 0.1, "B", "fail", "acquire", call, reason="busy")
    (fold,) = choose(script.timeline()).folds
    assert fold.count == 7


def test_what_is_cut_is_counted() -> None:
    timeline = builders.busy()
    shown = choose(timeline)
    assert len(shown.timeline) == LIMIT
    assert len(shown.timeline) + shown.missing == len(timeline)


def test_folding_comes_before_cutting() -> None:
    assert choose(builders.gc_pause(polls=100)).missing == 0


def test_requests_of_a_release_are_not_called_tries() -> None:
    script = Script()
    call = script.add(0.0, "A", "invoke", "release", key="stock")
    for n in range(6):
        script.command(n * 0.001, "A", "EVALSHA release stock", call, to=f"n{n}")
    (fold,) = choose(script.timeline()).folds
    assert (fold.count, fold.tries) == (4, False)
