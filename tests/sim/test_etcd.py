"""The model of etcd where only a model can be asked: virtual time, clocks, the truth of a run, what it does not have.
What it shares with a real etcd is in tests/conformance/test_etcd.py."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from labkit.faults import ClockStep, Crash, Evict, Pause, Restart
from labkit.sim import ClientDied, World
from labkit.sim.etcd import Etcd
from labkit.timeline import Timeline


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def play(*codes: Callable[[Any], Any], faults: Iterable[Any] = (), **world: Any) -> Timeline:
    """Plays the codes as clients A, B … of an etcd."""
    with World(**world) as stage:
        stage.service("etcd", Etcd)
        for name, code in zip("ABC", codes, strict=False):
            stage.client(name).start(code)
        for fault in faults:
            stage.arm(fault)
        return stage.run(until=200.0)


def result(code: Callable[[Any], Any], **options: Any) -> Any:
    found: list[Any] = []
    play(lambda me: found.append(code(me)), **options)
    return found[0]


def ask(me: Any, path: str, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = me.etcd()[0](path, body)
    return answer


def lock(me: Any, key: str = "stock/a", ttl: int = 10) -> str:
    """A key on a lease of its own; returns the lease."""
    number = str(ask(me, "/v3/lease/grant", TTL=ttl)["ID"])
    ask(me, "/v3/kv/put", key=b64(key), lease=number)
    return number


def locked(ttl: int = 10, rest: float = 60.0) -> Callable[[Any], None]:
    def code(me: Any) -> None:
        lock(me, ttl=ttl)
        time.sleep(rest)

    return code


def ends(timeline: Timeline) -> list[float]:
    """When the leases ended."""
    return [round(event.t, 2) for event in timeline.find("expire")]


# -- leases and time -------------------------------------------------------------------------------------------------


def test_a_lease_ends_at_its_time_and_tells_so() -> None:
    timeline = play(locked(ttl=7))
    assert ends(timeline) == [7.0]
    (hold,) = timeline.truth("stock")
    assert (hold.value, hold.owner, hold.why) == ("stock/a", "A", "expired")


@pytest.mark.parametrize("step", [1000.0, -1000.0])
def test_a_step_of_the_wall_clock_means_nothing_to_it(step: float) -> None:
    assert ends(play(locked(), faults=[ClockStep("etcd", by=step, at=1.0)])) == [10.0]


def test_a_keep_alive_gives_the_whole_time_again() -> None:
    def code(me: Any) -> None:
        number = lock(me)
        time.sleep(6.0)
        ask(me, "/v3/lease/keepalive", ID=number)
        time.sleep(60.0)

    assert ends(play(code)) == [16.0]


def test_what_is_left_of_a_lease_is_whole_seconds() -> None:
    def code(me: Any) -> Any:
        number = lock(me)
        time.sleep(3.5)
        return ask(me, "/v3/lease/timetolive", ID=number)["TTL"]

    assert result(code) == "6"


def test_a_new_leader_gives_each_lease_its_time_again_and_an_election() -> None:
    assert ends(play(locked(), faults=[Restart("etcd", at=4.0, keep_data=True, down=0.5)])) == [4.5 + 10.0 + 1.0]


def test_no_lease_ends_while_nobody_leads() -> None:
    assert ends(play(locked(), faults=[Restart("etcd", at=4.0, keep_data=True, down=20.0)])) == [24.0 + 10.0 + 1.0]


def test_no_lease_ends_while_the_leader_stands_still() -> None:
    told: list[float] = []

    def watching(me: Any) -> None:
        time.sleep(1.0)
        stream = me.etcd(timeout=30.0)[1]({"create_request": {"key": b64("stock/a")}})
        while not (message := stream.read(60.0)) or "events" not in message["result"]:
            pass
        told.append(time.monotonic() - 1000)

    timeline = play(locked(ttl=5), watching, faults=[Pause("etcd", at=3.0, lasting=10.0)])
    assert ends(timeline) == [13.0]
    assert told == [pytest.approx(13.0005, abs=0.0001)]


def test_a_leader_that_stood_still_hears_first_what_has_come_meanwhile() -> None:
    def code(me: Any) -> None:
        number = lock(me, ttl=5)
        time.sleep(4.0)
        me.etcd(timeout=30.0)[0]("/v3/lease/keepalive", {"ID": number})
        time.sleep(60.0)

    assert ends(play(code, faults=[Pause("etcd", at=3.0, lasting=10.0)])) == [18.0]


def test_disks_that_are_wiped_know_of_nothing() -> None:
    def code(me: Any) -> Any:
        number = lock(me)
        time.sleep(4.0)
        return ask(me, "/v3/lease/keepalive", ID=number)["result"], ask(me, "/v3/kv/range", key=b64("stock/a"))

    kept, found = result(code, faults=[Restart("etcd", at=2.0, keep_data=False)])
    assert "TTL" not in kept
    assert found == {"header": {"revision": "1"}}


def test_a_lease_is_the_clusters_not_the_clients() -> None:
    assert ends(play(locked(), faults=[Crash("A", at=1.0)])) == []  # nobody is there to look any more
    assert ends(play(locked(), lambda me: time.sleep(30.0), faults=[Crash("A", at=1.0)])) == [10.0]
    assert ends(play(locked(), faults=[Pause("A", at=1.0, lasting=30.0)])) == [10.0]


# -- the truth of a run ----------------------------------------------------------------------------------------------


def test_whose_key_is_the_oldest_has_the_lock() -> None:
    def second(me: Any) -> None:
        time.sleep(1.0)
        lock(me, "stock/0", ttl=60)
        time.sleep(20.0)

    holds = play(locked(), second).truth("stock")
    assert [(hold.value, hold.owner, round(hold.start, 2)) for hold in holds] == [
        ("stock/a", "A", 0.0),
        ("stock/0", "B", 10.0),
    ]


def test_it_says_until_when_a_lock_is_held_by_what_is_known_now() -> None:
    with World() as world:
        etcd: Any = world.service("etcd", Etcd).database
        world.client("A").start(locked(ttl=60, rest=5.0))
        world.run()
        assert (etcd.until("stock"), etcd.until("nothing")) == (60.0005, None)


def test_a_key_without_a_lease_is_itself() -> None:
    def code(me: Any) -> None:
        ask(me, "/v3/kv/put", key=b64("shop/sold"), value=b64("7"))
        ask(me, "/v3/kv/deleterange", key=b64("shop/sold"))

    (hold,) = play(code).truth("shop/sold")
    assert (hold.value, hold.why) == ("7", "deleted")


def test_a_key_that_somebody_deletes_by_hand_makes_room() -> None:
    def second(me: Any) -> None:
        time.sleep(1.0)
        lock(me, "stock/b", ttl=60)
        time.sleep(4.0)
        ask(me, "/v3/kv/range", key=b64("stock/"))

    holds = play(locked(), second, faults=[Evict("stock", server="etcd", at=3.0)]).truth("stock")
    assert [hold.value for hold in holds] == ["stock/a", "stock/b"]


def test_the_same_run_twice_is_the_same_run() -> None:
    def code(me: Any) -> None:
        lock(me)
        lock(me, "stock/b")
        time.sleep(15.0)

    assert play(code, code, seed=3).events == play(code, code, seed=3).events


def test_a_request_reads_as_its_call_and_its_keys() -> None:
    def code(me: Any) -> None:
        lock(me)
        ask(me, "/v3/kv/txn", success=[{"request_range": {"key": b64("a")}}, {"request_put": {"key": b64("b")}}])

    names = [event.name.split(' {"')[0] for event in play(code).find("send")]
    assert names == ["GRANT 10 s", "PUT stock/a", "TXN range a put b"]


# -- watches ---------------------------------------------------------------------------------------------------------


def test_an_end_of_a_lease_is_pushed_to_whoever_watches() -> None:
    def code(me: Any) -> Any:
        lock(me)
        stream = me.etcd()[1]({"create_request": {"key": b64("stock/a")}})
        stream.read(1.0)
        return stream.read(60.0)["result"]["events"], time.monotonic()

    told, at = result(code)
    assert told == [{"type": "DELETE", "kv": {"key": b64("stock/a"), "mod_revision": "3"}}]
    assert at == pytest.approx(1010.001)


def test_a_watch_without_news_is_silent_for_as_long_as_one_waits() -> None:
    def code(me: Any) -> Any:
        stream = me.etcd()[1]({"create_request": {"key": b64("stock/a")}})
        stream.read(1.0)
        before = time.monotonic()
        return stream.read(5.0), time.monotonic() - before

    assert result(code) == (None, pytest.approx(5.0))


def test_a_watch_ends_with_its_server() -> None:
    def code(me: Any) -> None:
        stream = me.etcd()[1]({"create_request": {"key": b64("stock/a")}})
        stream.read(1.0)
        with pytest.raises(ConnectionError):
            stream.read(60.0)

    play(code, faults=[Restart("etcd", at=2.0, keep_data=True)])


# -- what it does not have -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v3/kv/range", {"key": "YQ==", "revision": "3"}, "no field 'revision' in a range; it has key, range_end"),
        ("/v3/kv/put", {"key": "YQ==", "ignore_lease": True}, "no field 'ignore_lease' in a put"),
        ("/v3/kv/txn", {"success": [{"request_txn": {}}]}, "request_range, request_put, request_delete_range, not"),
        ("/v3/kv/txn", {"compare": [{"key": "YQ==", "target": "AGE"}]}, "'AGE' is not one of VERSION, CREATE"),
        ("/v3/kv/range", {"key": "a?"}, "key='a?' cannot be read as base64"),
        ("/v3/lease/grant", {"TTL": 2.5}, "TTL=2.5 is no int"),
        ("/v3/watch", {"create_request": {"key": "YQ==", "filters": []}}, "no field 'filters' in a watch"),
    ],
)
def test_what_it_does_not_have_is_named(path: str, body: dict[str, Any], told: str) -> None:
    if path == "/v3/watch":
        answer = result(lambda me: me.etcd()[1](body).read(1.0))
    else:
        answer = result(lambda me: ask(me, path, **body))
    assert answer["code"] == 3
    assert told in answer["message"]


def test_a_transaction_that_is_refused_has_changed_nothing() -> None:
    def code(me: Any) -> Any:
        bad = {"request_range": {"key": b64("a"), "sort_order": "SIDEWAYS"}}
        ask(me, "/v3/kv/txn", success=[{"request_put": {"key": b64("a")}}, bad])
        return ask(me, "/v3/kv/range", key=b64("a"))

    assert result(code) == {"header": {"revision": "1"}}


def test_a_path_that_it_does_not_have_is_named() -> None:
    with pytest.raises(ClientDied, match=r"no '/v3/auth/enable'; it has /v3/kv/range"):
        play(lambda me: ask(me, "/v3/auth/enable"))


def test_it_is_no_redis_and_has_no_replicas() -> None:
    with World() as world:
        world.server("redis")
        with pytest.raises(ValueError, match="redis is a Redis server"):
            world.service("redis", Etcd)
        database = world.service("etcd", Etcd).database
        with pytest.raises(ValueError, match="its members are in it"):
            database.copies(["a"])
        with pytest.raises(ValueError, match="its members are in it"):
            database.put(0, b"a", None)
