"""What the tests of the drills share: answers as text, and a home of one's own."""

from pathlib import Path

import pytest

ANSWERS = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A progress file of its own for each test."""
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def right() -> str:
    """The text of an answer that earns full points."""
    return (ANSWERS / "right_answers/q1/plain_loop.py").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def wrong() -> str:
    """The text of an answer that loses «told once» and nothing else."""
    return (ANSWERS / "wrong_answers/q1/told_twice.py").read_text(encoding="utf-8")
