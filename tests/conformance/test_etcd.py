"""The model of etcd and a real etcd give the same answers, and the lock keeps its promises on both."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.live import ServerFailed
from labkit.live.etcdserver import NOT_FOUND, EtcdNotFound, EtcdServer, find_etcd
from labkit.locks.broken.etcd_unchecked import UncheckedEtcdLock
from labkit.locks.etcd import EtcdLock
from labkit.locks.etcdclient import EtcdError, compare, delete, get, put
from labkit.locks.lease import LeaseLost
from tests.conformance.etcdarena import PATIENCE, Arena, Counted, RealArena, WorldArena, b64
from tests.conftest import missing

MANY = 20


@pytest.fixture(scope="module")
def real_etcd() -> Iterator[EtcdServer]:
    """One real etcd for this file."""
    if find_etcd() is None:
        missing(NOT_FOUND)
    with EtcdServer() as server:
        yield server


@pytest.fixture(params=["world", "real"])
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The world, then a real etcd."""
    place = WorldArena() if request.param == "world" else RealArena(request.getfixturevalue("real_etcd"))
    yield place
    place.close()


def started(work: Any, *args: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=args)
    thread.start()
    return thread


# -- keys and revisions ----------------------------------------------------------------------------------------------


def test_each_transaction_that_writes_makes_one_revision(arena: Arena) -> None:
    client = arena.client()
    first = client.put("a", "1")
    assert client.put("a", "2") == first + 1
    assert client.txn([], [put("b", "1"), put("c", "1")]).revision == first + 2
    assert client.txn([], [get("b")]).revision == first + 2
    assert not client.delete("nothing")
    assert client.delete("c")
    assert client.put("d") == first + 4


def test_a_key_keeps_its_create_revision_until_it_is_deleted(arena: Arena) -> None:
    client = arena.client()
    first = client.put("a", "1")
    client.put("a", "2")
    (entry,) = client.range("a")
    assert (entry.value, entry.create_revision, entry.mod_revision, entry.version) == ("2", first, first + 1, 2)
    client.delete("a")
    client.put("a", "3")
    (entry,) = client.range("a")
    assert (entry.create_revision, entry.mod_revision, entry.version) == (first + 3, first + 3, 1)


def test_what_the_gateway_writes_is_what_the_model_writes(arena: Arena) -> None:
    revision = arena.client().put("a", "1")
    at, key = {"header": {"revision": str(revision)}}, b64("a")
    kv = {"key": key, "create_revision": str(revision), "mod_revision": str(revision), "version": "1"}
    assert arena.post("/v3/kv/range", key=key) == at | {"kvs": [kv | {"value": b64("1")}], "count": "1"}
    assert arena.post("/v3/kv/range", key=key, keys_only=True) == at | {"kvs": [kv], "count": "1"}
    assert arena.post("/v3/kv/range", key=b64("b")) == at
    after = {"header": {"revision": str(revision + 1)}}
    assert arena.post("/v3/kv/put", key=key, prev_kv=True) == after | {"prev_kv": kv | {"value": b64("1")}}
    assert arena.post("/v3/kv/deleterange", key=b64("b")) == after


def test_a_range_is_sorted_cut_and_counted(arena: Arena) -> None:
    client = arena.client()
    for key in ("s/b", "s/c", "s/a", "t"):
        last = client.put(key)
    newest: dict[str, Any] = {"sort_order": "DESCEND", "sort_target": "CREATE"}
    assert [e.key for e in client.range("s/", prefix=True)] == ["s/a", "s/b", "s/c"]
    assert [e.key for e in client.range("s/", prefix=True, **newest)] == ["s/a", "s/c", "s/b"]
    bounded = newest | {"max_create_revision": str(last - 2)}
    assert [e.key for e in client.range("s/", prefix=True, **bounded)] == ["s/c", "s/b"]
    answer = arena.post("/v3/kv/range", **get("s/", prefix=True, limit=1, **bounded)["request_range"])
    assert ([kv["key"] for kv in answer["kvs"]], answer.get("more"), answer["count"]) == ([b64("s/c")], True, "3")


