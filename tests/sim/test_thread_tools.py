"""Locks, conditions, events, timers and queues inside a client: plain `threading` in virtual time."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from labkit.faults import Pause
from tests.sim.playing import at, play, result, started


def test_waiters_of_a_lock_are_served_in_the_order_of_their_coming() -> None:
    def code(me: Any) -> list[tuple[int, float]]:
        lock, seen = threading.Lock(), []

        def work(number: int) -> None:
            time.sleep(number / 10)
            with lock:
                time.sleep(1)
                seen.append((number, at()))

        threads = [started(lambda n=n: work(n)) for n in range(3)]
        for thread in threads:
            thread.join()
        return seen

    assert result(code) == [(0, 1), (1, 2), (2, 3)]


def test_a_lock_gives_up_after_its_timeout() -> None:
    def code(me: Any) -> tuple[bool, float, bool, bool]:
        lock = threading.Lock()
        lock.acquire()
        got = lock.acquire(timeout=1.5)
        return got, at(), lock.acquire(blocking=False), lock.locked()

    assert result(code) == (False, 1.5, False, True)


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_lock_that_is_free_cannot_be_released(kind: str) -> None:
    def code(me: Any) -> None:
        with pytest.raises(RuntimeError, match=r"release un|cannot release"):
            getattr(threading, kind)().release()

    play(code)


def test_a_lock_released_while_the_waiter_stands_still_over_its_timeout_is_not_lost() -> None:
    def code(me: Any) -> tuple[list[bool], bool]:
        lock, got = threading.Lock(), list[bool]()
        lock.acquire()
        waiter = started(lambda: got.append(lock.acquire(timeout=6)))
        time.sleep(5)
        lock.release()
        waiter.join()
        return got, lock.locked()

    timeline_of = {"faults": [Pause("A", at=4, lasting=6)]}
    assert result(code, **timeline_of) == ([True], True)


def test_a_waiter_that_was_passed_over_leaves_the_lock_free() -> None:
    def code(me: Any) -> tuple[list[bool], bool]:
        lock, got = threading.Lock(), list[bool]()
        lock.acquire()
        waiter = started(lambda: got.append(lock.acquire(timeout=2)))
        time.sleep(3)
        lock.release()
        waiter.join()
        return got, lock.locked()

    assert result(code) == ([False], False)


def test_an_rlock_belongs_to_its_thread() -> None:
    def code(me: Any) -> list[bool]:
        lock, seen = threading.RLock(), list[bool]()
        with lock, lock:
            started(lambda: seen.append(lock.acquire(blocking=False))).join()
        started(lambda: seen.append(lock.acquire(blocking=False))).join()
        return seen

    assert result(code) == [False, True]


def test_a_condition_gives_up_its_rlock_while_it_waits() -> None:
    def code(me: Any) -> tuple[list[str], float]:
        condition, seen = threading.Condition(threading.RLock()), list[str]()

        def wait() -> None:
            with condition, condition:  # held twice: both are given up and taken again
                condition.wait()
                seen.append("woken")

        waiter = started(wait)
        time.sleep(1)
        with condition:
            seen.append("notified")
            condition.notify()
            time.sleep(1)
        waiter.join()
        return seen, at()

    assert result(code) == (["notified", "woken"], 2)


def test_a_condition_that_nobody_notifies_returns_after_its_timeout() -> None:
    def code(me: Any) -> tuple[bool, bool, float]:
        condition = threading.Condition()
        with condition:
            return condition.wait(0.3), condition.wait_for(lambda: False, timeout=0.1), at()

    assert result(code) == (False, False, 0.4)


def test_an_event_wakes_all_who_wait() -> None:
    def code(me: Any) -> list[tuple[bool, float]]:
        event, seen = threading.Event(), list[tuple[bool, float]]()
        threads = [started(lambda: seen.append((event.wait(), at()))) for _ in range(2)]
        time.sleep(4)
        event.set()
        for thread in threads:
            thread.join()
        return [*seen, (event.wait(1), at()), (threading.Event().wait(1), at())]

    assert result(code) == [(True, 4), (True, 4), (True, 4), (False, 5)]


def test_a_timer_fires_and_can_be_cancelled() -> None:
    def code(me: Any) -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []
        threading.Timer(2, lambda: seen.append(("fired", at()))).start()
        cancelled = threading.Timer(3, lambda: seen.append(("never", at())))
        cancelled.start()
        time.sleep(1)
        cancelled.cancel()
        time.sleep(5)
        return seen

    assert result(code) == [("fired", 2)]


def test_a_semaphore_lets_so_many_in() -> None:
    def code(me: Any) -> list[float]:
        semaphore, seen = threading.BoundedSemaphore(2), list[float]()

        def work() -> None:
            with semaphore:
                time.sleep(1)
                seen.append(at())

        threads = [started(work) for _ in range(4)]
        for thread in threads:
            thread.join()
        return seen

    assert result(code) == [1, 1, 2, 2]


def test_a_barrier_lets_all_go_at_once() -> None:
    def code(me: Any) -> list[float]:
        barrier, seen = threading.Barrier(2), list[float]()
        thread = started(lambda: (barrier.wait(), seen.append(at())))
        time.sleep(2)
        barrier.wait()
        thread.join()
        return seen

    assert result(code) == [2]


@pytest.mark.parametrize("kind", [queue.Queue, queue.LifoQueue, queue.PriorityQueue])
def test_a_queue_hands_over_and_times_out(kind: Callable[[], Any]) -> None:
    def code(me: Any) -> list[Any]:
        line = kind()
        started(lambda: (time.sleep(2), line.put("late")))
        first = (line.get(), at())
        with pytest.raises(queue.Empty):
            line.get(timeout=0.3)
        return [*first, at()]

    assert result(code) == ["late", 2, 2.3]


def test_a_simple_queue_hands_over() -> None:
    def code(me: Any) -> tuple[str, float]:
        line: queue.SimpleQueue[str] = queue.SimpleQueue()
        started(lambda: (time.sleep(2), line.put("late")))
        return line.get(), at()

    assert result(code) == ("late", 2)


def test_a_full_queue_makes_wait() -> None:
    def code(me: Any) -> float:
        line: queue.Queue[int] = queue.Queue(1)
        line.put(1)
        started(lambda: (time.sleep(3), line.get()))
        line.put(2)
        return at()

    assert result(code) == 3
