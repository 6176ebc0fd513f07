"""The lock in etcd under faults: pauses, crashes, lost replies, cut links. How it does on a real etcd is in
tests/conformance/test_etcd.py."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from labkit import play, replay
from labkit.checks import CHECKS
from labkit.explore import Outcome, search
from labkit.faults import Crash, DropReply, DropRequest, Partition, Pause, Restart
from labkit.locks.broken.etcd_unchecked import CAUGHT_BY
from labkit.locks.etcd import EtcdLock
from labkit.locks.etcdclient import EtcdClient, Watch
from labkit.locks.lease import Lease, LeaseLost, Misuse, drift
from labkit.sim import World
from labkit.timeline import Timeline

Code = Callable[[Any], Any]


def run(*codes: Code, faults: Iterable[Any] = (), until: float = 200.0) -> Timeline:
    """Plays the codes as clients A, B …"""
    with World() as world:
        for name, code in zip("ABC", codes, strict=False):
            world.client(name).start(code)
        world.client("A").etcd()
        for fault in faults:
            world.arm(fault)
        return world.run(until=until)


def lock_of(me: Any, ttl: float = 10) -> EtcdLock:
    lock: EtcdLock = me.lock(EtcdLock(EtcdClient(*me.etcd(timeout=0.4)), "stock", ttl))
    return lock


def holds(seconds: float, late: float = 0.0, told: list[Any] | None = None) -> Code:
    """A client that queues up after `late` seconds and holds the lock for so many; it notes when it was granted."""

    def code(me: Any) -> None:
        time.sleep(late)
        lock = lock_of(me)
        try:
            with lock.hold(100.0):
                told is None or told.append(time.monotonic() - 1000)
                time.sleep(seconds)
        except LeaseLost as lost:
            told is None or told.append(lost.reason)

    return code


def requests(timeline: Timeline, client: str) -> list[str]:
    return [event.name.split()[0] for event in timeline.find("send") if event.node == client]


# -- what it costs ---------------------------------------------------------------------------------------------------


def test_a_lock_that_is_free_takes_two_requests_and_two_to_give_back() -> None:
    assert requests(run(holds(1.0)), "A") == ["GRANT", "TXN", "TXN", "REVOKE"]


def test_a_waiter_sends_nothing_but_keep_alives_while_nothing_changes() -> None:
    timeline = run(holds(9.0), holds(1.0, late=0.5))
    waiting = [e.name.split()[0] for e in timeline.find("send") if e.node == "B" and 0.6 < e.t < 8.9]
    assert waiting == ["KEEPALIVE", "KEEPALIVE"]


def test_the_holder_is_kept_alive_every_third_of_the_ttl_for_as_long_as_it_works() -> None:
    timeline = run(holds(31.0))
    assert requests(timeline, "A").count("KEEPALIVE") == 9
    assert [hold.why for hold in timeline.truth("stock")] == ["deleted"]


def test_nothing_is_sent_after_a_release() -> None:
    def code(me: Any) -> None:
        with lock_of(me).hold():
            pass
        time.sleep(60.0)

    assert requests(run(code), "A") == ["GRANT", "TXN", "TXN", "REVOKE"]


def test_time_counts_from_before_the_request_left() -> None:
    def code(me: Any) -> None:
        lock, before = lock_of(me), time.monotonic()
        lease = lock.acquire()
        assert lease is not None
        assert lease.deadline == before + 10 - drift(10)
        time.sleep(1.0)
        before = time.monotonic()
        assert lock.extend(lease).deadline == before + 10 - drift(10)

    run(code)


# -- clients that stand still or die ---------------------------------------------------------------------------------


def test_the_next_one_holds_when_the_lease_of_a_dead_holder_has_ended() -> None:
    told: list[Any] = []
    run(holds(5.0), holds(1.0, 0.5, told), faults=[Crash("A", at=1.0)])
    assert told == [pytest.approx(10.0, abs=0.01)]


def test_a_waiter_that_dies_holds_up_the_others_for_its_lease_at_most() -> None:
    told: list[Any] = []
    run(holds(4.0), holds(1.0, 0.5), holds(1.0, 1.0, told), faults=[Crash("B", at=2.0)])
    assert told == [pytest.approx(10.5, abs=0.01)]


def test_a_waiter_that_has_slept_over_its_lease_is_told() -> None:
    told: list[Any] = []
    run(holds(6.0), holds(1.0, 0.5, told), faults=[Pause("B", at=1.0, lasting=12.0)])
    assert told == ["lost"]


def test_a_holder_that_has_slept_over_its_lease_believes_no_more() -> None:
    def code(me: Any) -> None:
        lock = lock_of(me)
        lease = lock.acquire()
        assert lease is not None
        time.sleep(5.0)
        assert not lock.holding(lease)
        with pytest.raises(LeaseLost) as lost:
            lock.release(lease)
        assert lost.value.reason == "stolen"

    run(code, holds(30.0, late=0.5), faults=[Pause("A", at=1.0, lasting=14.0)])


def test_a_grant_that_comes_too_late_is_no_grant() -> None:
    told: list[Any] = []
    timeline = run(holds(1.0, told=told), faults=[Pause("A", lasting=12.0, at=0.0015)])
    assert told == ["lost"]
    assert [hold.why for hold in timeline.truth("stock")] == ["expired"]


def test_nobody_keeps_alive_what_the_owner_thread_has_left() -> None:
    def code(me: Any) -> None:
        lock = lock_of(me)
        owner = threading.Thread(target=lock.acquire)
        owner.start()
        owner.join()
        time.sleep(30.0)

    (hold,) = run(code).truth("stock")
    assert (hold.why, round(hold.end, 1)) == ("expired", 10.0)


def test_a_client_that_ends_is_kept_alive_no_more() -> None:
    timeline = run(lambda me: lock_of(me).acquire() and None, lambda me: time.sleep(30.0))
    assert round(timeline.truth("stock")[0].end, 1) == 10.0


# -- replies that are lost, links that are cut -----------------------------------------------------------------------


@pytest.mark.parametrize("lost", [DropRequest, DropReply])
@pytest.mark.parametrize("command", ["GRANT", "TXN"])
def test_whatever_is_lost_of_an_attempt_nothing_stays_in_the_queue(lost: Any, command: str) -> None:
    told: list[str] = []

    def code(me: Any) -> None:
        with pytest.raises(TimeoutError):
            lock_of(me).acquire()
        told.extend(entry.key for entry in EtcdClient(*me.etcd()).range("stock/", prefix=True))

    run(code, faults=[lost(command)])
    assert told == []


def test_one_lost_keep_alive_is_survived() -> None:
    timeline = run(holds(30.0), faults=[DropRequest("KEEPALIVE", nth=2)])
    assert [hold.why for hold in timeline.truth("stock")] == ["deleted"]


def test_a_release_whose_reply_is_lost_is_unknown() -> None:
    def code(me: Any) -> None:
        lock = lock_of(me)
        lease = lock.acquire()
        with pytest.raises(TimeoutError):
            lock.release(lease)  # type: ignore[arg-type]

    timeline = run(code, faults=[DropReply("TXN", nth=2)])
    assert [op.outcome for op in timeline.ops("release")] == ["unknown"]


def test_a_waiter_keeps_its_place_while_its_link_is_cut_for_less_than_its_lease() -> None:
    told: list[Any] = []
    run(holds(6.0), holds(1.0, 0.5, told), faults=[Partition("B", "etcd", at=5.0, lasting=4.0)])
    assert len(told) == 1
    assert 9.0 < told[0] < 10.0


def test_a_waiter_learns_of_a_deletion_that_a_silent_connection_has_swallowed() -> None:
    told: list[Any] = []
    run(holds(6.0), holds(1.0, 0.5, told), faults=[Partition("B", "etcd", at=5.9, lasting=0.3)])
    assert told == [pytest.approx(10.5, abs=0.1)]  # after one TTL it looks without having been called


def test_a_waiter_keeps_its_place_over_a_change_of_the_leader() -> None:
    told: list[Any] = []
    timeline = run(holds(6.0), holds(1.0, 0.5, told), faults=[Restart("etcd", at=3.0, keep_data=True, down=0.5)])
    assert told == [pytest.approx(6.0, abs=0.1)]
    assert requests(timeline, "B").count("GRANT") == 1


def test_a_time_out_is_kept_while_the_link_is_cut() -> None:
    ended: list[float] = []

    def code(me: Any) -> None:
        time.sleep(0.5)
        assert lock_of(me).acquire(3.0) is None
        ended.append(time.monotonic() - 1000)

    run(holds(30.0), code, faults=[Partition("B", "etcd", at=1.0, lasting=100.0)])
    assert 3.5 <= ended[0] < 3.5 + 2 * 0.4 + 0.01  # two calls that nobody answers


# -- answers that are none -------------------------------------------------------------------------------------------


ODD: tuple[Any, ...] = (
    {"error": "Bad Gateway", "code": 12},
    {"error": "token expired", "code": 16},
    ValueError("no JSON"),
    {},
)


class Odd:
    """What stands between a client and etcd, and answers one request of a kind with something of its own."""

    def __init__(self, wire: Any, path: str, answer: Any, nth: int) -> None:
        self._post, self.watch = wire
        self._path, self._answer, self._left = path, answer, nth

    def post(self, path: str, body: dict[str, Any]) -> Any:
        self._left -= path.endswith(self._path)
        if not path.endswith(self._path) or self._left:
            return self._post(path, body)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def odd_lock(me: Any, path: str, answer: Any, nth: int = 1) -> EtcdLock:
    odd = Odd(me.etcd(timeout=0.4), path, answer, nth)
    lock: EtcdLock = me.lock(EtcdLock(EtcdClient(odd.post, odd.watch), "stock", 10))
    return lock


@pytest.mark.parametrize("answer", ODD, ids=repr)
def test_a_holder_is_kept_alive_whatever_one_keep_alive_is_answered(answer: Any) -> None:
    def code(me: Any) -> None:
        with odd_lock(me, "keepalive", answer).hold():
            time.sleep(30.0)

    assert [hold.why for hold in run(code).truth("stock")] == ["deleted"]


@pytest.mark.parametrize("answer", ODD[:3], ids=repr)
@pytest.mark.parametrize(("path", "nth"), [("keepalive", 1), ("txn", 2)])
def test_a_waiter_keeps_its_place_whatever_one_request_is_answered(path: str, nth: int, answer: Any) -> None:
    told: list[Any] = []

    def code(me: Any) -> None:
        time.sleep(0.5)
        with odd_lock(me, path, answer, nth).hold(100.0) as lease:
            told.append(lease.fence)

    timeline = run(holds(6.0), code)
    assert len(told) == 1
    assert requests(timeline, "B").count("GRANT") == 1


def test_who_is_told_by_an_extension_that_the_lease_is_gone_believes_no_more() -> None:
    def code(me: Any) -> None:
        lock = lock_of(me)
        lease = lock.acquire()
        assert lease is not None
        lock.client.lease_revoke(int(lease.token.partition("/")[2], 16))
        with pytest.raises(LeaseLost):
            lock.extend(lease)
        assert not lock.holding(lease)
        time.sleep(30.0)

    assert requests(run(code), "A").count("KEEPALIVE") == 1


class Told:
    """A stream that has so many messages and is silent then."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._messages = list(messages)

    def read(self, timeout: float) -> dict[str, Any] | None:
        return {"result": self._messages.pop(0)} if self._messages else None


