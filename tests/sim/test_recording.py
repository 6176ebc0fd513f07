"""How calls become events: what a watched lock or store answers, and what becomes of a call without an answer."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from labkit.locks import Lease, LeaseLost, SafeLock
from labkit.recording import plain, sentence
from labkit.stores import Register
from labkit.timeline import Timeline
from tests.sim.playing import ONCE, play


class Stub:
    """A lock whose next answer, or error, is given."""

    name, ttl = "stock", 10

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def acquire(self, *args: Any) -> Any:
        return self._answer("acquire")

    def extend(self, *args: Any) -> Any:
        return self._answer("extend")

    def release(self, *args: Any) -> Any:
        return self._answer("release")

    def _answer(self, call: str) -> Any:
        if isinstance(self.answers.get(call), Exception):
            raise self.answers[call]
        return self.answers.get(call, True)


def outcomes(*calls: str, **answers: Any) -> list[tuple[str, str]]:
    """How the calls ended for a stub that answers so."""

    def code(me: Any) -> None:
        lock = me.lock(Stub(**answers))
        for call in calls:
            with suppress(Exception):
                getattr(lock, call)()

    return [(op.name, op.outcome) for op in play(code).ops()]


@pytest.mark.parametrize(
    ("call", "answer", "outcome"),
    [
        ("acquire", True, "ok"),
        ("acquire", False, "fail"),
        ("acquire", None, "fail"),
        ("acquire", ValueError("no"), "fail"),
        ("acquire", redis.ConnectionError("gone"), "unknown"),
        ("acquire", redis.TimeoutError("late"), "unknown"),
        ("acquire", OSError("broken"), "unknown"),
        ("extend", True, "ok"),
        ("extend", None, "ok"),
        ("extend", False, "fail"),
        ("extend", redis.exceptions.LockNotOwnedError("lost"), "fail"),
        ("release", None, "ok"),
        ("release", redis.TimeoutError("late"), "unknown"),
    ],
)
def test_the_answer_makes_the_outcome(call: str, answer: Any, outcome: str) -> None:
    assert outcomes(call, **{call: answer}) == [(call, outcome)]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (redis.exceptions.LockNotOwnedError("not yours"), True),
        (LeaseLost("expired", "stock"), True),
        (KeyError("x"), None),
    ],
)
def test_who_is_told_of_the_loss_has_learnt_of_it(error: Exception, told: bool | None) -> None:
    def code(me: Any) -> None:
        lock = me.lock(Stub(release=error))
        lock.acquire()
        with pytest.raises(type(error)):
            lock.release()

    (release,) = play(code).ops("release")
    assert release.value["reason"] == sentence(error)
    assert release.value.get("lost") is told


def test_a_call_that_an_object_makes_to_itself_belongs_to_the_outer_one() -> None:
    def code(me: Any) -> None:
        lock = me.lock(SafeLock(me.redis(), "stock"))
        lock.release(lock.acquire())  # acquire calls try_acquire

    assert [op.name for op in play(code).ops()] == ["acquire", "release"]


def test_a_lock_stays_the_object_that_it_was() -> None:
    def code(me: Any) -> None:
        lock = SafeLock(me.redis(), "stock")
        assert me.lock(lock) is lock
        assert isinstance(lock, SafeLock)
        assert lock.acquire.__name__ == "acquire"

    play(code)


def test_a_frozen_dataclass_can_be_watched() -> None:
    @dataclass(frozen=True)
    class Frozen:
        name: str = "stock"

        def acquire(self) -> bool:
            return True

    assert [op.outcome for op in play(lambda me: me.lock(Frozen()).acquire()).ops()] == ["ok"]


def test_two_threads_of_one_client_have_grants_of_their_own() -> None:
    def code(me: Any) -> None:
        lock = me.lock(Stub())
        me.start(lambda me: (lock.acquire(), lock.release()), lane="T2")
        lock.acquire()
        lock.release()

    timeline = play(code)
    assert {(op.node, op.args.get("grant")) for op in timeline.ops("release")} == {
        (op.node, op.seq) for op in timeline.ops("acquire")
    }


def test_a_grant_without_a_lease_is_worth_the_locks_own_time() -> None:
    timeline = play(lambda me: me.lock(me.redis().lock("stock", timeout=7)).acquire())
    assert timeline.ops()[0].value["deadline"] == pytest.approx(7, abs=0.01)


@pytest.mark.parametrize("deadline", [None, inf])
def test_a_lease_without_a_deadline_is_believed_until_its_holder_is_told_of_the_loss(deadline: float | None) -> None:
    def code(me: Any) -> None:
        lease = Lease("stock", "/stock/1", 7, deadline)
        me.lock(SimpleNamespace(name="stock", acquire=lambda: lease), ttl=1).acquire()
        time.sleep(30)
        me.lost("stock", "the session is over")
        time.sleep(5)

    timeline = play(code)
    (belief,) = timeline.belief("stock")
    assert (belief.end, belief.why, "deadline" in timeline.ops()[0].value) == (30.0, "lost", False)


def test_the_key_and_the_time_can_be_given() -> None:
    def code(me: Any) -> None:
        me.lock(SimpleNamespace(acquire=lambda: True), key="other", ttl=3).acquire()

    (op,) = play(code).ops()
    assert (op.args["key"], op.args["ttl"]) == ("other", 3)


def test_reads_and_writes_carry_the_grant_under_which_they_are_done() -> None:
    def code(me: Any) -> None:
        store = me.store(Register(me.redis(), "items"))
        store.read()
        me.lock(Stub()).acquire()
        store.write(store.read() + 1)

    timeline: Timeline = play(code)
    grant = timeline.ops("acquire")[0].seq
    assert [op.args["grant"] for op in timeline.ops("read")] == [None, grant]
    (write,) = timeline.ops("write")
    assert (write.args["resource"], write.args["value"], write.args["grant"]) == ("items", 1, grant)


def test_a_store_that_refuses_is_told_from_one_that_fails() -> None:
    def code(me: Any) -> None:
        me.store(SimpleNamespace(name="guarded", write=lambda value: False)).write(1)
        broken = me.store(Register(me.redis(socket_timeout=0.0001, retry=ONCE), "items"))
        with pytest.raises(redis.TimeoutError):
            broken.write(2)

    assert [op.outcome for op in play(code).ops("write")] == ["fail", "unknown"]


def test_a_registration_is_told_with_its_fencing_token_and_may_be_refused() -> None:
    def code(me: Any) -> None:
        store = me.store(SimpleNamespace(name="guarded", register=lambda lease: lease.fence > 1))
        for fence in (1, 2):
            store.register(SimpleNamespace(fence=fence))

    calls = play(code).ops("register")
    assert [(op.args["fence"], op.args["resource"], op.outcome) for op in calls] == [
        (1, "guarded", "fail"),
        (2, "guarded", "ok"),
    ]


def test_what_a_client_has_learnt_from_elsewhere_is_noted_with_its_grant() -> None:
    def code(me: Any) -> None:
        me.lock(Stub()).acquire()
        me.lost("stock", "told by its watchdog")

    (belief,) = play(code).belief()
    assert belief.why == "lost"


def test_an_error_reads_the_same_in_each_run() -> None:
    assert sentence(ValueError(f"{object()}\nis bad")) == "ValueError: <object object> is bad"
    assert sentence(KeyError()) == "KeyError"


@pytest.mark.parametrize(("value", "text"), [(b"x\xff", "x\\xff"), (3, 3), (None, None), (object(), "<object object>")])
def test_a_value_is_kept_as_json_can_hold_it(value: Any, text: Any) -> None:
    assert plain(value) == text