COMPARISONS = [  # of a key with version 2 and value "x", and whether they hold
    ("VERSION", 2, "EQUAL", True),
    ("VERSION", 2, "LESS", False),
    ("VERSION", 3, "LESS", True),
    ("VERSION", 1, "GREATER", True),
    ("VERSION", 2, "NOT_EQUAL", False),
    ("CREATE", 0, "EQUAL", False),
    ("CREATE", 0, "GREATER", True),
    ("MOD", 0, "NOT_EQUAL", True),
    ("VALUE", "x", "EQUAL", True),
    ("VALUE", "y", "LESS", True),
    ("LEASE", 0, "EQUAL", True),
]


@pytest.mark.parametrize(("target", "value", "result", "holds"), COMPARISONS)
def test_a_comparison(arena: Arena, target: str, value: Any, result: str, holds: bool) -> None:
    client = arena.client()
    client.put("a", "w")
    client.put("a", "x")
    done = client.txn([compare("a", target, value, result)], [get("a")], [put("b")])
    assert (done.succeeded, len(done.found), len(client.range("b"))) == (holds, int(holds), int(not holds))


@pytest.mark.parametrize("target", ["VERSION", "CREATE", "MOD", "LEASE"])
def test_a_missing_key_is_all_zeros(arena: Arena, target: str) -> None:
    assert arena.client().txn([compare("nothing", target, 0)], []).succeeded


@pytest.mark.parametrize("result", ["EQUAL", "NOT_EQUAL", "LESS"])
def test_a_missing_key_compares_with_no_value(arena: Arena, result: str) -> None:
    assert not arena.client().txn([compare("nothing", "VALUE", "", result)], []).succeeded


def test_all_comparisons_have_to_hold(arena: Arena) -> None:
    assert not arena.client().txn([compare("a", "CREATE", 0), compare("a", "CREATE", 1)], []).succeeded


def test_an_operation_sees_those_before_it_in_its_transaction(arena: Arena) -> None:
    before, after = arena.client().txn([], [get("s/", prefix=True), put("s/1"), get("s/", prefix=True)]).found
    assert (before, [entry.key for entry in after]) == ([], ["s/1"])


@pytest.mark.parametrize("second", [put("a"), delete("a")])
def test_a_key_is_written_once_in_a_transaction(arena: Arena, second: Any) -> None:
    with pytest.raises(EtcdError, match="duplicate key given in txn request") as refused:
        arena.client().txn([], [put("a"), second])
    assert refused.value.code == 3


def test_a_put_on_a_lease_that_is_gone_is_refused_whole(arena: Arena) -> None:
    for call in (
        lambda: arena.client().put("a", lease=77),
        lambda: arena.client().txn([], [put("b"), put("a", lease=77)]),
    ):
        with pytest.raises(EtcdError, match="requested lease not found") as refused:
            call()
        assert refused.value.code == 5
    assert arena.client().range("b") == []


@pytest.mark.parametrize("path", ["/v3/kv/range", "/v3/kv/put", "/v3/kv/deleterange"])
def test_a_call_needs_a_key(arena: Arena, path: str) -> None:
    assert (arena.post(path)["message"], arena.post(path)["code"]) == ("etcdserver: key is not provided", 3)


# -- leases ----------------------------------------------------------------------------------------------------------


def test_a_lease_has_its_time_and_no_less_than_the_shortest(arena: Arena) -> None:
    assert arena.client().lease_grant(60)[1] == 60
    assert arena.post("/v3/lease/grant", TTL="0")["TTL"] == str(arena.ttl)


def test_a_lease_of_ones_own_number_is_granted_once(arena: Arena) -> None:
    number = "4711" if arena.client().lease_revoke(4711) in (True, False) else ""
    assert arena.post("/v3/lease/grant", TTL=60, ID=number)["ID"] == number
    again = arena.post("/v3/lease/grant", TTL=60, ID=number)
    assert (again["message"], again["code"]) == ("etcdserver: lease already exists", 9)


