"""Pools of threads and thread-locals inside a client, and what works on once its world is over."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, TimeoutError, as_completed
from typing import Any

import pytest

from labkit.faults import Pause
from tests.sim.playing import at, play, result, started


def test_a_pool_works_in_parallel() -> None:
    def code(me: Any) -> tuple[list[int], float]:
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda n: (time.sleep(1), n)[1], range(6)))
        return found, at()

    assert result(code) == ([0, 1, 2, 3, 4, 5], 2)


def test_futures_come_as_they_are_completed() -> None:
    def code(me: Any) -> list[int]:
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(lambda n=n: (time.sleep(3 - n), n)[1]) for n in range(3)]
            return [future.result() for future in as_completed(futures)]

    assert result(code) == [2, 1, 0]


def test_a_future_times_out_and_carries_exceptions() -> None:
    def code(me: Any) -> float:
        with ThreadPoolExecutor(2) as pool:
            with pytest.raises(ZeroDivisionError):
                pool.submit(lambda: 1 / 0).result()
            with pytest.raises(TimeoutError):
                pool.submit(time.sleep, 5).result(timeout=2)
            return at()

    assert result(code) == 2


def test_a_pool_left_open_does_not_outlive_its_world() -> None:
    from concurrent.futures.thread import _threads_queues

    before = len(_threads_queues)
    play(lambda me: ThreadPoolExecutor(1).submit(time.sleep, 1).result())
    assert len(_threads_queues) == before


# -- thread-locals ------------------------------------------------------------------------------------------------


def test_a_thread_local_is_a_tasks_own() -> None:
    def code(me: Any) -> tuple[str, list[bool], bool]:
        mine, seen = threading.local(), list[bool]()
        mine.value = "main"
        started(lambda: seen.append(hasattr(mine, "value"))).join()
        kept = mine.value
        del mine.value
        return kept, seen, hasattr(mine, "value")

    assert result(code) == ("main", [False], False)


def test_a_subclass_of_a_thread_local_made_in_a_client_is_a_tasks_own() -> None:
    def code(me: Any) -> list[list[str]]:
        class Own(threading.local):
            def __init__(self, first: str) -> None:
                self.names = [first]

        own, seen = Own("start"), list[list[str]]()
        own.names.append("main")
        started(lambda: (own.names.append("thread"), seen.append(own.names))).join()
        return [own.names, *seen]

    assert result(code) == [["start", "main"], ["start", "thread"]]


def test_a_lock_of_a_world_still_works_as_a_plain_lock_afterwards() -> None:
    lock, recursive = result(lambda me: (threading.Lock(), threading.RLock()))
    for kept in (lock, recursive):
        with kept:
            pass
        assert kept.acquire(timeout=0)
        kept.release()
    event = result(lambda me: threading.Event())
    event.set()
    assert event.wait(0)


def test_timers_that_ran_out_during_a_pause_fire_when_it_ends() -> None:
    def code(me: Any) -> list[float]:
        seen: list[float] = []
        threads = [started(lambda n=n: (time.sleep(n), seen.append(at()))) for n in (1, 3, 9)]
        for thread in threads:
            thread.join()
        return seen

    assert result(code, faults=[Pause("A", at=2, lasting=5)]) == [1, 7, 9]
