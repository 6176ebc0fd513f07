"""What every test of progress gets: a home of its own, where nothing has been noted yet."""

from pathlib import Path

import pytest

from labkit.progress import jsonfile


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that does not exist yet, and a process that remembers nothing."""
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(jsonfile, "_in_memory", {})
    return tmp_path / "home"
