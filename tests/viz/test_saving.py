"""One run into one file, by the ending of its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import viz
from labkit.timeline import Timeline
from tests.viz import builders

STARTS = {
    "run.svg": b"<?xml",
    "run.png": b"\x89PNG",
    "run.html": b"<!doctype html>",
    "run.trace.json": b'{"traceEvents"',
}


@pytest.mark.parametrize("name", STARTS)
def test_the_ending_decides_what_is_written(name: str, tmp_path: Path) -> None:
    path = viz.save(builders.redlock(), tmp_path / name)
    assert path.read_bytes().startswith(STARTS[name])


def test_json_comes_back_as_an_equal_timeline(tmp_path: Path) -> None:
    path = viz.save(builders.gc_pause(), str(tmp_path / "run.json"))
    assert Timeline.from_json(path.read_text("utf-8")) == builders.gc_pause()


def test_a_trace_is_not_taken_for_a_timeline(tmp_path: Path) -> None:
    path = viz.save(builders.redlock(), tmp_path / "run.trace.json")
    assert "traceEvents" in json.loads(path.read_text("utf-8"))


def test_capitals_in_the_ending_do_not_matter(tmp_path: Path) -> None:
    assert viz.save(builders.redlock(), tmp_path / "RUN.SVG").exists()


@pytest.mark.parametrize("name", ["run.pdf", "run", ".svg", "run.svg.gz"])
def test_another_ending_is_refused_with_what_is_allowed(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in one of .html, .json, .png, .svg, .trace.json") as caught:
        viz.save(builders.redlock(), tmp_path / name)
    assert repr(name) in str(caught.value)
    assert not (tmp_path / name).exists()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*plots.* create it first"):
        viz.save(builders.redlock(), tmp_path / "plots" / "run.svg")


def test_verdicts_reach_the_picture(tmp_path: Path) -> None:
    from labkit.verdict import Verdict

    path = viz.save(builders.redlock(), tmp_path / "run.svg", [Verdict("A claim.", False, "It broke.", (0,))])
    assert "BROKEN: A claim. It broke." in path.read_text("utf-8")
