"""What the tests of the interview share: a home of their own, and reviews to compute from."""

from pathlib import Path
from typing import Any

import pytest

from labkit.progress import Review

REVIEW = Review("2026-03-01T12:00:00Z-ab12", "n1", (1, 2, 3), (), 6, 3, 1, "yes", "first", 100.0, True, "")


def review(**changes: Any) -> Review:
    """A review that differs from the plain one in these fields."""
    values: dict[str, Any] = {name: getattr(REVIEW, name) for name in Review.__dataclass_fields__}
    return Review(**values | {"at": "2026-03-01T12:05:00Z"} | changes)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A progress file of its own for each test."""
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