def test_a_lease_longer_than_centuries_is_refused(arena: Arena) -> None:
    assert arena.post("/v3/lease/grant", TTL="99999999999")["code"] == 11


def test_a_fraction_of_a_second_is_no_ttl(arena: Arena) -> None:
    assert arena.post("/v3/lease/grant", TTL=2.5)["code"] == 3


def test_a_revoked_lease_takes_its_keys_along_in_one_revision(arena: Arena) -> None:
    client = arena.client()
    lease, _ = client.lease_grant(60)
    client.put("s/b", lease=lease)
    before = client.put("s/a", lease=lease)
    told = arena.post("/v3/lease/timetolive", ID=str(lease), keys=True)
    assert (told["grantedTTL"], sorted(told["keys"])) == ("60", [b64("s/a"), b64("s/b")])
    assert client.lease_revoke(lease)
    assert client.txn([], [get("s/", prefix=True)]).found == ([],)
    assert client.put("c") == before + 2


def test_a_lease_that_is_gone_is_told(arena: Arena) -> None:
    client = arena.client()
    assert client.lease_keep_alive(77) == 0
    assert client.lease_revoke(77) is False
    assert arena.post("/v3/lease/timetolive", ID="77")["TTL"] == "-1"


def test_a_lease_that_nobody_keeps_alive_ends_and_its_keys_with_it(arena: Arena) -> None:
    client = arena.client()
    lease, _ = client.lease_grant(arena.ttl)
    client.put("a", lease=lease)
    arena.wait_for_the_end("a")
    assert (client.range("a"), client.lease_keep_alive(lease)) == ([], 0)


def test_a_key_written_without_its_lease_outlives_it(arena: Arena) -> None:
    client = arena.client()
    lease, _ = client.lease_grant(60)
    client.put("a", lease=lease)
    client.put("a")
    client.lease_revoke(lease)
    assert [entry.lease for entry in client.range("a")] == [0]


def test_who_leads_anew_gives_a_lease_its_whole_time_again(arena: Arena) -> None:
    client = arena.client()
    lease, _ = client.lease_grant(60)
    client.put("a", "kept", lease=lease)
    short, _ = client.lease_grant(arena.ttl)
    client.put("b", lease=short)
    arena.wait_for_the_end("b")  # so some of the long one is over
    before = int(arena.post("/v3/lease/timetolive", ID=str(lease))["TTL"])
    arena.restart()
    after = int(arena.post("/v3/lease/timetolive", ID=str(lease))["TTL"])
    assert before < 60 - arena.ttl + 1 <= after
    assert [(entry.value, entry.lease) for entry in client.range("a")] == [("kept", lease)]


# -- watches ---------------------------------------------------------------------------------------------------------


def events(stream: Any, many: int) -> list[tuple[str, str, str]]:
    """The next so many events: what, which key, at which revision."""
    found: list[tuple[str, str, str]] = []
    while len(found) < many:
        message = stream.read(PATIENCE)
        assert message is not None, found
        told = message["result"].get("events", ())
        found += [(e.get("type", "PUT"), e["kv"]["key"], e["kv"]["mod_revision"]) for e in told]
    return found


def test_a_watch_tells_what_has_been_and_what_comes(arena: Arena) -> None:
    client = arena.client()
    first = client.put("s/a")
    client.put("t")
    client.delete("s/a")
    body = {"create_request": {"key": b64("s/"), "range_end": b64("s0"), "start_revision": str(first)}}
    stream = arena.wire()[1](body)
    assert stream.read(PATIENCE)["result"]["created"] is True
    assert events(stream, 2) == [("PUT", b64("s/a"), str(first)), ("DELETE", b64("s/a"), str(first + 2))]
    client.put("s/b")
    client.put("u")
    client.put("s/b")
    assert events(stream, 2) == [("PUT", b64("s/b"), str(first + 3)), ("PUT", b64("s/b"), str(first + 5))]
    stream.close()


