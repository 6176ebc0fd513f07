"""Threads inside a client: `threading`, `queue` and pools in virtual time, ordinary in all else."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError, as_completed
from typing import Any

import pytest

from labkit.faults import Pause
from tests.sim.playing import notes, play, result


def started(work: Callable[[], Any], **options: Any) -> threading.Thread:
    thread = threading.Thread(target=work, **options)
    thread.start()
    return thread


def at() -> float:
    return round(time.monotonic() - 1000, 6)


def test_threads_sleep_side_by_side() -> None:
    def code(me: Any) -> float:
        threads = [started(lambda: time.sleep(3)) for _ in range(4)]
        for thread in threads:
            thread.join()
        return at()

    assert result(code) == 3


def test_join_gives_up_after_its_timeout() -> None:
    def code(me: Any) -> tuple[float, bool]:
        thread = started(lambda: time.sleep(5))
        thread.join(2)
        return at(), thread.is_alive()

    assert result(code) == (2, True)


def test_join_of_an_ended_thread_returns_at_once() -> None:
    def code(me: Any) -> tuple[float, bool]:
        thread = started(lambda: None)
        time.sleep(1)
        thread.join()
        return at(), thread.is_alive()

    assert result(code) == (1, False)


def test_a_thread_can_be_joined_by_two() -> None:
    def code(me: Any) -> list[float]:
        seen: list[float] = []
        worker = started(lambda: time.sleep(2))
        others = [started(lambda: (worker.join(), seen.append(at()))) for _ in range(2)]
        for other in others:
            other.join()
        return seen

    assert result(code) == [2, 2]


def test_a_thread_starts_once() -> None:
    def code(me: Any) -> None:
        thread = started(lambda: None)
        with pytest.raises(RuntimeError, match="only be started once"):
            thread.start()

    play(code)


def test_joining_what_never_started_or_oneself_is_refused() -> None:
    def code(me: Any) -> None:
        with pytest.raises(RuntimeError, match="before it is started"):
            threading.Thread().join()
        with pytest.raises(RuntimeError, match="cannot join current thread"):
            threading.current_thread().join()

    play(code)


def test_threads_have_names_numbers_and_flags_of_their_own() -> None:
    def code(me: Any) -> list[Any]:
        seen: list[Any] = []
        look = lambda: seen.append((threading.current_thread(), threading.get_ident()))  # noqa: E731
        thread = started(look, daemon=True, name="worker")
        thread.join()
        assert seen[0] == (thread, thread.ident)
        assert thread.ident != threading.get_ident()
        return [thread.name, thread.daemon, threading.current_thread().name, threading.current_thread().daemon]

    assert result(code) == ["worker", True, "A", False]


def test_names_are_numbered_anew_in_each_world() -> None:
    def code(me: Any) -> list[str]:
        with ThreadPoolExecutor(1) as pool:
            return [threading.Thread().name, pool.submit(lambda: threading.current_thread().name).result()]

    assert result(code) == result(code) == ["Thread-1", "ThreadPoolExecutor-0_0"]


def test_a_thread_can_be_looked_at_once_the_world_is_over() -> None:
    kept: list[threading.Thread] = []
    play(lambda me: (kept.append(started(lambda: time.sleep(1))), kept[0].join()))
    play(lambda me: kept.append(started(lambda: time.sleep(99))))
    for thread in kept:
        assert "stopped" in repr(thread)
        assert not thread.is_alive()
        thread.join()


def test_a_subclass_of_thread_works() -> None:
    class Worker(threading.Thread):
        def run(self) -> None:
            time.sleep(1)
            self.done = at()

    def code(me: Any) -> float:
        worker = Worker()
        worker.start()
        worker.join()
        return worker.done

    assert result(code) == 1


def test_an_exception_in_a_thread_is_a_note_and_does_not_end_the_run() -> None:
    def code(me: Any) -> None:
        started(lambda: {}["missing"], name="worker").join()
        me.note("went on")

    assert notes(play(code)) == ["A, thread worker, died: KeyError: 'missing'", "went on"]


def test_sys_exit_in_a_thread_ends_it_in_silence() -> None:
    def leave() -> None:
        raise SystemExit

    assert notes(play(lambda me: started(leave).join())) == []


# -- locks --------------------------------------------------------------------------------------------------------


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


# -- pools --------------------------------------------------------------------------------------------------------


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
