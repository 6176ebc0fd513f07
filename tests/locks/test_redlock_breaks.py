"""Schedules that break a quorum lock, each by its erratum: the broken lock breaks, the sound one survives the same
schedule. And those that break the sound one too: what five nodes do not buy. In virtual time, in seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from redis.exceptions import TimeoutError

from labkit import judge
from labkit.checks import CHECKS
from labkit.faults import ClockRate, ClockStep, Delay, DropReply, DropRequest, Partition, Pause, Restart
from labkit.locks import QUORUM_LOCKS, OneValueRedlock, Redlock, Round, SeedRedlock, StopAtMajorityRedlock
from labkit.timeline import Timeline
from tests.locks.five import FIVE, PATIENT, PLAIN, LateReply, clients_of, play

Code = Callable[[Any], None]
CUT_OFF = [Partition("A", "n4"), Partition("A", "n5")]  # so that A has a bare majority


def wants(kind: type[Redlock], at: float = 0.0, works: float = 20.0, clients: Any = PATIENT, **options: Any) -> Code:
    """A client that tries once and, if it has the lock, holds it for a while."""

    def code(me: Any) -> None:
        time.sleep(at)
        lock = me.lock(kind(clients_of(me, **clients), "stock", **options))
        if lock.try_acquire() is not None:
            time.sleep(works)
            me.note("The work is done.")

    return code


def holds(timeline: Timeline, check: str = "exclusive_grants") -> bool | None:
    return judge(timeline, check).verdicts[0].holds


def in_the_end(run: Callable[[Any], Any], *faults: Any) -> Any:
    """What the code of client A returns."""
    found = []
    play(lambda me: found.append(run(me)), faults=faults)
    return found[0]


# -- a lock for each erratum, and the sound one on the same schedule ---------------------------------------------------


def clock_set_back(kind: type[Redlock]) -> Timeline:
    """E32. A's third answer takes 12 s; meanwhile its wall clock is set back by 15."""
    faults = [LateReply("SET", "A", "n3", by=12.0), ClockStep("A", by=-15.0, at=5.0)]
    return play(wants(kind), wants(kind, at=10.5), faults=faults)


def five_milliseconds_left(kind: type[Redlock]) -> Timeline:
    """E31. A's acquisition takes 9.995 s of 10, and the servers' clocks go one per cent too fast."""
    faults = [LateReply("SET", "A", "n4", by=9.99), *[ClockRate(name, 1.01) for name in FIVE]]
    return play(wants(kind), wants(kind, at=9.95, clients=PLAIN), faults=faults)


def restart_of_one(kind: type[Redlock]) -> Timeline:
    """E68. Nobody is cut off; one node of those that A has asked comes back empty."""
    faults = [Restart("n3", at=0.5)]
    return play(wants(kind), wants(kind, at=1.0), faults=faults)


def late_unlock(kind: type[Redlock]) -> Timeline:
    """E35. C's old keys on three nodes run out at 5 ms. A tries at 0, and its unlock of n3 is late by 200 ms; it tries
    again at 50, with n4 and n5 cut off; the unlock lands; B tries at 210."""

    def old_keys(me: Any) -> None:
        for name in FIVE[2:]:
            me.redis(name).set("stock", "C's", px=5)

    def tries_twice(me: Any) -> None:
        time.sleep(0.0035)
        lock = me.lock(kind(clients_of(me, **PLAIN), "stock", budget=0.02))
        assert lock.try_acquire() is None
        time.sleep(max(0.0, 0.05 - me.world.now))
        assert lock.try_acquire() is not None
        time.sleep(5.0)
        me.note("The work is done.")

    cut = [Partition("A", "n4", at=0.04), Partition("A", "n5", at=0.04)]
    faults = [Delay(on="EVAL", client="A", server="n3", by=0.2), *cut]
    return play(tries_twice, wants(kind, at=0.21, works=1.0), old_keys, faults=faults)


SCHEDULES = [
    (SeedRedlock, clock_set_back),
    (SeedRedlock, five_milliseconds_left),
    (StopAtMajorityRedlock, restart_of_one),
    (OneValueRedlock, late_unlock),
]


@pytest.mark.parametrize(("kind", "schedule"), SCHEDULES)
def test_the_flaw_is_found(kind: type[Redlock], schedule: Callable[[type[Redlock]], Timeline]) -> None:
    verdict = CHECKS[sys.modules[kind.__module__].CAUGHT_BY](schedule(kind))
    assert verdict.holds is False, verdict