@pytest.mark.parametrize(
    ("last", "look"),
    [({"canceled": True, "compact_revision": "7"}, True), ({"events": [{"type": "DELETE"}]}, True), ({}, False)],
)
def test_a_watch_that_the_server_gives_up_is_a_reason_to_look(last: dict[str, Any], look: bool) -> None:
    assert Watch(Told({"created": True}, last)).deleted(0.0) is look


# -- misuse ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ttl", [0, -1, 2.5, True, "10", float("nan"), 9_000_000_001])
def test_a_ttl_that_etcd_cannot_count_is_refused_before_anything_is_sent(ttl: Any) -> None:
    with pytest.raises(ValueError, match="is no TTL of etcd: give whole seconds, from 1 to 9000000000"):
        EtcdLock(EtcdClient(None, None), "stock", ttl)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_name_is_a_text(name: Any) -> None:
    with pytest.raises(ValueError, match="is not a lock's name"):
        EtcdLock(EtcdClient(None, None), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("lease", [None, Lease("other", "other/1", 1, 0.0), Lease("stock", "made up", 1, 0.0)])
def test_a_lease_of_something_else_is_misuse(lease: Any) -> None:
    with pytest.raises(Misuse):
        EtcdLock(EtcdClient(None, None), "stock").extend(lease)  # type: ignore[arg-type]


def test_a_time_out_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="timeout=-1"):
        EtcdLock(EtcdClient(None, None), "stock").acquire(-1)  # type: ignore[arg-type]


