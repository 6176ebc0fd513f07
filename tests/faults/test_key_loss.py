"""Loss of keys: a counter that starts again (E23), and a restart that is delayed until no lock can be remembered."""

from __future__ import annotations

import time
from typing import Any

import pytest

from labkit.checks import exclusive_grants
from labkit.faults import Evict, Flush, Restart
from labkit.locks import SafeLock
from tests.sim.playing import ONCE, notes, play

TTL = 10.0


def tokens(*faults: Any) -> list[int]:
    """Three tokens of a counter, a second apart."""
    found: list[int] = []

    def code(me: Any) -> None:
        for _ in range(3):
            found.append(int(me.redis(retry=ONCE).incr("fence")))
            time.sleep(1)

    play(code, faults=faults)
    return found


@pytest.mark.parametrize("fault", [Evict("fence", at=1.5), Flush(at=1.5), Restart(at=1.5)])
def test_a_counter_that_is_lost_starts_again(fault: Any) -> None:
    assert tokens(fault) == [1, 2, 1]


def test_a_restart_with_its_data_loses_no_counter() -> None:
    assert tokens(Restart(at=1.5, keep_data=True)) == [1, 2, 3]


def test_a_flush_is_told_and_ends_what_the_server_held() -> None:
    def code(me: Any) -> None:
        me.redis().set("a", 1)
        time.sleep(2)

    timeline = play(code, faults=[Flush(at=1)])
    assert [(h.end, h.why) for h in timeline.truth("a")] == [(1, "deleted")]
    assert notes(timeline) == ["An operator empties redis with FLUSHALL."]
    with pytest.raises(ValueError, match="A is a client: it has no keys to lose"):
        play(lambda me: time.sleep(2), faults=[Flush("A", at=1)])


def holding(start: float) -> Any:
    """Asks for the lock at a time, and works under it for longer than its lease lasts."""

    def code(me: Any) -> None:
        time.sleep(start)
        if me.lock(SafeLock(me.redis(retry=ONCE), "stock", ttl=TTL)).acquire(0):
            time.sleep(TTL + 2)
        me.leaves("done")

    return code


@pytest.mark.parametrize(("down", "holds"), [(0.0, False), (5.0, False), (TTL, True), (TTL + 1, True)])
def test_a_restart_without_data_gives_the_lock_away_unless_it_is_delayed_beyond_the_ttl(
    down: float, holds: bool
) -> None:
    """s6, and the remedy of E37; B asks as soon as the server is back."""
    timeline = play(holding(0), holding(down + 0.1), faults=[Restart(at=0.05, down=down)])
    assert [b.node for b in timeline.belief("stock")] == ["A", "B"]
    assert exclusive_grants.check(timeline).holds is holds
