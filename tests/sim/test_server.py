"""The truth about a server's keys: read from the data after each command, expired by the server's own clock."""

from __future__ import annotations

import time
from typing import Any

import pytest
from redis.exceptions import ResponseError

from labkit.faults import ClockRate, ClockStep, Evict
from labkit.sim import World
from tests.sim.playing import play, result


def sending(*lines: Any) -> Any:
    """A client that sends commands; a number among them is a sleep."""

    def code(me: Any) -> None:
        client = me.redis()
        for line in lines:
            time.sleep(line) if isinstance(line, (int, float)) else client.execute_command(*line.split())

    return code


def changes(timeline: Any) -> list[tuple[float, str, dict[str, Any]]]:
    """When which event changed which keys to what."""
    return [
        (round(e.t, 4), e.kind, {k: v and v["value"] for k, v in e.data["keys"].items()})
        for e in timeline
        if e.data.get("keys")
    ]


def test_what_a_command_did_is_read_from_the_data() -> None:
    timeline = play(sending("SET a 1", "INCR a", "SET a 2", "RENAME a b", "DEL b", "DEL b"))
    assert [c[2] for c in changes(timeline)] == [{"a": "1"}, {"a": "2"}, {"b": "2", "a": None}, {"b": None}]


def test_a_key_expires_by_itself_and_stays_gone() -> None:
    timeline = play(sending("SET a 1 PX 1000", 2, "SET b 1", "GET a"))
    assert changes(timeline) == [
        (0.0005, "apply", {"a": "1"}),
        (1.0005, "expire", {"a": None}),
        (2.0015, "apply", {"b": "1"}),
    ]


def test_a_renewed_key_expires_once() -> None:
    timeline = play(sending("SET a 1 PX 1000", 0.5, "PEXPIRE a 1000", 0.6, "PERSIST a", 5, "PEXPIRE a 100", 1))
    assert [(c[1], c[0]) for c in changes(timeline) if c[1] == "expire"] == [("expire", 6.2035)]
    assert [h.why for h in timeline.truth("a")] == ["renewed", "renewed", "renewed", "expired"]


def test_what_is_set_to_expire_in_the_past_is_gone() -> None:
    timeline = play(sending("SET a 1", "EXPIREAT a 5", 1, "SET b 1"))
    assert [(h.why, h.end) for h in timeline.truth("a")] == [("deleted", 0.0015)]


def test_the_writer_of_a_value_keeps_it_while_another_renews() -> None:
    timeline = play(sending("SET a 1 PX 5000"), lambda me: (time.sleep(1), me.redis().pexpire("a", 9000)))
    assert [(h.owner, h.until) for h in timeline.truth("a")] == [("A", 5.0005), ("A", 10.0005)]


def test_what_changes_within_a_hash_a_list_or_a_set_is_seen() -> None:
    timeline = play(sending("HSET h a 1", "HSET h a 2", "RPUSH l x", "RPUSH l y", "SADD s x", "SADD s y"))
    seen = [text for _, _, keys in changes(timeline) for text in keys.values()]
    assert seen == ["{'a': '1'}", "{'a': '2'}", "['x']", "['x', 'y']", "['x']", "['x', 'y']"]


def test_a_command_that_changes_nothing_is_no_change() -> None:
    timeline = play(sending("HSET h a 1", "SET k 1", "GET k", "HGET h a", "SET k 2 NX", "EXISTS k h"))
    assert [list(keys) for _, _, keys in changes(timeline)] == [["h"], ["k"]]


def test_keys_of_other_databases_are_told_apart() -> None:
    def code(me: Any) -> None:
        me.redis().set("a", 1)
        me.redis(db=2).set("a", 2, px=1000)
        time.sleep(2)

    timeline = play(code)
    assert [h.value for h in timeline.truth("a")] == ["1"]
    assert [(h.value, h.why) for h in timeline.truth("a (db 2)")] == [("2", "expired")]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("HSET k b 1 a 2", "{'a': '2', 'b': '1'}"),
        ("RPUSH k y x", "['y', 'x']"),
        ("SADD k y x", "['x', 'y']"),
        ("ZADD k 2 y 1 x", "{'x': 1.0, 'y': 2.0}"),
    ],
)
def test_values_of_all_types_read_the_same_in_each_run(command: str, text: str) -> None:
    timeline = play(sending(command))
    assert timeline.truth("k")[0].value == text


def test_no_value_shows_an_address() -> None:
    timeline = play(sending("XADD k * a 1", "PFADD h a", "GEOADD g 1 1 a", "SETBIT b 1 1"))
    assert " at 0x" not in timeline.to_json()


def test_the_order_of_a_set_does_not_depend_on_hashes() -> None:
    def code(me: Any) -> list[bytes]:
        client = me.redis()
        client.sadd("s", *"fbdace")
        return list(client.eval("return redis.call('SMEMBERS', KEYS[1])", 1, "s"))

    assert result(code) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_the_server_tells_its_own_time() -> None:
    def code(me: Any) -> list[int]:
        client = me.redis()
        script = "return redis.call('TIME')"
        return [client.time()[0], int(client.eval(script, 0)[0]), int(time.time())]

    assert result(code, faults=[ClockStep("redis", by=100)]) == [1_700_000_100, 1_700_000_100, 1_700_000_000]


def test_versions_have_their_own_commands() -> None:
    def code(me: Any) -> str:
        try:
            return str(me.redis().execute_command("DELEX", "a", "IFEQ", "x"))
        except Exception as error:
            return type(error).__name__

    def at(version: tuple[int, ...]) -> str:
        found: list[str] = []
        with World() as world:
            world.server("redis", version=version)
            world.client("A").start(lambda me: found.append(code(me)))
            world.run()
        return found[0]

    assert at((7, 0)) == "ResponseError"
    assert at((8, 4)) == "0"


def test_a_wait_by_a_fast_clock_is_short() -> None:
    timeline = play(sending("SET a 1 PX 10000", 20), faults=[ClockRate("redis", rate=2.0)])
    assert timeline.truth("a")[0].end == pytest.approx(5.0005, abs=0.001)


def test_a_key_without_expiry_that_is_evicted_and_written_again_is_seen_again() -> None:
    timeline = play(sending("SET a 1", 2, "SET a 1", 1), faults=[Evict("a", at=1)])
    assert [(h.why, h.start) for h in timeline.truth("a")] == [("evicted", 0.0005), ("open", 2.0015)]


def test_an_evicted_key_is_gone_and_says_why() -> None:
    timeline = play(sending("SET a 1 PX 9000", 2, "GET a"), faults=[Evict("a", at=1), Evict("missing", at=1)])
    assert [(h.why, h.end) for h in timeline.truth("a")] == [("evicted", 1)]
    assert len(timeline.find("evict")) == 1


def test_a_clients_clock_is_not_the_servers() -> None:
    with pytest.raises(ValueError, match="A is a client: it has no keys to evict"):
        play(sending(2), faults=[Evict("a", server="A", at=1)])


def test_a_script_that_cannot_decode_is_answered_with_an_error() -> None:
    def code(me: Any) -> str:
        client = me.redis()
        with pytest.raises(ResponseError):
            client.eval("return cjson.decode(ARGV[1])", 0, "6ba7b810-9dad")
        return client.ping()

    assert result(code) is True
