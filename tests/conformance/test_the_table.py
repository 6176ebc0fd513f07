"""The table of what a broken lock must fail names tests and locks that exist, and every broken lock has its lines."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.locks import LOCKS
from tests.conformance.conftest import KINDS, MUST_FAIL


def test_each_name_in_the_table_is_a_test() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = {name for source in sources for name in re.findall(r"^def test_(\w+)", source, re.MULTILINE)}
    assert {name for rows in MUST_FAIL.values() for name in rows} <= tests


def test_only_the_safe_lock_fails_nothing() -> None:
    assert set(MUST_FAIL) == set(KINDS)
    assert [name for name in LOCKS if not MUST_FAIL[name]] == ["safe"]
