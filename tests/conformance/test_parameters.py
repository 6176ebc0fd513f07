"""What is refused when a lock is made, before anything is sent, and what is not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from labkit.locks import LOCKS, SafeLock

REFUSED = [0, 0.0004, 0.00099, -1, math.nan, math.inf, 10**13, None, True, "10"]


@pytest.mark.parametrize("ttl", REFUSED, ids=repr)
@pytest.mark.parametrize("lock", LOCKS.values(), ids=list(LOCKS))
def test_a_ttl_that_redis_cannot_count_is_refused_before_anything_is_sent(lock: Any, ttl: Any) -> None:
    with pytest.raises(ValueError, match=r"^ttl=.* is no span of time"):
        lock(None, "stock", ttl=ttl)


@pytest.mark.parametrize("poll", REFUSED, ids=repr)
def test_a_pause_between_tries_that_is_none_is_refused(poll: Any) -> None:
    with pytest.raises(ValueError, match=r"^poll=.* is no span of time"):
        SafeLock(None, "stock", poll=poll)


@pytest.mark.parametrize("name", ["", None, 7, b"stock"], ids=repr)
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="is not a lock's name"):
        SafeLock(None, name)


@pytest.mark.parametrize("timeout", [-1, math.nan, True, "1"], ids=repr)
def test_a_time_to_wait_that_is_none_is_refused_before_anything_is_sent(timeout: Any) -> None:
    with pytest.raises(ValueError, match="is not a time to wait"):
        SafeLock(None, "stock").acquire(timeout)


@pytest.mark.parametrize("ttl", [0.003, 1, 0.5, 10**12], ids=repr)
def test_a_ttl_that_redis_can_count_is_taken(ttl: float) -> None:
    assert SafeLock(None, "stock", ttl=ttl).ttl == ttl
