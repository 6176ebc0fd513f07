"""The safety matrix as it was recorded in docs/matrix.json, by row and column. Read at each call, typed in nowhere.

An installed package has no docs; there the record is empty, and `labkit matrix` searches the cells anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..explore.matrix import Cell

RECORDED = Path(__file__).parents[2] / "docs" / "matrix.json"
Record = Mapping[tuple[str, str], Cell]


def recorded(path: Path = RECORDED) -> Record:
    """Every recorded cell; empty where the file is not there."""
    if not path.exists():
        return {}
    cells = [Cell(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    return {(cell.row, cell.column): cell for cell in cells}
