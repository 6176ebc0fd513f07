"""Suspend: a client's monotonic clock stands still with it, its wall clock does not."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import redis

from labkit.faults import Crash, Pause, Suspend
from labkit.locks import SafeLock
from tests.sim.playing import ONCE, play, result

TEN = Suspend("A", at=1, lasting=10)


def clocks(me: Any) -> tuple[float, float, float, float]:
    """What passes during a sleep of two seconds: by the monotonic clock, by two others, and by the world."""
    starts = time.monotonic(), time.perf_counter_ns(), time.time(), me.world.now
    time.sleep(2)
    return (
        time.monotonic() - starts[0],
        (time.perf_counter_ns() - starts[1]) / 1e9,
        time.time() - starts[2],
        me.world.now - starts[3],
    )


def test_the_monotonic_clock_stands_still_and_the_wall_clock_jumps() -> None:
    assert result(clocks, faults=[TEN]) == (2, 2, 12, 12)


def test_a_pause_stops_neither() -> None:
    assert result(clocks, faults=[Pause("A", at=1, lasting=10)]) == (11, 11, 11, 11)


def test_only_the_clients_own_clock_stands_still() -> None:
    found: list[Any] = []
    play(*[lambda me: found.append((me.name, clocks(me)[3]))] * 2, faults=[TEN])
    assert found == [("B", 2), ("A", 12)]


def test_timers_of_all_threads_are_late_by_the_span() -> None:
    def code(me: Any) -> list[float]:
        rang: list[float] = []
        timer = threading.Timer(3, lambda: rang.append(me.world.now))
        timer.start()
        assert not threading.Event().wait(5)
        return [*rang, me.world.now]

    assert result(code, faults=[TEN]) == [13, 15]


def test_a_reply_that_came_meanwhile_is_read_on_waking() -> None:
    def code(me: Any) -> tuple[Any, float]:
        client = me.redis(socket_timeout=1, retry=ONCE)
        return client.get("a"), me.world.now

    assert result(code, faults=[Suspend("A", at=0.0001, lasting=9)]) == (None, 9.0001)


def test_a_timeout_counts_by_the_clients_own_clock() -> None:
    def code(me: Any) -> float:
        client = me.redis(socket_timeout=3, retry=ONCE)
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "line", 0)
        with pytest.raises(redis.TimeoutError):
            connection.read_response()
        return float(me.world.now)

    assert result(code, faults=[TEN]) == 13


def test_suspensions_that_overlap_are_one() -> None:
    faults = [TEN, Suspend("A", at=2, lasting=3), Suspend("A", at=6, lasting=10)]
    assert result(clocks, faults=faults) == (2, 2, 17, 17)


def test_a_suspension_within_a_longer_pause_stops_the_clock_for_its_own_span() -> None:
    assert result(clocks, faults=[Pause("A", at=1, lasting=10), Suspend("A", at=4, lasting=3)])[0] == 8


def test_a_holder_wakes_with_the_lease_it_had_while_the_server_has_given_the_lock_away() -> None:
    """E43: the deadline on CLOCK_MONOTONIC protects nobody here."""

    def holder(me: Any) -> None:
        lock = me.lock(SafeLock(me.redis(retry=ONCE), "stock", ttl=5))
        lease = lock.acquire(0)
        time.sleep(2)
        me.note(f"{lease.deadline - time.monotonic():.1f} s left")

    def other(me: Any) -> None:
        time.sleep(6)
        assert me.lock(SafeLock(me.redis(retry=ONCE), "stock", ttl=50)).acquire(0)

    timeline = play(holder, other, faults=[TEN])
    assert [(e.t > 12, e.name) for e in timeline.find("note")] == [(True, "2.9 s left")]
    assert [b.node for b in timeline.belief("stock")] == ["A", "B"]


def test_a_grant_after_a_suspension_has_its_deadline_at_the_right_moment_of_the_run() -> None:
    def code(me: Any) -> None:
        time.sleep(2)
        me.lock(SafeLock(me.redis(retry=ONCE), "stock", ttl=5)).acquire(0)

    (belief,) = play(code, faults=[TEN]).belief("stock")
    assert belief.start == pytest.approx(12, abs=0.01)
    (grant,) = play(code, faults=[TEN]).find("ok", name="acquire")
    assert grant.data["deadline"] == pytest.approx(17, abs=0.1)


def test_a_crashed_client_is_not_suspended() -> None:
    assert play(lambda me: time.sleep(5), faults=[Crash("A", at=0.5), TEN]).find("pause") == ()


def test_a_server_is_not_suspended() -> None:
    with pytest.raises(ValueError, match="redis is a server: pause it instead"):
        play(lambda me: time.sleep(9), faults=[Suspend("redis", at=1, lasting=1)])
