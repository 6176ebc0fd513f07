"""CompatLock, by redis-py's own `Redis.lock`, in the world and on a real Redis."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import LockError, LockNotOwnedError, RedisError

from labkit.live import RedisServer
from labkit.locks.compat import CompatLock
from tests.conformance.arena import Arena, RealArena

README = Path(__file__).parents[2] / "README.md"
OWN_AND_GIVEN = pytest.mark.parametrize("token", [None, "order-17"], ids=["own token", "given token"])
WITH_AND_WITHOUT_END = pytest.mark.parametrize("timeout", [10, None], ids=["10 s", "for ever"])


def lock(client: Any, timeout: float | None = 10, **made: Any) -> CompatLock:
    one: CompatLock = client.lock("stock", timeout=timeout, lock_class=CompatLock, **made)
    return one


@OWN_AND_GIVEN
@WITH_AND_WITHOUT_END
def test_a_grant_stores_its_token_and_a_release_removes_it(arena: Arena, timeout: Any, token: Any) -> None:
    one = lock(arena.client(), timeout)
    assert one.acquire(blocking=False, token=token)
    assert arena.bystander.get("stock") == one.local.token
    one.release()
    assert (one.local.token, arena.bystander.exists("stock")) == (None, 0)


@OWN_AND_GIVEN
@WITH_AND_WITHOUT_END
def test_a_taken_lock_is_not_granted(arena: Arena, timeout: Any, token: Any) -> None:
    arena.steal("stock")
    assert lock(arena.client(), timeout).acquire(blocking=False, token=token) is False
    assert arena.is_stolen("stock")


@OWN_AND_GIVEN
def test_a_lock_with_a_timeout_has_an_expiry_at_every_instant(arena: Arena, token: Any) -> None:
    client, seen = arena.client(), set[int]()
    arena.watch(client, lambda: seen.add(arena.bystander.pttl("stock")))
    one = lock(client)
    one.acquire(token=token)
    one.extend(10)
    one.reacquire()
    one.release()
    assert all(pttl == -2 or 0 < pttl <= 20_000 for pttl in seen)
    assert max(seen) > 15_000


def test_a_lock_without_a_timeout_has_no_expiry(arena: Arena) -> None:
    one = lock(arena.client(), None)
    one.acquire()
    assert arena.bystander.pttl("stock") == -1


@OWN_AND_GIVEN
@WITH_AND_WITHOUT_END
def test_replies_may_be_decoded(arena: Arena, timeout: Any, token: Any) -> None:
    one = lock(arena.client(decode_responses=True), timeout)
    assert one.acquire(token=token)
    assert one.owned() and one.locked()
    one.release()
    assert not one.locked()


@pytest.mark.parametrize("call", ["release", "extend", "replace", "reacquire"])
@pytest.mark.parametrize("stolen", [False, True], ids=["expired", "stolen"])
def test_a_loss_is_told_with_its_reason(arena: Arena, call: str, stolen: bool) -> None:
    one = lock(arena.client(), timeout=0.2 if not stolen else 10)
    one.acquire()
    arena.steal("stock") if stolen else arena.let_expire("stock")
    calls = {"extend": lambda: one.extend(10), "replace": lambda: one.extend(10, replace_ttl=True)}
    with pytest.raises(LockNotOwnedError, match="somebody else holds" if stolen else "not on the server") as told:
        calls.get(call, getattr(one, call, None))()
    assert told.value.lock_name == "stock"
    assert not stolen or arena.is_stolen("stock")


@pytest.mark.parametrize("call", ["acquire", "locked", "owned", "release"])
def test_a_key_of_another_type_is_said_to_be_no_lock(arena: Arena, call: str) -> None:
    arena.bystander.hset("stock", "apples", 3)
    one = lock(arena.client())
    one.local.token = b"mine"
    with pytest.raises(LockError, match="no lock"):
        getattr(one, call)()
    assert arena.bystander.hget("stock", "apples") == b"3"


def test_the_example_of_the_readme_does_what_its_comments_say(
    real_redis: RedisServer, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (example,) = [block for block in blocks if "CompatLock" in block]
    exec(example, {})
    assert capsys.readouterr().out == "True\n"


@OWN_AND_GIVEN
@WITH_AND_WITHOUT_END
@pytest.mark.parametrize("rules", [("~*", "+@all", "-@scripting"), ("~stock", "+@all")], ids=["scripts", "receipts"])
def test_a_user_who_may_not_learns_it_before_anything_is_locked(
    real_arena: RealArena, rules: tuple[str, ...], timeout: Any, token: Any
) -> None:
    one = lock(real_arena.user("newcomer", *rules), timeout)
    with pytest.raises(RedisError, match="permissions"):
        one.acquire(blocking=False, token=token)
    assert not real_arena.bystander.exists("stock")
