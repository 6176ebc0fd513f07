"""CompatLock in the world: redis-py's interface, and what SafeLock is better at, under the faults that show it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from redis.exceptions import ConnectionError, LockError, LockNotOwnedError, TimeoutError

from labkit import judge, play
from labkit.faults import Crash, DropReply, DropRequest, Pause
from labkit.locks.compat import CompatLock
from tests.locks.stage import ONCE, Stage
from tests.sim.playing import notes
from tests.sim.third_party import TTL, story

FOR_EVER: dict[str, Any] = {"timeout": None}


def lock(stage: Stage, client: str = "A", options: dict[str, Any] | None = None, **made: Any) -> CompatLock:
    """A lock on «stock» by the way that redis-py offers; its scripts are loaded already."""
    made = {"timeout": 10, "lock_class": CompatLock} | made
    one: CompatLock = stage.redis(client, **(options or {})).lock("stock", **made)
    one._safe._prepare()
    return one


def interrupt(one: CompatLock, after: str) -> None:
    """Ctrl-C comes when the server has executed this command and before its reply is read."""
    execute = one.redis.execute_command

    def interrupted(*command: Any, **options: Any) -> Any:
        reply = execute(*command, **options)
        if command[0] == after:
            one.redis.execute_command = execute
            raise KeyboardInterrupt
        return reply

    one.redis.execute_command = interrupted


# -- the story of the paused holder ------------------------------------------------------------------------------------


def compat(me: Any) -> Any:
    return me.lock(me.redis().lock("stock", timeout=TTL, lock_class=CompatLock))


def test_a_paused_holder_is_told_at_its_release_and_touches_nobody_elses_lock() -> None:
    timeline = play(story("compat", compat))
    assert "A is told LockNotOwnedError" in notes(timeline)
    assert judge(timeline, "own_release").verdicts[0].holds is True
    assert judge(timeline, "one_believer").verdicts[0].holds is False


def test_without_a_pause_all_is_well() -> None:
    timeline = play(story("compat", compat), pause=0)
    assert "A gave it back" in notes(timeline)
    assert judge(timeline, "one_believer").verdicts[0].holds is True


# -- lost replies ------------------------------------------------------------------------------------------------------

WAYS = [
    pytest.param({}, None, "SET", id="with a timeout"),
    pytest.param(FOR_EVER, None, "EVAL", id="for ever"),
    pytest.param({}, "order-17", "EVAL", id="given token"),
    pytest.param(FOR_EVER, b"\xff\x00", "EVAL", id="given bytes"),
]


@pytest.mark.parametrize(("made", "token", "command"), WAYS)
def test_a_lost_reply_to_the_grant_is_resolved(stage: Stage, made: Any, token: Any, command: str) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, **made)
        stage.arm(DropReply(on=command, client="A"))
        assert one.acquire(blocking=False, token=token)
        assert stage.bystander.get("stock") == one.local.token

    stage.play(scenario)


@pytest.mark.parametrize(("made", "token", "command"), WAYS)
def test_a_grant_whose_outcome_stays_unknown_leaves_nothing_behind(
    stage: Stage, made: Any, token: Any, command: str
) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, options=ONCE, **made)
        stage.arm(DropReply(on=command, client="A"))
        with pytest.raises(TimeoutError):
            one.acquire(blocking=False, token=token)
        assert (one.local.token, stage.bystander.get("stock")) == (None, None)

    stage.play(scenario)


@pytest.mark.parametrize(("made", "token", "command"), WAYS)
def test_an_interrupted_try_leaves_nothing_behind(stage: Stage, made: Any, token: Any, command: str) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, **made)
        interrupt(one, after=command)
        with pytest.raises(KeyboardInterrupt):
            one.acquire(blocking=False, token=token)
        assert (one.local.token, stage.bystander.get("stock")) == (None, None)

    stage.play(scenario)


def test_a_given_token_that_another_holds_under_is_no_grant(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        assert lock(stage, "B").acquire(token="worker")
        assert not lock(stage).acquire(token="worker", blocking=False)

    stage.play(scenario)


def test_a_failed_try_under_a_shared_token_leaves_the_holder_alone(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        assert lock(stage, "B").acquire(token="worker")
        one = lock(stage, options=ONCE)
        stage.arm(DropReply(on="EVAL", client="A"))
        with pytest.raises(TimeoutError):
            one.acquire(token="worker", blocking=False)
        assert stage.holder() == "worker"

    stage.play(scenario)


def test_a_release_under_a_token_does_not_excuse_the_loss_of_the_next_lock_under_it(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage)
        assert one.acquire(token="worker")
        one.release()
        assert one.acquire(token="worker")
        stage.rest(11)
        with pytest.raises(LockNotOwnedError):
            one.release()

    stage.play(scenario)


@pytest.mark.parametrize("token", [None, "order-17"], ids=["own token", "given token"])
def test_an_answer_that_outlasts_the_timeout_is_no_grant(stage: Stage, token: str | None) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, timeout=2)
        stage.arm(Pause("A", lasting=3.0, at=stage.world.now + 0.0007))  # the request has left, its reply waits
        assert not one.acquire(blocking=False, token=token)
        assert one.local.token is None

    stage.play(scenario)


@pytest.mark.parametrize("token", [None, "order-17"], ids=["own token", "given token"])
def test_an_answer_that_comes_too_late_to_be_sure_leaves_nothing_behind(stage: Stage, token: str | None) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, timeout=2)
        stage.arm(Pause("A", lasting=1.985, at=stage.world.now + 0.0007))  # within the drift of two clocks
        assert not one.acquire(blocking=False, token=token)
        assert stage.holder() is None

    stage.play(scenario)


@pytest.mark.parametrize("token", [None, "order-17"], ids=["own token", "given token"])
def test_a_try_that_is_withdrawn_late_leaves_the_next_holder_alone(stage: Stage, token: str | None) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, timeout=2)
        stage.world.client("B").start(lambda me: lock(stage, "B").acquire(token="the next"))
        stage.arm(Pause("A", lasting=3.0, at=stage.world.now + 0.0007))
        assert not one.acquire(blocking=False, token=token)
        assert stage.holder() == "the next"

    stage.play(scenario)


def test_a_lost_reply_to_a_release_is_a_release(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage)
        one.acquire()
        stage.arm(DropReply(on="EVALSHA", client="A"))
        one.release()
        assert (one.local.token, stage.holder()) == (None, None)

    stage.play(scenario)


@pytest.mark.parametrize("fault", [DropReply, DropRequest])
def test_a_release_that_failed_can_be_repeated(stage: Stage, fault: Any) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, options=ONCE)
        one.acquire()
        stage.arm(fault(on="EVALSHA", client="A"))
        with pytest.raises(TimeoutError):
            one.release()
        one.release()
        assert (one.local.token, stage.holder()) == (None, None)

    stage.play(scenario)


def test_a_lost_reply_to_an_extension_adds_the_time_once(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, timeout=20)
        one.acquire()
        stage.arm(DropReply(on="EVAL", client="A"))  # asked again after 5 s
        assert one.extend(20)
        assert 30_000 < stage.bystander.pttl("stock") <= 40_000

    stage.play(scenario)


def test_adding_time_to_what_never_runs_out_takes_none_away(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage)
        one.acquire()
        stage.bystander.persist("stock")
        assert one.extend(10)
        assert stage.bystander.pttl("stock") == -1

    stage.play(scenario)


# -- waiting -----------------------------------------------------------------------------------------------------------


def test_a_wait_ends_when_it_should_however_long_the_sleep(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock(stage, "B").acquire()
        one, began = lock(stage, sleep=60), time.monotonic()
        assert not one.acquire(blocking_timeout=1)
        assert 1 <= time.monotonic() - began < 1.01

    stage.play(scenario)


def test_a_lock_that_comes_free_within_the_last_sleep_is_had(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock(stage, "B", timeout=0.5).acquire()
        assert lock(stage, sleep=60, blocking_timeout=1).acquire()

    stage.play(scenario)


def test_no_time_to_wait_means_one_try(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one, sent = lock(stage, blocking_timeout=0), stage.requests()
        assert one.acquire()
        assert not lock(stage, blocking_timeout=0).acquire()
        assert sent.count("SET") == 2

    stage.play(scenario)


def test_without_a_sleep_it_asks_again_at_once(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        lock(stage, "B", timeout=0.5).acquire()
        one, sent = lock(stage, sleep=0), stage.requests()
        assert one.acquire()
        assert sent.count("SET") > 50

    stage.play(scenario)


# -- leaving a `with` --------------------------------------------------------------------------------------------------


def fail_after(mishap: Callable[[], None]) -> None:
    """The body of a `with`: something happens to the lock, and then the body has an error of its own."""
    mishap()
    raise ZeroDivisionError


def test_the_error_of_the_body_is_the_one_that_is_told(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        with pytest.raises(ZeroDivisionError), lock(stage):
            fail_after(lambda: stage.rest(11))

    stage.play(scenario)


def test_an_unreachable_server_does_not_hide_the_error_of_the_body(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        with pytest.raises(ZeroDivisionError), lock(stage, options=ONCE):
            fail_after(lambda: stage.swallow("A"))

    stage.play(scenario)


@pytest.mark.parametrize("told", [True, False])
def test_a_loss_is_told_at_the_end_or_not_as_was_asked(stage: Stage, told: bool) -> None:
    def scenario(stage: Stage) -> None:
        with pytest.raises(LockNotOwnedError) if told else nullcontext(), lock(stage, raise_on_release_error=told):
            stage.rest(11)

    stage.play(scenario)


def test_not_to_be_told_of_a_loss_is_not_to_be_untold_of_a_connection(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        with pytest.raises((TimeoutError, ConnectionError)), lock(stage, options=ONCE, raise_on_release_error=False):
            stage.swallow("A")

    stage.play(scenario)


# -- threads, processes, crashes ---------------------------------------------------------------------------------------


def in_a_thread(code: Any) -> Any:
    """What `code` returns or raises in a thread of its own."""
    told = list[Any]()

    def run() -> None:
        try:
            told.append(code())
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return told[0]


def test_another_thread_does_not_hold_it_and_is_told_so_in_words(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage)
        one.acquire()
        assert in_a_thread(one.owned) is False
        told = in_a_thread(one.release)
        assert isinstance(told, LockError)
        assert "This thread cannot release the lock 'stock'" in str(told)
        assert one.owned()

    stage.play(scenario)


def test_a_shared_token_lets_another_thread_release(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage, thread_local=False)
        one.acquire()
        assert in_a_thread(one.release) is None
        assert not one.locked()

    stage.play(scenario)


def test_a_token_can_be_handed_to_another_client(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one, other = lock(stage), lock(stage, "B")
        one.acquire()
        other.local.token = one.local.token
        assert other.owned() and other.reacquire()
        other.release()
        assert not one.locked()

    stage.play(scenario)


def test_a_holder_that_dies_keeps_a_lock_without_a_timeout(stage: Stage) -> None:
    """Honest about what it is: nothing but a person will free it."""

    def scenario(stage: Stage) -> None:
        stage.world.client("victim").start(lambda me: me.redis().lock("stock", lock_class=CompatLock).acquire())
        stage.arm(Crash("victim", at=stage.world.now + 1))
        stage.rest(86_400)
        assert stage.bystander.ttl("stock") == -1
        assert not lock(stage).acquire(blocking=False)

    stage.play(scenario)


# -- what is refused before anything is sent ---------------------------------------------------------------------------

NO_SPANS = [{"timeout": 0}, {"timeout": 0.0004}, {"timeout": -1}, {"timeout": "10"}, {"sleep": -1}]
NO_SPANS += [{"blocking_timeout": -1}]


@pytest.mark.parametrize("made", NO_SPANS, ids=str)
def test_a_span_that_cannot_be_is_refused_when_the_lock_is_made(made: Any) -> None:
    with pytest.raises(ValueError, match="is no"):
        CompatLock(None, "stock", **made)


@pytest.mark.parametrize("more", [-20, 0, 0.0004])
@pytest.mark.parametrize("replace_ttl", [False, True])
def test_an_extension_that_would_shorten_is_refused_before_it_is_sent(
    stage: Stage, more: float, replace_ttl: bool
) -> None:
    def scenario(stage: Stage) -> None:
        one = lock(stage)
        one.acquire()
        sent = stage.requests()
        with pytest.raises(ValueError, match="additional_time"):
            one.extend(more, replace_ttl=replace_ttl)
        assert sent == []

    stage.play(scenario)


def test_a_wait_that_cannot_be_is_refused_before_it_is_sent(stage: Stage) -> None:
    def scenario(stage: Stage) -> None:
        one, sent = lock(stage), stage.requests()
        with pytest.raises(ValueError, match="timeout=-1"):
            one.acquire(blocking_timeout=-1)
        with pytest.raises(ValueError, match="sleep=-1"):
            one.acquire(sleep=-1)
        assert sent == []

    stage.play(scenario)


def test_the_timeout_cannot_be_changed_behind_the_locks_back() -> None:
    with pytest.raises(AttributeError):
        CompatLock(None, "stock", timeout=10).timeout = 20  # type: ignore[misc]