def test_a_watch_without_a_revision_starts_now(arena: Arena) -> None:
    client = arena.client()
    client.put("a", "before")
    stream = arena.wire()[1]({"create_request": {"key": b64("a")}})
    assert stream.read(PATIENCE)["result"]["created"] is True
    revision = client.put("a", "after")
    assert events(stream, 1) == [("PUT", b64("a"), str(revision))]
    stream.close()


def test_a_watch_may_start_at_a_revision_that_is_still_to_come(arena: Arena) -> None:
    client = arena.client()
    revision = client.put("b")
    stream = arena.wire()[1]({"create_request": {"key": b64("a"), "start_revision": str(revision + 2)}})
    assert stream.read(PATIENCE)["result"]["created"] is True
    client.put("a", "too early")
    client.put("a", "in time")
    assert events(stream, 1) == [("PUT", b64("a"), str(revision + 2))]
    stream.close()


def test_a_watch_of_one_key_waits_for_its_end_only(arena: Arena) -> None:
    client = arena.client()
    revision = client.put("a")
    with client.watch("a", revision + 1) as watch:
        client.put("a", "changed")
        client.delete("ab")
        assert not watch.deleted(0.01)
        client.delete("a")
        assert watch.deleted(PATIENCE)


def test_a_deletion_before_the_watch_is_not_missed(arena: Arena) -> None:
    client = arena.client()
    revision = client.put("a")
    client.delete("a")
    with client.watch("a", revision + 1) as watch:
        assert watch.deleted(PATIENCE)


# -- the lock --------------------------------------------------------------------------------------------------------


def test_a_grant_is_a_key_of_ones_own(arena: Arena) -> None:
    lock = arena.lock()
    lease = lock.try_acquire()
    (entry,) = arena.client().range("stock/", prefix=True)
    assert (lease.name, lease.token, lease.fence) == ("stock", entry.key, entry.create_revision)
    assert 0 < lease.remaining() <= arena.ttl and lock.holding(lease)
    lock.release(lease)
    assert (arena.queue(), lock.holding(lease)) == ([], False)


def test_a_release_leaves_no_lease_behind(arena: Arena) -> None:
    lock = arena.lock(ttl=60)
    lease = lock.acquire()
    lock.release(lease)
    assert arena.client().lease_keep_alive(int(lease.token.partition("/")[2], 16)) == 0


def test_whoever_is_not_first_leaves_at_once(arena: Arena) -> None:
    lock, other = arena.lock(), arena.lock()
    lease = lock.acquire()
    assert other.try_acquire() is None
    assert other.acquire(0) is None
    assert arena.queue() == [lease.token]
    lock.release(lease)


def test_a_time_out_takes_the_key_out_of_the_queue(arena: Arena) -> None:
    lock, other = arena.lock(), arena.lock()
    lease = lock.acquire()
    assert other.acquire(0.05) is None
    assert arena.queue() == [lease.token]
    lock.release(lease)


def test_the_fence_grows_with_each_grant(arena: Arena) -> None:
    lock, fences = arena.lock(), list[int]()
    for _ in range(3):
        with lock.hold() as lease:
            fences.append(lease.fence)
    assert fences == sorted(set(fences))


def test_first_come_first_served(arena: Arena) -> None:
    lock, order = arena.lock(ttl=60), list[int]()
    lease = lock.acquire()

    def wait(number: int) -> None:
        with arena.lock(ttl=60).hold(PATIENCE):
            order.append(number)

    threads = []
    for number in range(4):
        threads.append(started(wait, number))
        arena.wait_until(lambda queue, there=number + 2: len(queue) == there)  # type: ignore[misc]
    lock.release(lease)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]


