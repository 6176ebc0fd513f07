"""Virtual time: what a client sees of it, that it costs nothing, and that nobody else sees it."""

from __future__ import annotations

import contextvars
import decimal
import importlib
import queue
import random
import sys
import threading
import time
import types
from time import monotonic, sleep
from typing import Any

import pytest

from labkit.sim import World
from labkit.sim.hub import micros
from labkit.sim.standins import everything
from tests.sim.playing import play, result

ORIGINALS = [(owner, name, getattr(owner, name)) for owner, name, _ in everything()]


def untouched() -> bool:
    return all(getattr(owner, name) is original for owner, name, original in ORIGINALS)


def test_a_sleep_takes_its_time_in_the_world() -> None:
    def code(me: Any) -> float:
        before = time.monotonic()
        time.sleep(2.5)
        return time.monotonic() - before

    assert result(code) == 2.5


def test_a_day_passes_in_no_real_time() -> None:
    real = time.perf_counter()
    timeline = play(lambda me: (time.sleep(86_400), me.note("up")), until=100_000)
    assert timeline.end == 86_400
    assert time.perf_counter() - real < 5


def test_all_clocks_of_a_client_agree() -> None:
    def code(me: Any) -> list[float]:
        before = [time.time(), time.monotonic(), time.perf_counter()]
        before += [time.time_ns() / 1e9, time.monotonic_ns() / 1e9, time.perf_counter_ns() / 1e9]
        time.sleep(1.5)
        after = [time.time(), time.monotonic(), time.perf_counter()]
        after += [time.time_ns() / 1e9, time.monotonic_ns() / 1e9, time.perf_counter_ns() / 1e9]
        return [round(b - a, 3) for a, b in zip(before, after, strict=True)]

    assert result(code) == [1.5] * 6


def test_the_calendar_follows_the_clients_clock() -> None:
    def code(me: Any) -> list[str]:
        return [time.strftime("%Y"), time.ctime()[-4:], time.asctime()[-4:], str(time.gmtime().tm_year)]

    assert result(code) == ["2023"] * 4


def test_the_calendar_still_takes_a_time_of_ones_own() -> None:
    assert result(lambda me: (time.gmtime(0).tm_year, time.strftime("%Y", time.gmtime(0)))) == (1970, "1970")


def test_a_name_bound_by_from_import_is_virtual_too() -> None:
    def code(me: Any) -> float:
        before = monotonic()
        sleep(7)
        return monotonic() - before

    assert result(code) == 7


def test_a_name_bound_in_main_is_found_anew_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    play(lambda me: None)
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "nap", sleep, raising=False)
    assert result(lambda me: (main.nap(3), monotonic())[1]) == 1003
    assert main.nap is sleep


def test_a_module_loaded_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    play(lambda me: None)
    module: Any = types.ModuleType("loaded_later")
    module.nap = sleep
    monkeypatch.setitem(sys.modules, "loaded_later", module)
    assert result(lambda me: (module.nap(3), monotonic())[1]) == 1003


def test_a_negative_sleep_is_refused_as_ever() -> None:
    def code(me: Any) -> None:
        with pytest.raises(ValueError, match="non-negative"):
            time.sleep(-1)

    play(code)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, 0), (1e-9, 1), (1e-13, 1), (0.1, 100_000), (-1, 0), (2.5, 2_500_000)]
)
def test_a_wait_is_never_rounded_down_to_none(seconds: float, expected: int) -> None:
    assert micros(seconds) == expected


def test_names_are_restored_after_a_run() -> None:
    play(lambda me: time.sleep(1))
    assert untouched()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemError])
def test_names_are_restored_after_an_exception(error: type[BaseException]) -> None:
    def code(me: Any) -> None:
        time.sleep(1)
        raise error("broken")

    with pytest.raises((error, RuntimeError)):
        play(code)
    assert untouched()


def test_names_are_replaced_while_a_world_runs() -> None:
    play(lambda me: None)
    seen = result(lambda me: [getattr(owner, name) is original for owner, name, original in ORIGINALS])
    assert not any(seen)


def test_what_a_test_has_put_in_a_names_place_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    play(lambda me: None)
    retry = importlib.import_module("redis.retry")
    patched = lambda seconds: None  # noqa: E731
    monkeypatch.setattr(retry, "sleep", patched)
    assert result(lambda me: retry.sleep is patched)
    assert retry.sleep is patched


def test_an_original_that_was_patched_is_put_back_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    play(lambda me: None)
    patched = lambda seconds: None  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", patched)
        assert result(lambda me: (time.sleep(4), time.monotonic())[1]) == 1004
        assert time.sleep is patched
    assert result(lambda me: (time.sleep(4), time.monotonic())[1]) == 1004
    assert untouched()


def test_another_real_thread_sees_real_time_while_a_world_runs() -> None:
    asked, answers = queue.Queue[str](), queue.Queue[tuple[float, type, int]]()

    def outsider() -> None:
        asked.get()
        answers.put((time.monotonic(), type(threading.Lock()), threading.get_ident()))

    thread = threading.Thread(target=outsider)
    thread.start()
    found = []

    def code(me: Any) -> None:
        time.sleep(50)
        me.world.hub.outside(asked.put, "now")
        found.append(me.world.hub.outside(answers.get))
        found.append((time.monotonic(), type(threading.Lock()), threading.get_ident()))

    before = time.monotonic()
    play(code)
    thread.join()
    real, virtual = found
    assert before <= real[0] <= time.monotonic()
    assert real[2] == thread.ident
    assert virtual[0] == 1050
    assert real[1] is type(threading.Lock())
    assert virtual[1] is not real[1]


def test_each_client_has_a_context_of_its_own() -> None:
    mark = contextvars.ContextVar("mark", default="none")
    seen = []

    def code(me: Any) -> None:
        mark.set(me.name)
        decimal.getcontext().prec = 5 if me.name == "A" else 9
        time.sleep(1)
        seen.append((mark.get(), decimal.getcontext().prec))

    play(code, code)
    assert seen == [("A", 5), ("B", 9)]
    assert mark.get() == "none"


def test_decimal_keeps_the_precision_of_the_caller() -> None:
    with decimal.localcontext(prec=7):
        assert result(lambda me: (time.sleep(1), decimal.getcontext().prec)[1]) == 7


def test_a_world_inside_a_client_has_a_time_of_its_own() -> None:
    def inner(me: Any) -> float:
        time.sleep(10)
        return time.monotonic()

    def outer(me: Any) -> tuple[float, float]:
        time.sleep(1)
        return result(inner), time.monotonic()

    assert result(outer) == (1010, 1001)


def test_now_counts_from_the_start_of_the_run() -> None:
    with World() as world:
        world.client("A").start(lambda me: time.sleep(3))
        seen = []
        world.at(2, lambda: seen.append(world.now))
        world.run()
    assert seen == [2.0]


@pytest.mark.parametrize("t", [float("nan"), float("inf"), -1.0])
def test_a_time_that_is_none_is_refused(t: float) -> None:
    with World() as world, pytest.raises(ValueError, match=r"is not a time from 0\.0 s on"):
        world.at(t, lambda: None)


def test_unseeded_generators_are_the_clients_own() -> None:
    def code(me: Any) -> list[float]:
        return [random.random(), random.Random().random(), random.SystemRandom().random()]

    assert result(code) == result(code)
