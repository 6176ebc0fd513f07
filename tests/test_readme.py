"""The README keeps its word: its picture is a run, its code runs, its commands and files exist."""

from __future__ import annotations

import re
from pathlib import Path

from labkit import play, replay, viz

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_picture_is_the_run_that_the_caption_replays() -> None:
    token = re.search(r"labkit\.replay\('([^']+)'\)", README)
    assert token is not None

    assert replay(token[1]) == play("gc-pause")
    assert viz.svg(replay(token[1])) == (ROOT / "docs" / "gc-pause.svg").read_text(encoding="utf-8")


def test_the_example_does_what_its_comments_say(capsys) -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None

    exec(example[1], {})

    said = capsys.readouterr().out
    assert "BROKEN" in said
    assert "A's release" in said and "that B held" in said


def test_each_linked_file_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_each_make_target_that_is_named_is_one() -> None:
    named = set(re.findall(r"^ {4}make (\w+)", README, re.MULTILINE))
    targets = set(re.findall(r"^## (\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert named == {"lab", "test"}
    assert named <= targets