def waiter(arena: Arena, got: list[Any], kind: type[EtcdLock] = EtcdLock) -> threading.Thread:
    """A thread that queues up as the last, and notes what it gets; it is in the queue when this returns."""

    def wait() -> None:
        try:
            got.append(arena.lock(kind, ttl=60).acquire(PATIENCE))
        except LeaseLost as lost:
            got.append(lost)

    there = len(arena.queue())
    thread = started(wait)
    arena.wait_until(lambda queue: len(queue) == there + 1)
    return thread


def test_whoever_waits_behind_one_that_is_gone_still_waits(arena: Arena) -> None:
    lock, got = arena.lock(ttl=60), list[Any]()
    lease = lock.acquire()
    threads = [waiter(arena, []), waiter(arena, got)]
    _, middle, last = arena.queue()
    arena.client().delete(middle)
    assert arena.lock(ttl=60).acquire(0.05) is None  # by then a wrong one would believe
    assert (got, arena.queue()) == ([], [lease.token, last])
    lock.release(lease)
    for thread in threads:
        thread.join()
    assert got[0].token == last


def lost_in_the_queue(arena: Arena, kind: type[EtcdLock]) -> Any:
    """What a waiter gets whose key has been deleted when its predecessor leaves."""
    lock, got = arena.lock(ttl=60), list[Any]()
    lease = lock.acquire()
    thread = waiter(arena, got, kind)
    arena.client().delete(arena.queue()[1])
    lock.release(lease)
    thread.join()
    return got[0]


def test_who_has_waited_looks_for_its_own_key(arena: Arena) -> None:
    assert isinstance(lost_in_the_queue(arena, EtcdLock), LeaseLost)


def test_the_unchecked_one_believes_in_a_key_that_is_gone(arena: Arena) -> None:
    lease = lost_in_the_queue(arena, UncheckedEtcdLock)
    assert lease.token not in arena.queue()


def test_a_held_lock_is_kept_alive(arena: Arena) -> None:
    counted = Counted(arena.wire())
    lock = arena.lock(wire=counted.wire())
    lease = lock.acquire()
    for _ in range(4):  # a third of the TTL each
        assert counted.more.acquire(timeout=PATIENCE)
    assert lock.holding(lease)
    assert arena.client().range(lease.token)[0].create_revision == lease.fence
    lock.release(lease)


def test_a_waiter_is_kept_alive_too(arena: Arena) -> None:
    lock, counted, got = arena.lock(ttl=60), Counted(arena.wire()), list[Any]()
    lease = lock.acquire()
    thread = started(lambda: got.append(arena.lock(wire=counted.wire()).acquire(PATIENCE)))
    for _ in range(4):
        assert counted.more.acquire(timeout=PATIENCE)
    lock.release(lease)
    thread.join()
    assert got[0] is not None and arena.queue() == [got[0].token]


def test_an_extension_moves_the_deadline_and_nothing_else(arena: Arena) -> None:
    lock = arena.lock()
    lease = lock.acquire()
    longer = lock.extend(lease)
    assert longer.deadline > lease.deadline
    assert (longer.token, longer.fence) == (lease.token, lease.fence)
    lock.release(lease)


def test_a_release_tells_that_the_lease_had_ended(arena: Arena) -> None:
    lock = arena.lock()
    lease = lock.acquire()
    arena.client().delete(lease.token)
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert lost.value.reason == "expired"


def test_a_release_tells_that_somebody_else_holds(arena: Arena) -> None:
    lock, other = arena.lock(), arena.lock()
    lease = lock.acquire()
    arena.client().delete(lease.token)
    theirs = other.acquire(PATIENCE)
    with pytest.raises(LeaseLost) as lost:
        lock.release(lease)
    assert (lost.value.reason, arena.queue()) == ("stolen", [theirs.token])
    other.release(theirs)


def test_an_extension_of_a_lease_that_is_gone_is_told(arena: Arena) -> None:
    lock = arena.lock(ttl=60)
    lease = lock.acquire()
    arena.client().lease_revoke(int(lease.token.partition("/")[2], 16))
    with pytest.raises(LeaseLost):
        lock.extend(lease)


