"""A timeline is a value: operations, belief and truth follow from its events, and JSON keeps it whole."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from labkit.timeline import KINDS, Event, Timeline

Row = tuple[Any, ...]  # t, node, kind, name, data, cause


def timeline(*rows: Row, **about: Any) -> Timeline:
    padded = [(*row, *((), (None,), ({}, None))[6 - len(row)]) for row in rows]
    return Timeline(tuple(Event(seq, *row) for seq, row in enumerate(padded)), **about)


def held(value: str = "x", until: float | None = None, owner: str = "A", grant: int | None = None) -> dict[str, Any]:
    return {"value": value, "until": until, "owner": owner, "grant": grant}


GRANT: tuple[Row, ...] = (
    (0.0, "A", "invoke", "acquire", {"key": "k", "ttl": 10}),
    (0.1, "A", "ok", "acquire", {"token": "t", "deadline": 9.9, "grant": 0}, 0),
)


# -- as a value ---------------------------------------------------------------------------------------------------


def test_equal_events_make_equal_timelines() -> None:
    assert timeline(*GRANT) == timeline(*GRANT)
    assert timeline(*GRANT) != timeline(*GRANT, seed=1)


def test_nothing_of_it_can_be_changed() -> None:
    run = timeline(*GRANT)
    with pytest.raises(FrozenInstanceError):
        run.seed = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        run.events[0].t = 3  # type: ignore[misc]


def test_it_is_as_long_as_its_events_and_gives_them_in_order() -> None:
    run = timeline(*GRANT)
    assert len(run) == 2
    assert [event.seq for event in run] == [0, 1]
    assert (run.end, timeline().end) == (0.1, 0.0)


def test_events_are_found_by_kind_node_and_name() -> None:
    run = timeline(*GRANT, (0.2, "B", "note", "hello"))
    assert run.find("note") == run.find(node="B") == run.find(name="hello") == (run.events[2],)
    assert run.find() == run.events
    assert run.find("note", "A") == ()


@pytest.mark.parametrize(
    ("about", "token"),
    [
        ({}, "#0"),
        ({"story": "s x=1", "seed": 3}, "s x=1 #3"),
        ({"story": "s", "seed": 3, "tape": "latency.A.1=2"}, "s #3 latency.A.1=2"),
    ],
)
def test_the_token_is_what_it_takes_to_have_the_run_again(about: dict[str, Any], token: str) -> None:
    assert timeline(**about).token == token


# -- operations ---------------------------------------------------------------------------------------------------


def test_a_call_and_its_end_are_one_operation() -> None:
    (op,) = timeline(*GRANT).ops()
    assert (op.seq, op.node, op.name, op.call, op.ret, op.outcome, op.end) == (0, "A", "acquire", 0.0, 0.1, "ok", 1)
    assert op.value["token"] == "t"


@pytest.mark.parametrize("kind", ["ok", "fail", "unknown"])
def test_the_outcome_is_the_kind_of_the_end(kind: str) -> None:
    (op,) = timeline(GRANT[0], (1.0, "A", kind, "acquire", {}, 0)).ops()
    assert (op.outcome, op.ret) == (kind, 1.0)


def test_without_an_answer_the_outcome_is_unknown() -> None:
    (op,) = timeline(GRANT[0]).ops()
    assert (op.outcome, op.ret, op.end, op.value) == ("unknown", None, None, {})


def test_operations_are_found_by_name() -> None:
    run = timeline(*GRANT, (0.2, "A", "invoke", "release", {"key": "k", "grant": 0}))
    assert [op.seq for op in run.ops("release")] == [2]
    assert [op.seq for op in run.ops()] == [0, 2]


def test_the_origin_of_an_event_is_found_along_its_causes() -> None:
    run = timeline(
        GRANT[0],
        (0.0, "A", "send", "SET", {}, 0),
        (0.1, "redis", "deliver", "SET", {}, 1),
        (0.1, "redis", "apply", "SET", {}, 2),
        (0.2, "redis", "expire", "k"),
    )
    assert run.origin(3) == run.origin(0) == run.ops()[0]
    assert run.origin(4) is None
    assert run.origin(None) is None


def test_the_keys_are_those_that_somebody_asked_for() -> None:
    other = (0.3, "B", "invoke", "acquire", {"key": "j"})
    assert timeline(*GRANT, other, (0.4, "B", "invoke", "acquire", {"key": "k"})).keys == ("k", "j")


# -- belief -------------------------------------------------------------------------------------------------------

RELEASE = (5.0, "A", "invoke", "release", {"key": "k", "grant": 0})


@pytest.mark.parametrize(
    ("ending", "why", "end"),
    [
        (RELEASE, "released", 5.0),
        ((6.0, "A", "lost", "k", {"grant": 0}), "lost", 6.0),
        ((7.0, "A", "crash", "A"), "crashed", 7.0),
        ((8.0, "B", "note", "something else"), "open", 8.0),
        ((8.0, "B", "crash", "B"), "open", 8.0),
        ((8.0, "A", "lost", "k", {"grant": 99}), "open", 8.0),
    ],
)
def test_a_belief_ends_with_what_ends_it(ending: Row, why: str, end: float) -> None:
    (belief,) = timeline(*GRANT, ending).belief()
    assert (belief.node, belief.key, belief.grant, belief.start) == ("A", "k", 0, 0.1)
    assert (belief.why, belief.end) == (why, end)


def test_a_belief_outlives_its_lease_and_says_how_long_it_was_valid() -> None:
    (belief,) = timeline(*GRANT, (30.0, "A", "invoke", "release", {"key": "k", "grant": 0})).belief()
    assert belief.end == 30.0
    assert belief.valid == ((0.1, 9.9),)


def test_a_renewal_in_time_makes_one_span_and_a_late_one_two() -> None:
    def extended(at: float) -> tuple[Row, ...]:
        return (
            (at, "A", "invoke", "extend", {"key": "k", "grant": 0}),
            (at + 0.1, "A", "ok", "extend", {"deadline": at + 10, "grant": 0}, 2),
            (40.0, "A", "note", "end"),
        )

    (early,) = timeline(*GRANT, *extended(5.0)).belief()
    (late,) = timeline(*GRANT, *extended(20.0)).belief()
    assert early.valid == ((0.1, 15.0),)
    assert late.valid == ((0.1, 9.9), (20.1, 30.0))


def test_an_extension_that_is_refused_ends_the_belief() -> None:
    refused = (
        (20.0, "A", "invoke", "extend", {"key": "k", "grant": 0}),
        (20.1, "A", "fail", "extend", {"reason": "expired", "lost": True}, 2),
        (40.0, "A", "note", "end"),
    )
    (belief,) = timeline(*GRANT, *refused).belief()
    assert (belief.why, belief.end) == ("lost", 20.1)


def test_a_lease_without_a_deadline_is_valid_to_the_end() -> None:
    grant = (GRANT[0], (0.1, "A", "ok", "acquire", {"grant": 0}, 0))
    (belief,) = timeline(*grant, (50.0, "A", "note", "end")).belief()
    assert belief.valid == ((0.1, 50.0),)


def test_a_thread_dies_with_its_client() -> None:
    grant = [(t, "A/T2", *rest) for t, _, *rest in GRANT]
    (belief,) = timeline(*grant, (3.0, "A", "crash", "A")).belief()
    assert (belief.node, belief.why) == ("A/T2", "crashed")


def test_beliefs_are_found_by_key() -> None:
    run = timeline(*GRANT)
    assert run.belief("k") == run.belief()
    assert run.belief("other") == ()


def test_who_was_refused_believes_nothing() -> None:
    assert timeline(GRANT[0], (0.1, "A", "fail", "acquire", {"reason": "busy"}, 0)).belief() == ()


# -- truth --------------------------------------------------------------------------------------------------------


def changed(t: float, kind: str, state: dict[str, Any] | None, node: str = "redis") -> Row:
    return (t, node, kind, "k", {"keys": {"k": state}})


@pytest.mark.parametrize(
    ("kind", "why"),
    [("apply", "deleted"), ("expire", "expired"), ("evict", "evicted"), ("restart", "restart"), ("clock", "expired")],
)
def test_a_hold_ends_as_the_server_says(kind: str, why: str) -> None:
    (hold,) = timeline(changed(1.0, "apply", held()), changed(2.0, kind, None)).truth()
    assert (hold.server, hold.key, hold.value, hold.owner) == ("redis", "k", "x", "A")
    assert (hold.start, hold.end, hold.why, hold.evidence) == (1.0, 2.0, why, (0, 1))


def test_a_hold_is_open_to_the_end_of_the_run() -> None:
    (hold,) = timeline(changed(1.0, "apply", held()), (9.0, "A", "note", "end")).truth()
    assert (hold.end, hold.why) == (9.0, "open")


def test_a_new_writer_changes_a_hold_and_the_same_renews_it() -> None:
    run = timeline(
        changed(1.0, "apply", held(grant=5)),
        changed(2.0, "apply", held(grant=5, until=9.0)),
        changed(3.0, "apply", held(value="y", owner="B", grant=6)),
    )
    assert [(h.why, h.until, h.owner) for h in run.truth()] == [
        ("renewed", None, "A"),
        ("changed", 9.0, "A"),
        ("open", None, "B"),
    ]


def test_each_server_has_a_truth_of_its_own() -> None:
    run = timeline(changed(1.0, "apply", held()), changed(2.0, "apply", None, node="other"))
    assert [(h.server, h.why) for h in run.truth("k")] == [("redis", "open")]


# -- JSON ---------------------------------------------------------------------------------------------------------


def test_json_gives_an_equal_timeline() -> None:
    run = timeline(
        *GRANT, changed(1.0, "apply", held(value="«ä»", until=float("inf"))), story="s x=1", seed=4, tape="."
    )
    again = Timeline.from_json(run.to_json())
    assert again == run
    assert again.to_json() == run.to_json()


def test_json_is_one_event_a_line() -> None:
    assert len(timeline(*GRANT).to_json().splitlines()) == 2 + 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"timeline": {}}',
        '{"timeline": {}, "events": [3]}',
        '{"timeline": {"unknown": 1}, "events": []}',
        '{"timeline": {}, "events": [{"seq": 0}]}',
    ],
)
def test_what_is_no_timeline_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no timeline|Expecting value"):
        Timeline.from_json(text)


def test_an_unknown_kind_or_a_wrong_number_is_named() -> None:
    rows = json.loads(timeline(*GRANT).to_json())
    rows["events"][1]["kind"] = "guess"
    with pytest.raises(ValueError, match="Event 1 of the timeline has seq 1, kind 'guess'"):
        Timeline.from_json(json.dumps(rows))
    rows["events"][1] |= {"kind": "ok", "seq": 7}
    with pytest.raises(ValueError, match="Event 1 of the timeline has seq 7"):
        Timeline.from_json(json.dumps(rows))


def test_the_kinds_are_a_closed_set() -> None:
    assert len(KINDS) == 20
    assert {"invoke", "ok", "fail", "unknown"} <= KINDS


@pytest.mark.parametrize("cause", [1, 7, -1, "0", {}], ids=repr)
def test_a_cause_that_is_not_earlier_is_named(cause: Any) -> None:
    rows = json.loads(timeline(*GRANT).to_json())
    rows["events"][1]["cause"] = cause
    with pytest.raises(ValueError, match="Event 1 of the timeline has seq 1, kind 'ok', cause"):
        Timeline.from_json(json.dumps(rows))
