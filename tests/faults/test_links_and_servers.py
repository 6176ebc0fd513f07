"""Partition, clock, restart: what may befall a link and a server."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis

from labkit.faults import ClockRate, ClockStep, Partition, Restart
from tests.sim.playing import ONCE, commands, play, result


def played(code: Any, *faults: Any, **options: Any) -> tuple[Any, Any]:
    found: list[Any] = []
    timeline = play(lambda me: found.append(code(me)), faults=faults, **options)
    return found[0], timeline


def failure(call: Any) -> str:
    try:
        return str(call())
    except redis.RedisError as error:
        return type(error).__name__


# -- partition ----------------------------------------------------------------------------------------------------


def test_nothing_passes_a_cut_link_until_it_is_mended() -> None:
    def code(me: Any) -> list[str]:
        client, told = me.redis(socket_timeout=1, socket_connect_timeout=1, retry=ONCE), list[str]()
        told.append(failure(client.ping))
        time.sleep(1)
        told.append(failure(client.ping))
        time.sleep(9)
        return [*told, failure(client.ping)]

    outcome, timeline = played(code, Partition("A", "redis", at=0.5, lasting=5))
    assert outcome == ["True", "TimeoutError", "True"]
    assert [(e.t, e.kind) for e in timeline if e.kind in ("cut", "heal")] == [(0.5, "cut"), (5.5, "heal")]
    assert commands(timeline) == ["PING", "PING"]


def test_a_connection_over_a_cut_link_waits_for_its_timeout() -> None:
    def code(me: Any) -> tuple[str, float]:
        time.sleep(1)
        return failure(me.redis(socket_connect_timeout=3, retry=ONCE).ping), me.world.now

    assert played(code, Partition("A", "redis"))[0] == ("TimeoutError", 4)


def test_only_the_named_link_is_cut() -> None:
    def code(me: Any) -> str:
        time.sleep(1)
        return failure(me.redis(socket_timeout=1, socket_connect_timeout=1, retry=ONCE).ping)

    found: list[tuple[str, str]] = []
    play(*[lambda me: found.append((me.name, code(me)))] * 2, faults=[Partition("A", "redis")])
    assert sorted(found) == [("A", "TimeoutError"), ("B", "True")]


def test_a_link_can_be_named_from_either_end() -> None:
    code = lambda me: (time.sleep(1), failure(me.redis(socket_connect_timeout=1, retry=ONCE).ping))[1]  # noqa: E731
    assert played(code, Partition("redis", "A"))[0] == "TimeoutError"


def test_a_reply_is_lost_when_the_link_is_cut_meanwhile() -> None:
    code = lambda me: failure(lambda: me.redis(socket_timeout=1, retry=ONCE).set("a", 1))  # noqa: E731
    outcome, timeline = played(code, Partition("A", "redis", at=0.0002))
    assert outcome == "TimeoutError"
    assert commands(timeline) == ["SET a 1"]


def test_cutting_what_is_cut_changes_nothing() -> None:
    timeline = played(
        lambda me: time.sleep(9), Partition("A", "redis", at=1), Partition("redis", "A", at=2, lasting=1)
    )[1]
    assert [(e.t, e.kind) for e in timeline] == [(1, "cut"), (3, "heal")]


# -- clock --------------------------------------------------------------------------------------------------------


def holding(me: Any) -> list[Any]:
    """Takes a lock of ten seconds and looks at it every second for as long as it is there."""
    client = me.redis()
    client.set("lock", "mine", px=10_000)
    while client.exists("lock"):
        time.sleep(1)
    return [round(me.world.now)]


def test_a_step_forward_frees_a_lock_at_once() -> None:
    timeline = played(holding, ClockStep("redis", by=15, at=2))[1]
    assert [(h.end, h.why) for h in timeline.truth("lock")] == [(2, "expired")]


def test_a_step_back_keeps_a_lock() -> None:
    timeline = played(holding, ClockStep("redis", by=-20, at=2))[1]
    assert [(round(h.end, 2), h.why) for h in timeline.truth("lock")] == [(2, "renewed"), (30, "expired")]


def test_a_small_step_moves_the_expiry() -> None:
    timeline = played(holding, ClockStep("redis", by=3, at=2))[1]
    assert round(timeline.truth("lock")[-1].end, 2) == 7


def test_what_a_step_has_expired_does_not_come_back_with_a_step_back() -> None:
    """Nobody asked for it in between: Redis sweeps by itself."""
    outcome, timeline = played(holding, ClockStep("redis", by=15, at=2.3), ClockStep("redis", by=-15, at=2.6))
    assert outcome == [3]
    assert [(h.end, h.why) for h in timeline.truth("lock")] == [(2.3, "expired")]


@pytest.mark.parametrize(("rate", "end"), [(2.0, 6), (0.5, 18), (10.0, 2.8)])
def test_a_clock_of_another_rate_expires_by_that_rate(rate: float, end: float) -> None:
    timeline = played(holding, ClockRate("redis", rate=rate, at=2))[1]
    assert timeline.truth("lock")[-1].end == pytest.approx(end, abs=0.01)


def test_a_rate_can_change_while_an_expiry_is_due() -> None:
    timeline = played(holding, ClockRate("redis", rate=0.1, at=2), ClockRate("redis", rate=5.0, at=12))[1]
    assert timeline.truth("lock")[-1].end == pytest.approx(12 + 7 / 5, abs=0.01)
    assert len(timeline.find("expire")) == 1


def test_a_servers_clock_is_its_own() -> None:
    code = lambda me: [me.redis(name).time()[0] - 1_700_000_000 for name in ("one", "other")]  # noqa: E731
    assert played(code, ClockStep("one", by=50), servers=("one", "other"))[0] == [50, 0]


def test_a_clients_wall_clock_steps_and_its_monotonic_clock_does_not() -> None:
    def code(me: Any) -> tuple[float, float]:
        wall, monotonic = time.time(), time.monotonic()
        time.sleep(2)
        return time.time() - wall, time.monotonic() - monotonic

    assert result(code, faults=[ClockStep("A", by=60, at=1)]) == (62, 2)


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_clock_goes_forward(rate: float) -> None:
    with pytest.raises(ValueError, match="a clock goes forward"):
        ClockRate("redis", rate=rate)


# -- restart ------------------------------------------------------------------------------------------------------


def after_a_restart(me: Any) -> list[Any]:
    client = me.redis(retry=ONCE)
    client.set("a", 1)
    script = client.script_load("return 1")
    time.sleep(2)
    told = [failure(client.ping)]
    return [*told, client.get("a"), failure(lambda: client.evalsha(script, 0))]


@pytest.mark.parametrize(("keep_data", "value"), [(True, b"1"), (False, None)])
def test_a_restart_keeps_or_loses_data_and_always_scripts(keep_data: bool, value: bytes | None) -> None:
    outcome, timeline = played(after_a_restart, Restart(at=1, keep_data=keep_data))
    assert outcome[1:] == [value, "NoScriptError"]
    assert [h.why for h in timeline.truth("a")] == (["open"] if keep_data else ["restart"])


def test_a_lock_that_a_restart_has_lost_does_not_expire_later() -> None:
    timeline = played(lambda me: (me.redis().set("a", 1, px=9000), time.sleep(20)), Restart(at=1, down=2))[1]
    assert [(h.end, h.why) for h in timeline.truth("a")] == [(3, "restart")]
    assert timeline.find("expire") == ()


def test_open_connections_break_and_redis_py_notices_before_it_sends() -> None:
    assert played(after_a_restart, Restart(at=1))[0][0] == "True"


def test_a_connection_in_use_gets_an_end_of_file() -> None:
    def code(me: Any) -> list[str]:
        client = me.redis(socket_timeout=None, retry=ONCE)
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "line", 0)
        told = failure(connection.read_response)
        return [told, str(me.world.now)]

    assert played(code, Restart(at=1))[0] == ["ConnectionError", "1.0005"]


def test_replies_that_are_under_way_come_before_the_end_of_file() -> None:
    code = lambda me: (failure(lambda: me.redis(retry=ONCE).set("a", 1)), me.world.now)  # noqa: E731
    assert played(code, Restart(at=0.0006))[0] == ("True", 0.001)


@pytest.mark.parametrize("down", [0.0, 0.001, 5.0])
def test_a_request_that_arrives_after_the_server_has_gone_is_lost(down: float) -> None:
    code = lambda me: failure(lambda: me.redis(retry=ONCE).set("a", 1))  # noqa: E731
    outcome, timeline = played(code, Restart(at=0.0002, down=down))
    assert outcome == "ConnectionError"
    assert commands(timeline) == []
    assert commands(timeline, "drop") == ["SET a 1"]


def test_a_server_that_is_down_refuses_connections() -> None:
    def code(me: Any) -> list[str]:
        time.sleep(1)
        told = failure(me.redis(retry=ONCE).ping)
        time.sleep(9)
        return [told, failure(me.redis(retry=ONCE).ping)]

    assert played(code, Restart(at=0.5, down=5))[0] == ["ConnectionError", "True"]


def test_a_key_that_runs_out_while_the_server_is_down_is_not_there_afterwards() -> None:
    def code(me: Any) -> Any:
        client = me.redis(retry=ONCE)
        client.set("a", 1, px=2000)
        time.sleep(9)
        return client.get("a")

    outcome, timeline = played(code, Restart(at=1, down=5, keep_data=True))
    assert outcome is None
    assert [(h.end, h.why) for h in timeline.truth("a")] == [(6, "restart")]


def test_keys_of_other_databases_are_kept_too() -> None:
    def code(me: Any) -> Any:
        client = me.redis(db=3)
        client.set("a", 1)
        time.sleep(2)
        return client.get("a")

    assert played(code, Restart(at=1, keep_data=True))[0] == b"1"


def test_redis_pys_own_retries_survive_a_restart() -> None:
    def code(me: Any) -> tuple[Any, bool]:
        client = me.redis()
        time.sleep(1)
        return client.set("a", 1), 1.5 < me.world.now < 5

    assert played(code, Restart(at=0.5, down=1))[0] == (True, True)


def test_a_client_does_not_restart() -> None:
    with pytest.raises(ValueError, match="A is a client: let it crash"):
        play(lambda me: time.sleep(9), faults=[Restart("A", at=1)])
