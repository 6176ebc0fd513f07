"""The progress file as a test reads and writes it, and what several tests note in it."""

import json
import re
from pathlib import Path
from typing import Any

UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FOUND = {"keeps renewing": "pass", "prompt stop": "fail", "told once": "time-out"}
UNTOUCHED = {"keeps renewing": "not attempted", "prompt stop": "not attempted"}


def document(home: Path) -> Any:
    return json.loads((home / "progress.json").read_text("utf-8"))


def write(home: Path, content: Any) -> None:
    """A text as it is, anything else as JSON."""
    home.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (home / "progress.json").write_text(text, "utf-8")