@pytest.mark.parametrize(("kind", "schedule"), SCHEDULES)
def test_the_sound_lock_survives_it(kind: type[Redlock], schedule: Callable[[type[Redlock]], Timeline]) -> None:
    verdict = CHECKS[sys.modules[kind.__module__].CAUGHT_BY](schedule(Redlock))
    assert verdict.holds is True, verdict


def test_each_broken_quorum_lock_has_its_schedule() -> None:
    broken = {kind for kind in QUORUM_LOCKS.values() if ".broken." in kind.__module__}
    assert {kind for kind, _ in SCHEDULES} == broken


# -- what is left behind, and what gets out ----------------------------------------------------------------------------


def left_behind(kind: type[Redlock]) -> tuple[bool, list[int]]:
    """E33. Three nodes are taken, the first is cut off: whether an error gets out of the attempt, and which nodes hold
    something of it afterwards."""

    def code(me: Any) -> tuple[bool, list[int]]:
        clients = clients_of(me, **PLAIN)
        for client in clients[2:]:
            client.set("stock", "C's")
        raised = False
        try:
            kind(clients, "stock").try_acquire()
        except TimeoutError:
            raised = True
        return raised, [n for n, client in enumerate(clients) if n and client.get("stock") not in (None, b"C's")]

    found: tuple[bool, list[int]] = in_the_end(code, Partition("A", "n1"))
    return found


def test_a_clean_up_that_stops_at_a_dead_node_leaves_the_rest_locked() -> None:
    assert left_behind(SeedRedlock) == (True, [1])


def test_an_error_that_gets_out_ends_the_attempt_without_a_clean_up() -> None:
    def code(me: Any) -> list[bool]:
        clients = clients_of(me, **PLAIN)
        with pytest.raises(TimeoutError):
            StopAtMajorityRedlock(clients, "stock").try_acquire()
        return [client.get("stock") is not None for client in clients]

    assert in_the_end(code, DropRequest(on="SET", client="A", server="n3")) == [True, True, False, False, False]


def test_the_sound_lock_cleans_up_around_a_dead_node() -> None:
    assert left_behind(Redlock) == (False, [])


def outlived(kind: type[Redlock]) -> float | None:
    """E66. The answer of n3 comes after 11 s of a TTL of 10: seconds left of the lease, if there is one."""

    def code(me: Any) -> float | None:
        lease = kind(clients_of(me, **PATIENT), "stock").try_acquire()
        return None if lease is None else lease.remaining()

    left: float | None = in_the_end(code, LateReply("SET", "A", "n3", by=11.0))
    return left


def test_a_clock_that_is_not_looked_at_last_grants_what_is_over() -> None:
    assert outlived(StopAtMajorityRedlock) == 0.0


def test_the_sound_lock_does_not_wait_for_a_slow_node() -> None:
    left = outlived(Redlock)
    assert left is not None and left > 9.6


def test_a_pause_during_the_acquisition_is_noticed() -> None:
    """E40: the answers are all there when A wakes up, and the lease is over."""

    def code(me: Any) -> tuple[bool, list[Any], float]:
        clients, rounds = clients_of(me), list[Round]()
        lease = Redlock(clients, "stock", on_round=rounds.append).try_acquire()
        return lease is None, [client.get("stock") for client in clients], rounds[0].validity

    refused, keys, validity = in_the_end(code, Pause("A", lasting=9.95, at=0.0003))
    assert (refused, keys) == (True, [None] * 5)
    assert validity < 0


# -- a time-out is unknown, and is cleaned up behind (E34) -------------------------------------------------------------


def after_a_refusal(*faults: Any) -> tuple[list[str], list[bool]]:
    """The votes of an attempt, and which nodes hold something of it 3 s later."""

    def code(me: Any) -> tuple[list[str], list[bool]]:
        clients = clients_of(me)
        tried = Redlock(clients, "stock").attempt()
        assert tried.lease is None
        time.sleep(3.0)
        return [node.vote for node in tried.nodes], [client.get("stock") is not None for client in clients]

    votes: tuple[list[str], list[bool]] = in_the_end(code, *faults)
    return votes


def test_what_lands_after_the_refusal_is_taken_back_behind_it() -> None:
    faults = [Delay(on="SET", client="A", server=name, by=1.0) for name in FIVE[:3]]
    assert after_a_refusal(*faults) == (["unknown"] * 3 + ["yes"] * 2, [False] * 5)


