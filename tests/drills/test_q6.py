"""Question 6's own stage: the `zk` that an answer is given, and the moments at which something befalls it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit import Lease
from labkit.drills.q6.case import Act, Caller, Case, Hook
from labkit.drills.q6.client import METHODS, DrillZooKeeper
from labkit.drills.q6.stage import play
from labkit.drills.trial import Setting

SETTING = Setting("q6", "lost session", "between", 7)
ONE = Case("/locks/stock", first=3, born=1000, callers=(Caller("A", 0.3, 5.0, 0.5),), until=20.0)


def played(acquire: Any, **changes: Any) -> Any:
    return play(acquire, Case(**{**vars(ONE), **changes}), SETTING)[0]


def joins(zk: Any, path: str, timeout: float) -> Lease:
    node, stat = zk.create(f"{path}/lock-", ephemeral=True, sequence=True, include_data=True)
    return Lease(path, node, stat.czxid, None)  # type: ignore[arg-type]


def test_an_answer_is_given_the_methods_of_the_contract_and_no_others() -> None:
    has = [name for name in vars(DrillZooKeeper) if not name.startswith("_")]
    assert ", ".join(has[:-1]) + " and " + has[-1] == METHODS


def test_what_the_contract_lacks_is_refused_with_what_there_is() -> None:
    (call,) = played(lambda zk, path, timeout: zk.ensure_path(path))["calls"]
    assert call["raised"] == "AttributeError"
    assert call["message"].startswith("The zk of this question has no 'ensure_path'; it has create, get_children")


def test_the_path_has_had_children_and_the_ensemble_transactions() -> None:
    (call,) = played(joins)["calls"]
    assert call["token"] == "/locks/stock/lock-0000000003"
    assert call["fence"] > 1000


def test_a_session_that_ends_behind_a_reply_is_over_before_the_answer_goes_on() -> None:
    seen: list[Any] = []

    def looks(zk: Any, path: str, timeout: float) -> Lease:
        lease = joins(zk, path, timeout)
        seen.extend([len(zk.get_children(path)), zk.exists(lease.token)])
        return lease

    hook = Hook("A", ("get_children",), "expire", "A")
    assert played(looks, hooks=(hook,))["struck"] is not None
    assert seen == [1, None]


def test_a_session_that_ends_during_a_call_is_told_by_that_call() -> None:
    (call,) = played(joins, hooks=(Hook("A", ("create",), "expire", "A", "during"),))["calls"]
    assert call["raised"] == "SessionExpiredError"


def test_a_watch_on_the_own_node_is_not_the_one_that_is_waited_for() -> None:
    def watches(zk: Any, path: str, timeout: float) -> Lease:
        lease = joins(zk, path, timeout)
        zk.exists(lease.token, watch=print)
        return lease

    hook = Hook("A", ("exists",), "free", "A", "watched")
    assert played(watches, hooks=(hook,))["struck"] is None


def test_a_function_given_as_a_watch_twice_is_called_once() -> None:
    told: list[str] = []

    def watches(zk: Any, path: str, timeout: float) -> Lease:
        lease = joins(zk, path, timeout)
        for _ in range(2):
            zk.exists(lease.token, watch=note)
        return lease

    def note(event: Any) -> None:
        told.append(event.type)

    fired = played(watches)["fired"]
    assert told == ["DELETED"] == [each["type"] for each in fired]


def test_who_asks_without_end_has_to_wait() -> None:
    def asks(zk: Any, path: str, timeout: float) -> None:
        while True:
            zk.exists(path)

    assert len(played(asks)["asked"]) < 300


def test_a_call_that_does_not_come_back_is_written_down_as_such() -> None:
    (call,) = played(lambda zk, path, timeout: time.sleep(1000))["calls"]
    assert call["ret"] is None
    assert call["raised"] == ""


@pytest.mark.parametrize("do", ["expire", "crash"])
def test_what_ends_a_session_is_noted(do: str) -> None:
    callers = (Caller("A", 0.3, 5.0), Caller("B", 0.5, 5.0, 8.0))
    ended = played(joins, callers=callers, acts=(Act(2.0, do, "A"),), session=4.0)["ended"]
    assert 2.0 <= ended["A"] <= 6.1


def test_the_same_setting_plays_the_same() -> None:
    assert played(joins) == played(joins)
