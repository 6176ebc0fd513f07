"""Threads inside a client: they start, sleep, are joined, named and die in virtual time as they do in real time."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from labkit.sim import World
from tests.sim.playing import at, notes, play, result, started


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


def test_a_process_ends_with_its_last_thread_that_is_no_daemon() -> None:
    beats: list[float] = []

    def beat() -> None:
        while True:
            time.sleep(1)
            beats.append(time.monotonic())

    def main(me: Any) -> None:
        threading.Thread(target=beat, daemon=True).start()
        threading.Thread(target=time.sleep, args=(5.5,)).start()
        time.sleep(2.5)

    with World() as world:
        world.client("A").start(main)
        world.client("B").start(lambda me: time.sleep(20))
        world.run()

    assert len(beats) == 5
