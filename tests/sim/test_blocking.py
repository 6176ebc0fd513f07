"""Commands that wait, messages that come by themselves, transactions that watch, retries: all in virtual time."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import redis
from redis.backoff import ConstantBackoff, ExponentialBackoff
from redis.retry import Retry

from labkit.faults import DropReply, Duplicate, Partition, Restart
from labkit.sim import Fate, World
from tests.sim.playing import ONCE, commands, notes, play, result

TRIP = 0.001  # there and back


def later(seconds: float, *command: Any) -> Any:
    """A client that sends one command at a second of its own."""

    def code(me: Any) -> None:
        time.sleep(seconds)
        me.redis().execute_command(*command)

    return code


def waiting(*args: Any, **options: Any) -> Any:
    """A client that waits at a list and notes what came and when."""

    def code(me: Any) -> None:
        answer = me.redis(**options).blpop(*args)
        me.note(f"{answer} at {me.world.now:.4f}")

    return code


# -- BLPOP --------------------------------------------------------------------------------------------------------


def test_blpop_gets_what_another_client_pushes() -> None:
    timeline = play(waiting("line", 0, socket_timeout=None), later(7, "LPUSH", "line", "x"))
    assert notes(timeline) == ["(b'line', b'x') at 7.0010"]


def test_blpop_takes_at_once_what_is_there() -> None:
    def code(me: Any) -> Any:
        client = me.redis()
        client.rpush("line", "x", "y")
        return client.blpop("line"), client.llen("line")

    assert result(code) == ((b"line", b"x"), 1)


def test_blpop_gives_up_after_its_timeout() -> None:
    timeline = play(waiting("line", 3))
    assert notes(timeline) == ["None at 3.0010"]


def test_blpop_for_ever_is_a_deadlock_and_is_said_to_be_one() -> None:
    def code(me: Any) -> None:
        me.redis(socket_timeout=None).blpop("line", 0)

    timeline = play(code)
    (note,) = timeline.find("note")
    assert note.name.startswith("A waits for ever, at ")
    assert note.name.endswith("(code)")
    assert note.data["deadlock"]


def test_two_who_wait_are_served_in_the_order_of_their_coming() -> None:
    timeline = play(
        waiting("line", 0, socket_timeout=None),
        waiting("line", 0, socket_timeout=None),
        later(1, "LPUSH", "line", "first"),
        later(2, "LPUSH", "line", "second"),
    )
    assert [(e.node, e.name[:19]) for e in timeline.find("note")] == [
        ("A", "(b'line', b'first')"),
        ("B", "(b'line', b'second'"),
    ]


def test_a_ghost_does_not_swallow_the_next_push() -> None:
    def gives_up(me: Any) -> None:
        with pytest.raises(redis.TimeoutError):
            me.redis(socket_timeout=1, retry=ONCE).blpop("line", 0)

    timeline = play(gives_up, later(5, "LPUSH", "line", "x"), lambda me: (time.sleep(6), waiting("line", 1)(me)))
    assert notes(timeline) == ["(b'line', b'x') at 6.0010"]


def test_a_crashed_clients_blpop_does_not_swallow_the_next_push() -> None:
    from labkit.faults import Crash

    timeline = play(
        waiting("line", 0, socket_timeout=None),
        later(5, "LPUSH", "line", "x"),
        lambda me: (time.sleep(6), waiting("line", 1)(me)),
        faults=[Crash("A", at=2)],
    )
    assert notes(timeline) == ["(b'line', b'x') at 6.0010"]


def test_a_restart_ends_a_command_that_waits() -> None:
    def code(me: Any) -> None:
        with pytest.raises(redis.ConnectionError):
            me.redis(socket_timeout=None, retry=ONCE).blpop("line", 0)
        me.note(f"told at {me.world.now:.4f}")

    assert notes(play(code, faults=[Restart(at=4)])) == ["told at 4.0005"]


def test_brpop_and_bzpopmin_wait_too() -> None:
    def code(me: Any) -> None:
        client = me.redis(socket_timeout=None)
        me.note(f"{client.brpop('line', 0)} {client.bzpopmin('order', 0)} at {me.world.now:.3f}")

    timeline = play(code, later(2, "LPUSH", "line", "x"), later(4, "ZADD", "order", 1, "y"))
    assert notes(timeline) == ["(b'line', b'x') (b'order', b'y', 1.0) at 4.001"]


# -- messages -----------------------------------------------------------------------------------------------------


def test_a_message_reaches_who_listens() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        channel = client.pubsub()
        channel.subscribe("news")
        for message in channel.listen():
            me.note(f"{message['type']} {message['data']} at {me.world.now:.3f}")
            if message["type"] == "message":
                return

    timeline = play(code, later(3, "PUBLISH", "news", "hello"))
    assert notes(timeline) == ["subscribe 1 at 0.001", "message b'hello' at 3.001"]


def test_get_message_waits_no_longer_than_it_is_told() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis()
        channel = client.pubsub(ignore_subscribe_messages=True)
        channel.subscribe("news")
        got = [channel.get_message(timeout=1), channel.get_message(timeout=2), channel.get_message()]
        return [*got, round(me.world.now, 2)]

    assert result(code) == [None, None, None, 2.0]  # the first call read the answer to SUBSCRIBE


def test_get_message_returns_as_soon_as_there_is_one() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        channel = client.pubsub()
        channel.subscribe("news")
        channel.get_message(timeout=1)
        message = channel.get_message(timeout=50)
        me.note(f"{message['data']} at {me.world.now:.3f}")

    assert notes(play(code, later(3, "PUBLISH", "news", "hello"))) == ["b'hello' at 3.001"]


def test_a_pattern_and_many_listeners() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        channel = client.pubsub(ignore_subscribe_messages=True)
        channel.psubscribe("n*")
        channel.get_message(timeout=1)
        me.note(f"{channel.get_message(timeout=9)['data']}")

    timeline = play(code, code, later(2, "PUBLISH", "news", "hello"))
    assert notes(timeline) == ["b'hello'"] * 2


def test_a_listener_in_a_thread_of_redis_py() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        channel = client.pubsub(ignore_subscribe_messages=True)
        channel.subscribe(news=lambda message: me.note(f"{message['data']}"))
        worker = channel.run_in_thread(sleep_time=0.1)
        time.sleep(3)
        worker.stop()
        worker.join()
        me.note("stopped")

    assert notes(play(code, later(1, "PUBLISH", "news", "hello"))) == ["b'hello'", "stopped"]


# -- WATCH --------------------------------------------------------------------------------------------------------


def test_watch_notices_another_client() -> None:
    def code(me: Any) -> None:
        with me.redis().pipeline() as pipe:
            pipe.watch("a")
            time.sleep(2)
            pipe.multi()
            pipe.set("a", "mine")
            with pytest.raises(redis.WatchError):
                pipe.execute()

    timeline = play(code, later(1, "SET", "a", "theirs"))
    assert timeline.truth("a")[-1].value == "theirs"


def test_watch_lets_an_undisturbed_transaction_pass() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis()
        return client.transaction(lambda pipe: (pipe.get("a"), pipe.multi(), pipe.set("a", 1)), "a")

    assert result(code) == [True]


def test_a_transaction_helper_tries_again() -> None:
    def increase(pipe: Any) -> None:
        value = int(pipe.get("a") or 0)
        time.sleep(0.6)
        pipe.multi()
        pipe.set("a", value + 1)

    def code(me: Any) -> None:
        me.redis().transaction(increase, "a")

    timeline = play(code, later(0.3, "SET", "a", "10"))
    assert timeline.truth("a")[-1].value == "11"


# -- retries ------------------------------------------------------------------------------------------------------


def test_redis_pys_retry_backs_off_in_virtual_time() -> None:
    def code(me: Any) -> float:
        client = me.redis(socket_timeout=1.0, retry=Retry(ExponentialBackoff(cap=8, base=1), 3))
        with pytest.raises(redis.TimeoutError):
            client.get("a")
        return me.world.now

    assert result(code, faults=[Every("reply")]) == 4 * 1 + (2 + 4 + 8)


def test_a_retry_reaches_the_server_after_a_lost_reply() -> None:
    def code(me: Any) -> Any:
        return me.redis(socket_timeout=1.0, retry=Retry(ConstantBackoff(2), 1)).incr("n")

    found: list[Any] = []
    timeline = play(lambda me: found.append(code(me)), faults=[DropReply(on="INCRBY")])
    assert found == [2]
    assert commands(timeline) == ["INCRBY n 1"] * 2
    assert timeline.end == 3 + TRIP


def test_a_partition_is_survived_by_redis_pys_own_defaults() -> None:
    def code(me: Any) -> float:
        client = me.redis()
        client.set("a", 1)
        time.sleep(1)
        assert client.get("a") == b"1"
        return me.world.now

    found = result(code, faults=[Partition("A", "redis", at=0.5, lasting=10)])
    assert 10 < found < 30


def test_the_jitter_of_a_backoff_comes_from_the_seed() -> None:
    def code(me: Any) -> float:
        with pytest.raises(redis.ConnectionError):
            me.redis().get("a")
        return me.world.now

    away = {"faults": [Restart(at=0, down=1000)], "until": 500}
    assert result(code, **away) == result(code, **away) != result(code, seed=1, **away)


class Every:
    """Everything that goes one way is lost."""

    def __init__(self, way: str) -> None:
        self.way = way

    def arm(self, world: World) -> None:
        world.rule(lambda packet: Fate(lost=True) if packet.direction == self.way else None)


def test_a_duplicate_of_a_command_that_waits_does_not_hang_the_run() -> None:
    timeline = play(waiting("line", 2), faults=[Duplicate(on="BLPOP", after=0.5)])
    assert notes(timeline) == ["None at 2.0010"]


def test_two_threads_wait_at_two_lists() -> None:
    def code(me: Any) -> None:
        client = me.redis(socket_timeout=None)
        threads = [
            threading.Thread(target=lambda key=key: me.note(f"{client.blpop(key, 0)[1]} at {me.world.now:.3f}"))
            for key in ("one", "two")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    timeline = play(code, later(2, "LPUSH", "two", "b"), later(3, "LPUSH", "one", "a"))
    assert notes(timeline) == ["b'b' at 2.001", "b'a' at 3.001"]
