"""What the watchdog renews and for how long; what its owner is told and when. In virtual time unless it says so.
Long, for the promises are many and each is one short test."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from labkit.faults import DropReply, Partition, Pause
from labkit.live import RedisServer
from labkit.locks import Lease, LeaseLost, ReentrantLock, SafeLock, Watchdog, WatchdogLock
from labkit.locks.dog import LINGER
from labkit.sim import Packet
from tests.locks.stage import ONCE, Stage, played, taken

SOON: dict[str, Any] = ONCE | {"socket_connect_timeout": 0.5}


class Told(list[tuple[str, float]]):
    """What `on_lost` was called with, and when."""

    def __call__(self, reason: str) -> None:
        self.append((reason, time.monotonic()))

    @property
    def reasons(self) -> list[str]:
        return [reason for reason, _ in self]


def watched(stage: Stage, ttl: float = 30.0, name: str = "stock", client: Any = None, **options: Any) -> WatchdogLock:
    return WatchdogLock(client or stage.redis("A", **SOON), name, ttl, **options)


def renewals(stage: Stage) -> list[str]:
    """The renewals that are sent from now on, by the name of their lock."""
    names = list[str]()

    def note(packet: Packet) -> None:
        words = packet.text.split()
        if packet.direction == "request" and words[:2] in (["EVALSHA", "extend"], ["EVALSHA", "prolong"]):
            names.append(words[2])

    stage.world.rule(note)
    return names


def failing(client: Any, times: int) -> Any:
    """The same client, for which the first so many renewals fail at once."""
    execute, left = client.execute_command, [times]

    def fails(*command: Any, **options: Any) -> Any:
        if command[0] == "EVALSHA" and command[2] == 1 and left[0]:
            left[0] -= 1
            raise ConnectionError("The connection is gone.")
        return execute(*command, **options)

    client.execute_command = fails
    return client


# -- how many failed renewals a lock survives --------------------------------------------------------------------------

COMBINATIONS = [(n, k) for n in (2, 3, 4, 5) for k in range(n)]
SURVIVED = {(n, k): k <= n - 2 for n, k in COMBINATIONS}  # N-1 attempts come before the end, and one has to succeed


def outcomes(client: Callable[[], Any], ttl: float) -> dict[tuple[int, int], bool]:
    """Which locks are renewed at last, and which are lost: all at once, under one dog."""
    dog, held = Watchdog(threads=4), {}
    for n, k in COMBINATIONS:
        times = {"interval": ttl / n, "budget": ttl / 50, "margin": ttl / 50}
        lock = WatchdogLock(failing(client(), k), f"stock-{n}-{k}", ttl, dog=dog, **times)  # type: ignore[arg-type]
        held[n, k] = lock.watched(taken(lock))
    first = {name: grant.lease for name, grant in held.items()}
    found = dict[tuple[int, int], bool]()
    for _ in range(300):  # three TTLs: by then each must be one or the other
        time.sleep(ttl / 100)
        for name, grant in held.items():
            if name not in found and (grant.lost.is_set() or grant.lease is not first[name]):
                found[name] = not grant.lost.is_set()
                grant.over = True
        if len(found) == len(held):
            break
    return found


@played
def test_a_lock_survives_two_failed_renewals_less_than_it_has_a_ttl(stage: Stage) -> None:
    assert outcomes(lambda: stage.redis("A"), ttl=30.0) == SURVIVED


@pytest.mark.real_redis
def test_a_real_server_agrees(real_redis: RedisServer) -> None:
    """It takes one TTL of real time."""
    assert outcomes(real_redis.client, ttl=1.0) == SURVIVED


# -- what the owner is told, and when ----------------------------------------------------------------------------------


def refused(stage: Stage) -> None:
    stage.bystander.set("stock", "somebody else")


def hangs(stage: Stage) -> None:
    stage.world.pause("redis", 100.0)


def cut_off(stage: Stage) -> None:
    stage.arm(Partition("A", "redis", at=stage.world.now))


def stands_still(stage: Stage) -> None:
    stage.arm(Pause("A", lasting=35.0, at=stage.world.now + 0.001))


def flushed(stage: Stage) -> None:
    stage.bystander.flushall()


LOSSES = {loss.__name__: loss for loss in (refused, hangs, cut_off, stands_still, flushed)}


@pytest.mark.parametrize("patience", ["impatient", "redis-py's own"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_is_told_once_within_50_ms_of_the_deadline(stage: Stage, loss: str, patience: str) -> None:
    def scenario(stage: Stage) -> None:
        told = Told()
        client = stage.redis("A", **(SOON if patience == "impatient" else {}))
        lock = watched(stage, client=client, on_lost=told)
        grant = lock.watched(taken(lock))
        stage.rest(12)
        LOSSES[loss](stage)
        stage.rest(100)
        due = grant.lease.deadline if loss != "stands_still" else 1000 + 12 + 35
        assert len(told) == 1 and grant.lost.is_set() and grant.reason == told.reasons[0]
        assert told[0][1] <= due + 0.05

    stage.play(scenario)


@played
def test_the_reason_is_what_the_server_says_or_that_time_is_over(stage: Stage) -> None:
    told = Told()
    for name, harm in (("a", lambda: refused(stage)), ("b", lambda: flushed(stage)), ("c", lambda: cut_off(stage))):
        lock = WatchdogLock(stage.redis("A", **SOON), "stock", 30.0, on_lost=told)
        taken(lock)
        harm()
        stage.rest(35)
        stage.bystander.flushall()
        assert len(told) == "abc".index(name) + 1
    assert told.reasons == ["stolen", "expired", "expired"]


@played
def test_an_answer_that_refuses_after_the_deadline_is_not_told_a_second_time(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told, client=stage.redis("A", socket_timeout=None))
    taken(lock)
    stage.rest(5)
    stage.world.pause("redis", 60.0)
    stage.rest(80)
    assert told.reasons == ["expired"]


def test_of_many_that_would_tell_only_one_does() -> None:
    """On real threads, which start together."""
    told, ready = Told(), threading.Barrier(8)
    lock = WatchdogLock(None, "stock", on_lost=told)
    lock._watch(Lease("stock", "token", None, time.monotonic() + 9))
    grant = lock._grants["token"]

    def tells() -> None:
        ready.wait()
        grant.tell("expired")

    threads = [threading.Thread(target=tells) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while not told:
        time.sleep(0.001)
    grant.over = True
    assert told.reasons == ["expired"]


@played
def test_a_refusal_to_the_owners_own_call_sets_the_event_and_calls_once(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told)
    lease = taken(lock)
    stage.bystander.delete("stock")
    for _ in range(2):
        with pytest.raises(LeaseLost):
            lock.extend(lease)
    stage.rest(60)
    assert told.reasons == ["expired"] and lock.watched(lease).lost.is_set()


@played
def test_leaving_the_body_of_a_lost_lock_raises(stage: Stage) -> None:
    told = Told()

    def work() -> None:
        stage.bystander.delete("stock")
        stage.rest(15)

    with pytest.raises(LeaseLost, match="not on the server"), watched(stage, on_lost=told).hold(0):
        work()
    assert told.reasons == ["expired"]


@played
def test_a_release_that_is_refused_is_told_by_its_exception_alone(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told)
    lease = taken(lock)
    stage.bystander.delete("stock")
    with pytest.raises(LeaseLost):
        lock.release(lease)
    stage.rest(60)
    assert told == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("how", ["raises", "hangs", "exits"])
def test_a_callback_that_goes_wrong_holds_up_nobody(stage: Stage, how: str) -> None:
    def on_lost(reason: str) -> None:
        if how == "hangs":
            threading.Event().wait()
        raise SystemExit if how == "exits" else ZeroDivisionError

    def scenario(stage: Stage) -> None:
        dog, told = Watchdog(threads=1), Told()
        bad, good = watched(stage, dog=dog, on_lost=on_lost), watched(stage, name="other", dog=dog, on_lost=told)
        taken(bad)
        other = taken(good)
        stage.bystander.delete("stock")
        stage.rest(60)
        good.release(other)
        assert told == []

    stage.play(scenario)


# -- what is never renewed ---------------------------------------------------------------------------------------------


@played
def test_nothing_is_sent_after_a_release(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told)
    lease = taken(lock)
    stage.rest(25)
    lock.release(lease)
    sent = renewals(stage)
    stage.rest(60)
    assert (sent, told) == ([], [])


@played
def test_a_renewal_that_waits_for_its_turn_is_dropped_by_the_release(stage: Stage) -> None:
    dog = Watchdog(threads=1)
    hung = watched(stage, name="hung", dog=dog, client=stage.redis("C", **ONCE | {"socket_timeout": 20.0}))
    lock = watched(stage, dog=dog)
    taken(hung)
    stage.rest(0.5)
    lease = taken(lock)
    stage.swallow("C")
    stage.rest(15)  # the renewal of «hung» hangs in the only thread, that of «stock» stands behind it
    assert lock.watched(lease).calls == 1
    sent = renewals(stage)
    lock.release(lease)
    stage.rest(60)  # after 5 of them the call ends, and the thread looks at what stands behind it
    assert "stock" not in sent


@played
def test_a_renewal_on_its_way_at_the_release_brings_nothing_back(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told, client=stage.redis("A"))
    lease = taken(lock)
    stage.arm(DropReply(on="EVALSHA", client="A"))  # it will be asked again after 5 s
    stage.rest(12)
    lock.release(lease)
    stage.rest(30)
    assert (stage.holder(), told) == (None, [])


@played
def test_nothing_is_renewed_for_a_thread_that_has_died(stage: Stage) -> None:
    lock = watched(stage, ttl=30.0)
    thread = threading.Thread(target=lambda: (lock.try_acquire(), time.sleep(25)))
    thread.start()
    thread.join()
    sent = renewals(stage)
    stage.rest(25.1)  # the last renewal was at 20
    assert (sent, stage.holder()) == ([], None)


@played
def test_the_grants_of_dead_threads_are_forgotten(stage: Stage) -> None:
    lock = watched(stage, ttl=3.0)
    for _ in range(5):
        thread = threading.Thread(target=lock.try_acquire)
        thread.start()
        thread.join()
        stage.rest(4)
    taken(lock)
    assert len(lock._grants) == 1


@played
def test_nothing_is_renewed_beyond_the_longest_hold(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, max_hold=45.0, on_lost=told)
    taken(lock)
    stage.rest(60)
    assert stage.holder() is not None and not told  # renewed at 40 for the last time
    stage.rest(10.1)
    assert stage.holder() is None and told.reasons == ["expired"]


@played
def test_a_renewal_whose_turn_comes_after_the_deadline_is_not_sent(stage: Stage) -> None:
    dog = Watchdog(threads=1)
    hung = watched(stage, name="hung", dog=dog, client=stage.redis("C", **ONCE | {"socket_timeout": 35.0}))
    lock = watched(stage, dog=dog)
    taken(hung)
    stage.swallow("C")
    stage.rest(0.5)
    taken(lock)
    sent = renewals(stage)
    stage.rest(80)
    assert "stock" not in sent


@pytest.mark.parametrize("policy", ["deadline", "for-ever"])
def test_past_its_deadline_a_grant_may_be_tried_only_by_who_never_gives_up(policy: str) -> None:
    """Also in the moment before anybody has been told: threads wake up in any order."""
    lock = WatchdogLock(None, "stock", policy=policy)
    lock._watch(Lease("stock", "token", None, time.monotonic() + 9))
    grant = lock._grants["token"]
    assert grant.may_try()
    grant.lease = Lease("stock", "token", None, time.monotonic())
    assert grant.may_try() == (policy == "for-ever")
    grant.over = True


# -- after an error ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "at"), [("deadline", [10, 20.5]), ("first-error", [10]), ("for-ever", [10, 20.5, 31, 41.5, 52])]
)
def test_what_follows_a_failed_renewal(stage: Stage, policy: str, at: list[float]) -> None:
    def scenario(stage: Stage) -> None:
        lock, sent, began = watched(stage, policy=policy), list[float](), time.monotonic()
        taken(lock)
        stage.swallow("A")
        execute = lock.client.execute_command
        lock.client.execute_command = lambda *a, **o: (sent.append(time.monotonic() - began), execute(*a, **o))[1]
        stage.rest(60)
        assert sent == pytest.approx(at, abs=0.01)

    stage.play(scenario)


@played
def test_a_failed_renewal_is_tried_again_after_a_pause_of_its_own(stage: Stage) -> None:
    lock = watched(stage, retry=1.0, client=failing(stage.redis("A"), 17))
    lease = taken(lock)
    stage.rest(28)
    assert lock.watched(lease).failures == 0 and lock.watched(lease).lease is not lease


@played
def test_a_first_error_is_told_at_the_deadline_and_not_before(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, policy="first-error", on_lost=told, client=failing(stage.redis("A"), 1))
    lease = taken(lock)
    stage.rest(40)
    assert told == [("expired", pytest.approx(lease.deadline, abs=0.001))]


@played
def test_for_ever_ends_when_the_server_says_that_the_lock_is_gone(stage: Stage) -> None:
    told, lock = Told(), watched(stage, policy="for-ever", client=failing(stage.redis("A"), 4))
    lock.on_lost = told
    taken(lock)
    sent = renewals(stage)
    stage.rest(100)
    assert (sent, told.reasons) == (["stock"], ["expired"])


# -- many locks --------------------------------------------------------------------------------------------------------


@played
def test_a_hung_call_in_the_only_thread_keeps_no_owner_from_being_told(stage: Stage) -> None:
    dog, told = Watchdog(threads=1), Told()
    hung = watched(stage, name="hung", dog=dog, client=stage.redis("C", socket_timeout=None))
    lock = watched(stage, dog=dog, on_lost=told)
    taken(hung)
    stage.swallow("C")
    stage.rest(0.5)
    lease = taken(lock)
    stage.rest(60)
    assert told == [("expired", pytest.approx(lease.deadline, abs=0.05))]


@played
def test_a_hung_call_leaves_the_other_threads_to_the_others(stage: Stage) -> None:
    dog, told = Watchdog(threads=3), Told()  # a grant has at most two calls under way
    hung = watched(stage, name="hung", dog=dog, policy="for-ever", client=stage.redis("C", socket_timeout=None))
    lock = watched(stage, dog=dog, on_lost=told)
    taken(hung)
    stage.swallow("C")
    taken(lock)
    stage.rest(300)
    assert told == [] and dog._callers == 3


@pytest.fixture
def uncaught(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type]]:
    """The exceptions that come out of threads."""
    kinds = list[type]()
    monkeypatch.setattr(threading, "excepthook", lambda args: kinds.append(args.exc_type))
    return kinds


def test_one_poisoned_lock_keeps_no_other_from_being_renewed(stage: Stage, uncaught: list[type]) -> None:
    class Poisoned(SafeLock):
        def extend(self, lease: Lease) -> Lease:
            raise ZeroDivisionError

    def scenario(stage: Stage) -> None:
        dog, told = Watchdog(threads=1), Told()
        bad = watched(stage, name="bad", dog=dog, kind=Poisoned, on_lost=told)
        good = [watched(stage, name=f"good-{n}", dog=dog) for n in range(5)]
        taken(bad)
        leases = [taken(lock) for lock in good]
        stage.rest(60)
        for lock, lease in zip(good, leases, strict=True):
            lock.release(lease)
        assert told.reasons == ["expired"]

    stage.play(scenario)
    assert uncaught == [ZeroDivisionError, ZeroDivisionError]  # shown, not swallowed: at 10 s and at 20 s


@played
def test_what_the_dog_remembers_does_not_grow_with_time(stage: Stage) -> None:
    lock = watched(stage, ttl=3.0)
    taken(lock)
    stage.rest(300)
    assert len(lock.dog._due) <= 3


@played
def test_what_the_dog_remembers_does_not_grow_with_locks_that_are_given_back(stage: Stage) -> None:
    lock = watched(stage, ttl=3000.0)
    for _ in range(500):
        lock.release(taken(lock))
    assert len(lock.dog._due) <= 65


@played
def test_a_dog_without_work_has_no_threads(stage: Stage) -> None:
    lock = watched(stage)
    lease = taken(lock)
    stage.rest(15)
    lock.release(lease)
    stage.rest(LINGER + 20)
    assert (lock.dog._awake_at, lock.dog._callers) == (None, 0)
    lease = taken(lock)
    stage.rest(60)
    lock.release(lease)  # it has been renewed again


@pytest.mark.real_redis
def test_its_threads_keep_no_program_from_ending(real_redis: RedisServer) -> None:
    lock = WatchdogLock(real_redis.client(), "stock", 0.3)
    lease = taken(lock)
    while lock.watched(lease).lease is lease:
        time.sleep(0.01)
    lock.release(lease)
    threads = [thread for thread in threading.enumerate() if thread.name == "watchdog"]
    assert threads and all(thread.daemon for thread in threads)


# -- the lease ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SafeLock, ReentrantLock])
def test_the_first_lease_stays_good_for_the_release(stage: Stage, kind: Any) -> None:
    def scenario(stage: Stage) -> None:
        lock = watched(stage, kind=kind)
        lease = taken(lock)
        stage.rest(100)
        assert lock.watched(lease).lease.deadline > lease.deadline
        lock.release(lease)
        assert not stage.bystander.exists("stock")

    stage.play(scenario)


@played
def test_a_grant_that_was_long_on_its_way_is_renewed_in_time(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told, client=stage.redis("A", socket_timeout=60.0))
    lock.lock._prepare()
    stage.arm(Pause("A", lasting=22.0, at=stage.world.now + 0.0007))
    lease = taken(lock)
    assert lease.remaining() < 8
    stage.rest(60)
    lock.release(lease)
    assert told == []


@played
def test_the_owners_own_extension_counts(stage: Stage) -> None:
    told = Told()
    lock = watched(stage, on_lost=told, policy="first-error", client=failing(stage.redis("A"), 1))
    lease = taken(lock)
    stage.rest(15)
    longer = lock.extend(lease)
    stage.rest(25)
    assert told == [] and lock.watched(lease).lease is longer


@played
def test_a_release_without_an_answer_ends_the_renewal_and_can_be_repeated(stage: Stage) -> None:
    lock = watched(stage)
    lease = taken(lock)
    stage.arm(Partition("A", "redis", at=stage.world.now, lasting=2.0))
    with pytest.raises(Exception, match="Timeout"):
        lock.release(lease)
    sent = renewals(stage)
    stage.rest(15)
    assert sent == []
    lock.release(lease)
    assert stage.holder() is None


@played
def test_what_has_been_released_is_not_watched(stage: Stage) -> None:
    lock = watched(stage)
    lease = taken(lock)
    lock.release(lease)
    with pytest.raises(KeyError):
        lock.watched(lease)


# -- what is refused before anything is sent ---------------------------------------------------------------------------

NO_SPAN = [0, -1, 0.0004, math.nan, math.inf, True, "1"]


@pytest.mark.parametrize("value", NO_SPAN, ids=repr)
@pytest.mark.parametrize("what", ["ttl", "poll", "interval", "retry", "budget", "margin", "max_hold"])
def test_what_is_no_span_of_time_is_refused_by_name(what: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{what}=.* is no span of time"):
        WatchdogLock(None, "stock", **{what: value})


@pytest.mark.parametrize("times", [{"interval": 9.0}, {"budget": 7.0}, {"margin": 6.0}], ids=str)
def test_times_that_do_not_fit_into_the_ttl_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"interval .* s, budget .* s and margin .* s do not fit into ttl=10 s"):
        WatchdogLock(None, "stock", 10.0, **times)  # type: ignore[arg-type]


def test_a_policy_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="policy='always' is not one of 'deadline', 'first-error', 'for-ever'"):
        WatchdogLock(None, "stock", policy="always")


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2", None], ids=repr)
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match=r"^threads=.* needs a whole number of threads, 1 or more"):
        Watchdog(threads)
