"""What the safe lock does about answers that come late or not at all."""

from __future__ import annotations

import re
import time

import pytest
from redis.crc import key_slot
from redis.exceptions import TimeoutError

from labkit.faults import Delay, DropReply, Duplicate, Pause
from labkit.locks import SafeLock
from labkit.locks.lease import drift
from tests.locks.stage import ONCE, Stage


def test_an_answer_that_outlasts_the_lease_is_no_grant(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(ttl=2.0)
        stage.arm(Pause("A", lasting=3.0, at=stage.world.now + 0.0007))  # the SET has left, its reply waits
        assert lock.try_acquire() is None

    stage.play(scenario)


def test_a_lost_grant_shorter_than_the_time_out_leaves_nothing_behind(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(ttl=1.0)
        stage.arm(DropReply(on="SET", client="A"))  # asked again after 5 s: granted anew, but counted from the first
        assert lock.try_acquire() is None
        assert stage.holder() is None

    stage.play(scenario)


def test_a_grant_whose_outcome_stays_unknown_leaves_nothing_behind(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(**ONCE)
        stage.arm(DropReply(on="SET", client="A"))
        with pytest.raises(TimeoutError):
            lock.try_acquire()
        assert stage.holder() is None

    stage.play(scenario)


def test_a_lost_reply_to_an_extension_is_asked_for_again(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(ttl=20.0)
        lease = lock.try_acquire()
        assert lease is not None
        stage.arm(DropReply(on="EVALSHA", client="A"))
        assert lock.extend(lease).token == lease.token
        assert 14_000 < stage.bystander.pttl("stock") <= 20_000

    stage.play(scenario)


def test_a_second_copy_of_a_release_leaves_the_next_holder_alone(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock, other = stage.lock(), stage.lock("B")
        lease = lock.try_acquire()
        assert lease is not None
        stage.arm(Duplicate(on="EVALSHA", client="A", after=0.002))
        lock.release(lease)
        following = other.acquire(0.01)
        stage.rest(0.01)
        assert following is not None and stage.holder() == following.token

    stage.play(scenario)


def test_an_extension_counts_from_before_its_request_left_less_the_drift(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(ttl=20.0)
        held = lock.try_acquire()
        assert held is not None
        stage.arm(Delay(on="EVALSHA", client="A", by=3.0))
        sent = time.monotonic()
        extended = lock.extend(held)
        assert time.monotonic() > sent + 3
        assert extended.deadline == pytest.approx(sent + 20.0 - drift(20.0), abs=1e-6)

    stage.play(scenario)


def test_a_token_has_a_hundred_and_twenty_eight_random_bits(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock()
        held = lock.try_acquire()
        assert held is not None
        assert re.fullmatch("[0-9a-f]{32}", held.token)

    stage.play(scenario)


def test_a_receipt_lasts_a_minute(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock = stage.lock(ttl=2.0)
        held = lock.try_acquire()
        assert held is not None
        lock.release(held)
        assert 59_000 < stage.bystander.pttl(f"{{stock}}:released:{held.token}") <= 60_000

    stage.play(scenario)


@pytest.mark.parametrize("name", ["stock", "{user:1}:lock", "order{7}x"])
def test_a_lock_and_its_receipts_are_in_one_slot_of_a_cluster(name: str) -> None:
    receipt = SafeLock(None, name)._receipt("a1b2")
    assert key_slot(receipt.encode()) == key_slot(name.encode())