# -- the stories -----------------------------------------------------------------------------------------------------


def test_the_lock_that_does_not_look_for_its_own_key_is_caught_by_the_check_it_names() -> None:
    assert CHECKS[CAUGHT_BY](play("own-key", lock="etcd-unchecked")).holds is False
    assert CHECKS[CAUGHT_BY](play("own-key", lock="etcd")).holds is True


def test_nothing_within_the_bounds_breaks_the_one_that_looks() -> None:
    found = search("own-key", CAUGHT_BY, faults=("pause", "crash", "lose"), most=1, menu=2)
    assert (found.outcome, found.runs > 50) == (Outcome.EXHAUSTED, True)


def test_a_late_write_is_stopped_by_its_own_transaction_and_by_nothing_else() -> None:
    blind, compared = play("own-transaction", write="blind"), play("own-transaction")
    assert CHECKS["no_lost_update"](blind).holds is False
    assert CHECKS["no_lost_update"](compared).holds is True
    assert CHECKS["one_believer"](compared).holds is False  # no lock can help that
    assert [op.outcome for op in compared.ops("write") if op.node == "A"] == ["fail"]


def test_nothing_within_the_bounds_gets_a_late_write_past_the_comparison() -> None:
    found = search("own-transaction", "no_lost_update", faults=("pause", "crash", "lose", "delay"), most=1, menu=2)
    assert (found.outcome, found.runs > 50) == (Outcome.EXHAUSTED, True)


@pytest.mark.parametrize("token", ["own-key lock=etcd-unchecked #3", "own-transaction #4", "own-key #0 pause.A.2=1"])
def test_a_run_is_the_same_each_time(token: str) -> None:
    assert replay(token).events == replay(token).events
