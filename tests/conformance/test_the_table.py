"""The table of what a broken lock must fail names tests and locks that exist, and every broken lock has its lines."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from labkit.checks import CHECKS
from labkit.locks import LOCKS
from tests.conformance.conftest import KINDS, MUST_FAIL


def is_broken(name: str) -> bool:
    return ".broken." in LOCKS[name].__module__


def test_each_name_in_the_table_is_a_test() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tests = {name for source in sources for name in re.findall(r"^def test_(\w+)", source, re.MULTILINE)}
    assert {name for rows in MUST_FAIL.values() for name in rows} <= tests


def test_each_lock_has_its_lines_and_the_sound_ones_fail_nothing() -> None:
    assert set(MUST_FAIL) == set(KINDS)
    assert [name for name in LOCKS if not is_broken(name) and MUST_FAIL[name]] == []


@pytest.mark.parametrize("name", [name for name in LOCKS if is_broken(name)])
def test_a_broken_lock_names_the_check_that_catches_it(name: str) -> None:
    assert sys.modules[LOCKS[name].__module__].CAUGHT_BY in CHECKS
