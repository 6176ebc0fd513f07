"""A genuine redis-py client over a simulated stream: commands of any size and shape arrive, replies find their way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from redis.connection import Connection as RedisPyConnection

from labkit.sim import Fate, World
from labkit.sim.network import Network
from labkit.sim.scripts import Scripts
from labkit.sim.wire import LATENCIES, split
from tests.sim.playing import ONCE, commands, play, result

PACK = RedisPyConnection().pack_command


def packed(*words: Any) -> bytes:
    return b"".join(PACK(*words))


COMMANDS = [
    (b"PING",),
    (b"SET", b"k", b"v"),
    (b"SET", b"k", b""),
    (b"SET", b"k", b"\r\n"),
    (b"SET", b"a\r\nb", b"\r\n\r\n"),
    (b"SET", b"k", b"$3\r\nGET\r\n"),
    (b"SET", b"k\r\n$1\r\nx", b"*1\r\n"),
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_is_split_into_its_words(words: tuple[bytes, ...]) -> None:
    assert split(packed(*words)) == ([list(words)], b"")


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_is_not_read_before_its_last_byte(words: tuple[bytes, ...]) -> None:
    data = packed(*words)
    for cut in range(1, len(data)):
        assert split(data[:cut]) == ([], data[:cut])


def test_several_commands_are_read_in_order_and_the_rest_is_kept() -> None:
    data = b"".join(packed(*words) for words in COMMANDS)
    found, rest = split(data + b"*1\r\n$4")
    assert [tuple(words) for words in found] == COMMANDS
    assert rest == b"*1\r\n$4"


@pytest.mark.parametrize("value", [b"x" * 7000 + b"\r\n", b"\r\n" * 4000, b"x" * 70_000, b"\r\n$5\r\n" + b"y" * 9000])
def test_values_that_take_several_writes_arrive_whole(value: bytes) -> None:
    def code(me: Any) -> bool:
        client = me.redis()
        client.set("k", value)
        client.set(value, "key")
        return client.get("k") == value and client.get(value) == b"key"

    assert result(code)


def test_a_pipeline_gets_all_its_replies_in_order() -> None:
    def code(me: Any) -> list[Any]:
        pipe = me.redis().pipeline(transaction=False)
        for n in range(50):
            pipe.set(f"k{n}", n).get(f"k{n}")
        return pipe.execute()[1::2]

    assert result(code) == [str(n).encode() for n in range(50)]


def test_a_transaction_is_applied_at_one_moment() -> None:
    def code(me: Any) -> list[Any]:
        return me.redis().pipeline().set("a", 1).incr("a").execute()

    replies: list[Any] = []
    timeline = play(lambda me: replies.extend(code(me)))
    assert replies == [True, 2]
    assert [e.name for e in timeline.find("apply") if e.data["keys"]] == ["EXEC"]


def test_an_error_in_a_pipeline_finds_its_command() -> None:
    def code(me: Any) -> list[Any]:
        pipe = me.redis().pipeline(transaction=False).set("a", "x").incr("a").get("a")
        return [type(reply).__name__ for reply in pipe.execute(raise_on_error=False)]

    assert result(code) == ["bool", "ResponseError", "bytes"]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (("LPUSH", "text", 1), "WRONGTYPE Operation"),
        (("NONSENSE",), "unknown command"),
        (("SET", "a"), "wrong number of arguments"),
        (("INCR", "text"), "not an integer"),
    ],
)
def test_errors_of_the_server_arrive_as_redis_py_tells_them(command: tuple[Any, ...], error: str) -> None:
    def code(me: Any) -> str:
        client = me.redis()
        client.set("text", "x")
        with pytest.raises(redis.ResponseError) as told:
            client.execute_command(*command)
        return str(told.value)

    assert error in result(code)


def test_an_unknown_script_is_an_error_of_its_own_class() -> None:
    def code(me: Any) -> None:
        with pytest.raises(redis.exceptions.NoScriptError):
            me.redis().evalsha("0" * 40, 0)

    play(code)


def test_replies_of_all_shapes_arrive() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis(decode_responses=True)
        client.hset("h", mapping={"a": "1", "b": "2"})
        client.zadd("z", {"x": 1.5})
        client.sadd("s", "b", "a")
        return [
            client.hgetall("h"),
            client.zrange("z", 0, -1, withscores=True),
            client.smembers("s"),
            client.get("missing"),
            client.set("h2", "OK") and client.get("h2"),
            client.exists("h", "z"),
            client.eval("return {1, 'a', {2, false}}", 0),
            client.incrbyfloat("f", 0.5),
        ]

    assert result(code) == [{"a": "1", "b": "2"}, [("x", 1.5)], {"a", "b"}, None, "OK", 2, [1, "a", [2, None]], 0.5]


def test_the_third_protocol_is_refused_with_a_sentence() -> None:
    def code(me: Any) -> str:
        with pytest.raises(ValueError, match="RESP2: leave `protocol` out") as told:
            me.redis(protocol=3)
        return str(told.value)

    assert result(code)
    assert result(lambda me: me.redis(protocol=2).ping())


def test_a_closed_client_connects_anew_when_it_is_used_again() -> None:
    def code(me: Any) -> list[Any]:
        client = me.redis()
        client.set("a", 1)
        client.close()
        return [len(me.connections), client.get("a"), len(me.connections)]

    assert result(code) == [0, b"1", 1]


def test_a_client_that_is_let_go_closes_its_connections() -> None:
    def code(me: Any) -> list[int]:
        client = me.redis()
        client.ping()
        before = len(me.connections)
        del client
        return [before, len(me.connections)]

    assert result(code) == [1, 0]


def test_a_request_in_flight_is_executed_although_its_connection_is_closed() -> None:
    def code(me: Any) -> None:
        client = me.redis()
        connection = client.connection_pool.get_connection()
        connection.send_command("SET", "a", 1)
        client.close()
        me.redis().ping()

    assert commands(play(code)) == ["SET a 1", "PING"]


def test_a_request_in_flight_is_executed_although_its_client_gave_up() -> None:
    def code(me: Any) -> None:
        with pytest.raises(redis.TimeoutError):
            me.redis(socket_timeout=0.0001, retry=ONCE).set("a", 1)
        me.redis().ping()

    assert commands(play(code)) == ["SET a 1", "PING"]


def test_a_time_out_takes_its_time() -> None:
    def code(me: Any) -> float:
        client = me.redis(socket_timeout=2.5, retry=ONCE)
        with pytest.raises(redis.TimeoutError):
            client.get("a")
        return me.world.now

    assert result(code, faults=[Silence()]) == 2.5


class Silence:
    """Every reply is lost."""

    def arm(self, world: World) -> None:
        world.rule(lambda packet: Fate(lost=True) if packet.direction == "reply" else None)


def test_every_command_and_every_reply_takes_time() -> None:
    def code(me: Any) -> float:
        me.redis().ping()
        return me.world.now

    assert result(code) == 2 * LATENCIES[0] / 1e6


def test_requests_over_two_connections_travel_side_by_side() -> None:
    def code(me: Any) -> float:
        clients = [me.redis(name) for name in ("one", "two", "three")]
        ends = [client.connection_pool.get_connection() for client in clients]
        for end in ends:
            end.send_command("PING")
        for end in ends:
            assert end.read_response() == b"PONG"
        return me.world.now

    assert result(code, servers=("one", "two", "three")) == 2 * LATENCIES[0] / 1e6


def test_a_pool_of_connections_serves_threads_in_parallel() -> None:
    def code(me: Any) -> tuple[list[bytes], float]:
        client = me.redis()
        with ThreadPoolExecutor(5) as pool:
            list(pool.map(lambda n: client.set(f"k{n}", n), range(5)))
            found = list(pool.map(lambda n: client.get(f"k{n}"), range(5)))
        return found, me.world.now

    assert result(code) == ([b"0", b"1", b"2", b"3", b"4"], 4 * LATENCIES[0] / 1e6)


def test_a_pool_that_is_empty_says_so() -> None:
    def code(me: Any) -> None:
        client = me.redis(max_connections=1)
        held = client.connection_pool.get_connection()
        with pytest.raises(redis.exceptions.MaxConnectionsError):
            client.ping()
        client.connection_pool.release(held)
        assert client.ping()

    play(code)


def test_a_pool_can_be_shared_by_threads_that_hold_connections() -> None:
    def code(me: Any) -> int:
        client, ready = me.redis(), threading.Barrier(3)

        def hold() -> None:
            connection = client.connection_pool.get_connection()
            ready.wait()
            client.connection_pool.release(connection)

        threads = [threading.Thread(target=hold) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(me.connections)

    assert result(code) == 3


def test_health_checks_happen_in_virtual_time() -> None:
    import time

    def code(me: Any) -> None:
        client = me.redis(health_check_interval=10)
        client.get("a")
        time.sleep(5)
        client.get("a")
        time.sleep(20)
        client.get("a")

    sent = commands(play(code))
    assert sent.count("GET a") == 3
    assert sent[-2:] == ["PING", "GET a"]
    assert sent.count("PING") == 1 + (sent[0] == "PING")


def test_a_client_of_a_world_keeps_redis_pys_own_defaults() -> None:
    mine, plain = result(lambda me: me.redis().connection_pool.connection_kwargs), redis.Redis().connection_pool
    for name in ("socket_timeout", "socket_connect_timeout"):
        assert mine[name] == plain.connection_kwargs[name]
    assert mine["retry"].get_retries() == plain.connection_kwargs["retry"].get_retries() == 10


def test_libraries_that_keep_clients_in_sets_find_them_in_one_order() -> None:
    def code(me: Any) -> list[int]:
        return [client.number for client in {me.redis() for _ in range(20)}]

    assert result(code) == result(code)


def test_a_connection_tells_where_it_leads() -> None:
    assert "server=redis" in result(lambda me: repr(me.redis().connection_pool.make_connection()))


# -- how commands read --------------------------------------------------------------------------------------------


def test_a_script_goes_by_the_first_word_of_its_first_comment() -> None:
    scripts = Scripts()
    source = b"-- release: compare and delete\nreturn 1"
    assert scripts.text("EVAL", [b"EVAL", source, b"1", b"k"]) == "EVAL release k"
    loaded = scripts.text("SCRIPT", [b"SCRIPT", b"LOAD", source])
    assert loaded == "SCRIPT LOAD release"


def test_a_script_without_a_comment_goes_by_its_hash() -> None:
    import hashlib

    sha = hashlib.sha1(b"return 1").hexdigest()
    assert Scripts().text("EVAL", [b"EVAL", b"return 1", b"0"]) == f"EVAL {sha[:8]}"


def test_a_long_command_is_cut() -> None:
    timeline = play(lambda me: me.redis().set("k", "x" * 500))
    assert len(commands(timeline)[0]) == 64
    assert commands(timeline)[0].endswith("…")


# -- rules --------------------------------------------------------------------------------------------------------


def test_the_first_opinion_wins_and_all_rules_see_each_packet() -> None:
    with World() as world:
        seen: list[str] = []
        world.rule(lambda packet: seen.append("first") or Fate())
        world.rule(lambda packet: seen.append("second") or Fate(lost=True))
        world.client("A").start(lambda me: me.redis().ping())
        assert commands(world.run()) == ["PING"]
    assert seen == ["first", "second"] * 2


def test_a_rule_reads_what_the_packet_is_about() -> None:
    seen: list[tuple[Any, ...]] = []

    def rule(packet: Any) -> None:
        seen.append((packet.direction, packet.client, packet.server, packet.name, packet.nth, packet.lane))

    with World() as world:
        world.rule(rule)
        world.client("A").start(lambda me: (me.redis().get("x"), me.redis().get("y")))
        world.run()
    assert seen[:2] == [("request", "A", "redis", "GET", 1, "A"), ("reply", "A", "redis", "GET", 1, "A")]
    assert [row[4] for row in seen] == [1, 1, 2, 2]


def test_a_rule_that_fails_is_not_hidden() -> None:
    with World() as world:
        world.rule(lambda packet: 1 / 0)
        world.client("A").start(lambda me: me.redis().ping())
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            world.run()


def test_a_world_forgets_its_rules_when_it_is_closed() -> None:
    world = World()
    world.rule(lambda packet: None)
    world.close()
    assert isinstance(world.network, Network)
    assert world.network.rules == []
