"""The trace keeps the rules of the Trace Event Format."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from labkit import viz
from tests.viz import builders

RUNS = [pytest.param(build, id=build.__name__) for build in builders.ALL]


def rows(build: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(viz.chrome_trace(build()))["traceEvents"]
    return found


@pytest.mark.parametrize("build", RUNS)
def test_every_row_has_what_the_format_demands(build: Any) -> None:
    for row in rows(build):
        assert {"ph", "name", "pid", "tid", "ts"} <= row.keys()
        assert isinstance(row["ts"], int) and row["ts"] >= 0
        assert row["ph"] in "MXisf"
        assert row["ph"] != "X" or row["dur"] >= 0
        assert row["ph"] != "i" or row["s"] in "gpt"


@pytest.mark.parametrize("build", RUNS)
def test_slices_of_one_thread_nest_or_follow_each_other(build: Any) -> None:
    threads = defaultdict(list)
    for row in rows(build):
        if row["ph"] == "X":
            threads[row["pid"], row["tid"]].append((row["ts"], row["ts"] + row["dur"]))
    for spans in threads.values():
        for n, (a0, a1) in enumerate(spans):
            for b0, b1 in spans[n + 1 :]:
                assert b0 >= a1 or b1 <= a1 or b0 == a0, "two slices overlap in part"


@pytest.mark.parametrize("build", RUNS)
def test_every_flow_has_a_start_an_end_and_slices_to_hold_on_to(build: Any) -> None:
    found = rows(build)
    flows = defaultdict(list)
    for row in found:
        if row["ph"] in "sf":
            flows[row["id"]].append(row["ph"])
            here = [r for r in found if r["ph"] == "X" and (r["pid"], r["tid"]) == (row["pid"], row["tid"])]
            assert any(r["ts"] <= row["ts"] <= r["ts"] + r["dur"] for r in here[:400] + here[-400:])
    assert all(sorted(ends) == ["f", "s"] for ends in flows.values())


def test_rows_are_in_order_of_time() -> None:
    times = [row["ts"] for row in rows(builders.gc_pause) if row["ph"] != "M"]
    assert times == sorted(times)


def test_nodes_are_processes_with_names() -> None:
    names = [row["args"]["name"] for row in rows(builders.fenced) if row["name"] == "process_name"]
    assert names == ["A", "B", "redis", "store"]


def test_operations_carry_their_outcome_in_microseconds() -> None:
    (first, *_) = [row for row in rows(builders.gc_pause) if row["name"] == "acquire: ok"]
    assert (first["ts"], first["dur"]) == (0, 1000)


def test_faults_are_instants() -> None:
    assert "expire stock" in [row["name"] for row in rows(builders.gc_pause) if row["ph"] == "i"]


def test_equal_timelines_give_equal_traces() -> None:
    assert viz.chrome_trace(builders.fenced()) == viz.chrome_trace(builders.fenced())
