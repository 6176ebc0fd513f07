"""What a lock does for a user who may not do everything, on a real Redis: the simulated one knows no categories."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from redis.exceptions import NoPermissionError

from tests.conformance.arena import RealArena


def test_a_user_without_scripts_learns_it_before_anything_is_locked(real_arena: RealArena, kind: Any) -> None:
    lock = kind(real_arena.user("newcomer", "~*", "+@all", "-@scripting"), "stock")
    with suppress(NoPermissionError):
        lock.release(lock.try_acquire())
    assert not real_arena.bystander.exists("stock")


def test_a_user_without_receipts_learns_it_before_anything_is_locked(real_arena: RealArena, kind: Any) -> None:
    lock = kind(real_arena.user("newcomer", "~stock", "+@all"), "stock")
    with suppress(NoPermissionError):
        lock.release(lock.try_acquire())
    assert not real_arena.bystander.exists("stock")