def test_what_was_done_and_not_answered_is_taken_back() -> None:
    faults = [DropReply(on="SET", client="A", server=name) for name in FIVE[:3]]
    assert after_a_refusal(*faults) == (["unknown"] * 3 + ["yes"] * 2, [False] * 5)


def test_what_was_never_done_is_no_vote() -> None:
    faults = [DropRequest(on="SET", client="A", server=name) for name in FIVE[:3]]
    assert after_a_refusal(*faults) == (["unknown"] * 3 + ["yes"] * 2, [False] * 5)


def test_a_release_reaches_a_node_whose_grant_was_never_answered() -> None:
    """The link is dead from then on, so the release goes down the old connection and over a new one."""

    def code(me: Any) -> list[Any]:
        clients = clients_of(me)
        lock = Redlock(clients, "stock")
        lease = lock.try_acquire()
        assert lease is not None
        time.sleep(1.0)
        lock.release(lease)
        return [client.get("stock") for client in clients]

    cut = Partition("A", "n3", at=0.0012, lasting=0.5)  # the request has arrived, the answer does not
    assert in_the_end(code, LateReply("SET", "A", "n3", by=0.001), cut) == [None] * 5


def test_a_retry_is_not_refused_by_the_attempt_before() -> None:
    def code(me: Any) -> tuple[bool, set[bytes]]:
        clients = clients_of(me)
        for client in clients[:3]:
            client.set("stock", "C's", px=300)
        lease = Redlock(clients, "stock").acquire(timeout=5.0)
        return lease is not None, {client.get("stock") for client in clients}

    had, values = in_the_end(code)
    assert had
    assert len(values) == 1


def test_rivals_who_have_split_the_votes_do_not_meet_for_ever() -> None:
    def rival(me: Any) -> None:
        lock = me.lock(Redlock(clients_of(me), "stock"))
        lease = lock.acquire(timeout=30.0)
        assert lease is not None
        time.sleep(0.1)
        lock.release(lease)

    for seed_of_latency in range(3):
        timeline = play(rival, rival, rival, faults=[Delay(on="SET", nth=1, client="A", by=0.001 * seed_of_latency)])
        assert len(timeline.belief()) == 3
        assert holds(timeline) is True


# -- what breaks the sound one too -------------------------------------------------------------------------------------


def test_a_bare_majority_does_not_survive_a_node_that_forgets() -> None:
    """E37: A on 1, 2, 3; node 3 restarts empty; B on 3, 4, 5."""
    timeline = play(wants(Redlock), wants(Redlock, at=1.0), faults=[*CUT_OFF, Restart("n3", at=0.5)])
    assert holds(timeline) is False


@pytest.mark.parametrize(
    "remedy", [Restart("n3", at=0.5, keep_data=True), Restart("n3", at=0.5, down=10.5)], ids=["kept", "delayed"]
)
def test_it_survives_a_restart_that_remembers_or_comes_late(remedy: Restart) -> None:
    timeline = play(wants(Redlock), wants(Redlock, at=1.0), faults=[*CUT_OFF, remedy])
    assert holds(timeline) is True


def test_a_bare_majority_does_not_survive_a_clock_that_jumps() -> None:
    """E43: A on 1, 2, 3; the clock of node 1 jumps by 15 s; B on 1, 4, 5."""
    timeline = play(wants(Redlock), wants(Redlock, at=1.0), faults=[*CUT_OFF, ClockStep("n1", by=15.0, at=0.5)])
    assert holds(timeline) is False


def losses(*names: str) -> bool | None:
    """A has all five, and these forget it."""
    return holds(play(wants(Redlock), wants(Redlock, at=1.0), faults=[Restart(name, at=0.5) for name in names]))


def test_all_five_survive_two_that_forget_and_not_three() -> None:
    assert [losses(*FIVE[:n]) for n in (1, 2, 3)] == [True, True, False]


def test_a_client_that_stands_still_goes_on_believing() -> None:
    faults = [Pause("A", lasting=15.0, at=1.0)]
    timeline = play(wants(Redlock), wants(Redlock, at=11.0), faults=faults)
    assert (holds(timeline), holds(timeline, "one_believer")) == (True, False)


def test_a_minority_gets_nothing() -> None:
    alone = [Partition("A", name) for name in FIVE[2:]]
    timeline = play(wants(Redlock), wants(Redlock, at=1.0), faults=alone)
    assert [belief.node for belief in timeline.belief()] == ["B"]
