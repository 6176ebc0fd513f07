"""A process that plays ten thousand runs does not grow: what a run takes, it gives back."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from labkit import play as play_story
from labkit.faults import Crash
from tests.sim.playing import play

BYTES_A_RUN = 5e6 / 10_000
BYTES_A_BLOCK = 64  # a small one; most are larger


def quiet(me: Any) -> None:
    me.redis().set("a", 1, px=500)


def threaded(me: Any) -> None:
    client = me.redis()
    thread = threading.Thread(target=lambda: client.blpop("line", 1))
    thread.start()
    thread.join()


def cut_off(me: Any) -> None:
    client = me.redis()
    with client.lock("l", timeout=5):
        time.sleep(1000)


WAYS: dict[str, Callable[[], Any]] = {
    "a story": lambda: play_story("lost-release"),
    "a client that ends": lambda: play(quiet),
    "threads": lambda: play(threaded),
    "clients that are cut off": lambda: play(cut_off, cut_off, until=3),
    "a crash": lambda: play(cut_off, quiet, faults=[Crash("A", at=0.5)]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_run_gives_back_what_it_takes(way: Callable[[], Any]) -> None:
    def blocks_after(runs: int) -> int:
        for _ in range(runs):
            way()
        gc.collect()
        return sys.getallocatedblocks()

    blocks_after(30)  # pools and caches fill first
    before = blocks_after(1)
    assert (blocks_after(100) - before) / 100 < BYTES_A_RUN / BYTES_A_BLOCK