def test_a_write_is_taken_while_the_key_is_ours_and_refused_after(arena: Arena) -> None:
    lock, client = arena.lock(), arena.client()
    lease = lock.acquire()
    assert client.txn([lock.compare(lease)], [put("sold", "1")]).succeeded
    client.delete(lease.token)
    client.put(lease.token)  # the same name, another grant
    assert not client.txn([lock.compare(lease)], [put("sold", "2")]).succeeded
    assert [entry.value for entry in client.range("sold")] == ["1"]


def test_a_lock_outlives_a_restart_of_its_server(arena: Arena) -> None:
    lock = arena.lock(ttl=60)
    lease = lock.acquire()
    arena.restart()
    assert arena.lock(ttl=60).try_acquire() is None
    lock.release(lease)


def test_a_waiter_keeps_its_place_over_a_restart(arena: Arena) -> None:
    lock, got = arena.lock(ttl=60), list[Any]()
    lease = lock.acquire()
    thread = waiter(arena, got)
    place = arena.queue()[1]
    arena.restart()
    lock.release(lease)
    thread.join()
    assert got[0].token == place


def test_a_release_wakes_one_of_twenty(arena: Arena) -> None:
    """The herd: each of twenty waiters is woken once, by the one before it, and none for somebody else."""
    lock = arena.lock(ttl=60)
    lease = lock.acquire()
    wires = [Counted(arena.wire()) for _ in range(MANY)]

    def wait(counted: Counted) -> None:
        with arena.lock(ttl=60, wire=counted.wire()).hold(PATIENCE):
            pass

    threads = [started(wait, counted) for counted in wires]
    arena.wait_until(lambda queue: len(queue) == MANY + 1)
    lock.release(lease)
    for thread in threads:
        thread.join()
    assert [counted.counts["wake-up"] for counted in wires] == [1] * MANY


# -- the real server itself ------------------------------------------------------------------------------------------


def test_a_waiter_whose_watch_begins_in_a_past_that_is_gone_looks(real_etcd: EtcdServer) -> None:
    arena = RealArena(real_etcd)
    lock, waits = arena.lock(ttl=60), list[Any]()
    lease = lock.acquire()

    def late(body: dict[str, Any]) -> Any:
        """Opens the watch when its predecessor has left, and the history until then was thrown away."""
        lock.release(lease)
        arena.post("/v3/kv/compaction", revision=str(arena.client().put("other")))
        stream = arena.wire()[1](body)
        read = stream.read

        def noted(timeout: float) -> Any:
            waits.append(read(timeout))
            return waits[-1]

        stream.read = noted
        return stream

    assert arena.lock(ttl=60, wire=(arena.wire()[0], late)).acquire(5.0) is not None
    assert "canceled" in waits[-1]["result"]  # and it waited no longer


@pytest.mark.parametrize("name", ["ETCD_WAL_DIR", "ETCD_CONFIG_FILE"])
def test_the_server_is_told_nothing_by_the_environment(
    real_etcd: EtcdServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    with EtcdServer() as server:
        assert server.folder is not None and (server.folder / "etcd" / "member" / "wal").is_dir()
    assert not (tmp_path / "elsewhere").exists()


def test_the_server_and_its_folder_are_gone_at_the_end(real_etcd: EtcdServer) -> None:
    with EtcdServer() as server:
        post, _ = server.etcd()
        folder = server.folder
        assert folder is not None and folder.exists()
    assert not folder.exists()
    with pytest.raises(ConnectionError):
        post("/v3/kv/range", {"key": b64("a")})
    with pytest.raises(ServerFailed, match="is not running"):
        server.restart()


def test_a_machine_without_etcd_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EtcdNotFound, match="apt install etcd-server"):
        EtcdServer().start()


def test_a_path_that_the_gateway_does_not_have_is_an_error(real_etcd: EtcdServer) -> None:
    assert real_etcd.etcd()[0]("/v3/kv/nosuch", {}) == {"error": "Not Found", "code": 12}
