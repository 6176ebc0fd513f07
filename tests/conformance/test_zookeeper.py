"""One suite for the model of ZooKeeper and for the real one: what a lock recipe builds on, and the recipe itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest
from kazoo.exceptions import (
    BadVersionError,
    NoChildrenForEphemeralsError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
)

from labkit.live.zookeeper import NOT_FOUND, ZooKeeperServer, find_zookeeper
from labkit.locks import LeaseLost
from labkit.locks.broken.herd import HerdLock
from labkit.locks.broken.suffix_as_token import SuffixTokenLock
from labkit.locks.zookeeper import ZooKeeperLock
from tests.conformance.zkarena import LONG, PATIENCE, TIMEOUT, Arena, RealArena, WorldArena, until
from tests.conftest import missing

REAPING = 0.3  # seconds, on the real server
WAITERS = 20


@pytest.fixture(scope="module")
def real_zookeeper() -> Iterator[ZooKeeperServer]:
    if find_zookeeper() is None:
        missing(NOT_FOUND)
    with ZooKeeperServer(reaping=REAPING) as server:
        yield server


@pytest.fixture(params=["world", "real"])
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """The world, then the real server."""
    place = WorldArena() if request.param == "world" else RealArena(request.getfixturevalue("real_zookeeper"))
    yield place
    place.close()


class Heard:
    """Events, as they come."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def __call__(self, event: Any) -> None:
        self.events.append(event)

    def types(self) -> list[str]:
        return [event.type for event in self.events]


def made(client: Any, path: str) -> str:
    """An ephemeral, sequential node."""
    return str(client.create(path, ephemeral=True, sequence=True))


# -- nodes -------------------------------------------------------------------------------------------------------------


def test_a_node_can_be_read_as_it_was_made(arena: Arena) -> None:
    zk = arena.client()
    assert zk.create(arena.root, b"apples") == arena.root
    value, stat = zk.get(arena.root)
    assert (value, stat.version, stat.ephemeralOwner, stat.dataLength) == (b"apples", 0, 0, 6)


def test_a_node_that_exists_is_not_made_twice(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    with pytest.raises(NodeExistsError):
        zk.create(arena.root)


def test_what_is_missing_is_told(arena: Arena) -> None:
    zk = arena.client()
    for call in (zk.get, zk.get_children, zk.delete):
        with pytest.raises(NoNodeError):
            call(arena.root)
    assert zk.exists(arena.root) is None


def test_a_node_needs_a_parent(arena: Arena) -> None:
    with pytest.raises(NoNodeError):
        arena.client().create(f"{arena.root}/a")


def test_an_ephemeral_node_has_no_children(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root, ephemeral=True)
    with pytest.raises(NoChildrenForEphemeralsError):
        zk.create(f"{arena.root}/a")


def test_a_node_with_children_is_not_deleted(arena: Arena) -> None:
    zk = arena.client()
    zk.ensure_path(f"{arena.root}/a")
    with pytest.raises(NotEmptyError):
        zk.delete(arena.root)


def test_a_delete_or_a_change_of_another_version_is_refused(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    assert zk.set(arena.root, b"2", version=0).version == 1
    with pytest.raises(BadVersionError):
        zk.set(arena.root, b"3", version=0)
    with pytest.raises(BadVersionError):
        zk.delete(arena.root, version=0)
    assert zk.get(arena.root)[0] == b"2"


def test_the_stat_tells_which_transaction_did_what(arena: Arena) -> None:
    zk = arena.client()
    stat = zk.create(arena.root, include_data=True)[1]
    assert stat.czxid == stat.mzxid == stat.pzxid
    changed = zk.set(arena.root, b"x")
    child = zk.create(f"{arena.root}/a", include_data=True)[1]
    after = zk.exists(arena.root)
    assert (after.czxid, after.mzxid, after.pzxid) == (stat.czxid, changed.mzxid, child.czxid)
    assert stat.czxid < changed.mzxid < child.czxid


def test_the_children_are_counted_as_they_come_and_go(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    for name in "ab":
        zk.create(f"{arena.root}/{name}")
    zk.delete(f"{arena.root}/a")
    stat = zk.exists(arena.root)
    assert (stat.numChildren, stat.cversion) == (1, 3)


def test_an_ephemeral_node_names_its_session(arena: Arena) -> None:
    zk = arena.client()
    stat = zk.create(arena.root, ephemeral=True, include_data=True)[1]
    assert stat.ephemeralOwner == zk.client_id[0]


def test_a_sync_answers_with_its_path_also_for_a_node_that_is_not_there(arena: Arena) -> None:
    zk = arena.client()
    assert zk.sync(arena.root) == arena.root
    zk.create(arena.root)
    assert zk.sync(arena.root) == arena.root


# -- sequence ----------------------------------------------------------------------------------------------------------


def test_numbers_have_ten_digits_and_count_all_children(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    assert made(zk, f"{arena.root}/a-") == f"{arena.root}/a-0000000000"
    zk.create(f"{arena.root}/plain")
    zk.delete(f"{arena.root}/a-0000000000")
    assert made(zk, f"{arena.root}/b-") == f"{arena.root}/b-0000000002"


def test_numbers_start_again_under_a_parent_that_was_made_anew(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    zk.delete(made(zk, f"{arena.root}/a-"))
    zk.delete(arena.root)
    zk.create(arena.root)
    assert made(zk, f"{arena.root}/a-").endswith("-0000000000")


def test_the_czxid_grows_also_under_a_parent_that_was_made_anew(arena: Arena) -> None:
    zk = arena.client()
    found = []
    for _ in range(2):
        zk.create(arena.root)
        path, stat = zk.create(f"{arena.root}/a-", ephemeral=True, sequence=True, include_data=True)
        found.append(stat.czxid)
        zk.delete(path)
        zk.delete(arena.root)
    assert found[0] < found[1]


def test_an_empty_container_is_deleted(arena: Any) -> None:
    zk = arena.client()
    arena.container(zk, arena.root)
    zk.delete(made(zk, f"{arena.root}/a-"))
    gone, heard = threading.Event(), Heard()
    zk.exists(arena.root, watch=lambda event: (heard(event), gone.set()))
    assert gone.wait(100.0)
    assert heard.types() == ["DELETED"]


# -- watches -----------------------------------------------------------------------------------------------------------


def test_a_watch_fires_once(arena: Arena) -> None:
    zk, heard = arena.client(), Heard()
    zk.create(arena.root)
    zk.get(arena.root, watch=heard)
    zk.set(arena.root, b"1")
    zk.set(arena.root, b"2")
    later = Heard()
    zk.get(arena.root, watch=later)
    zk.set(arena.root, b"3")
    until(later.types)
    assert heard.types() == ["CHANGED"]


@pytest.mark.parametrize("how", ["exists", "get"])
def test_a_watched_node_that_goes_is_told(arena: Arena, how: str) -> None:
    zk, other, heard = arena.client(), arena.client(), Heard()
    zk.create(arena.root)
    getattr(zk, how)(arena.root, watch=heard)
    other.delete(arena.root)
    event = until(lambda: heard.events)[0]
    assert (event.type, event.path) == ("DELETED", arena.root)


def test_a_missing_node_can_be_watched(arena: Arena) -> None:
    zk, heard = arena.client(), Heard()
    assert zk.exists(arena.root, watch=heard) is None
    arena.client().create(arena.root)
    assert until(heard.types) == ["CREATED"]


def test_a_get_of_a_missing_node_leaves_no_watch(arena: Arena) -> None:
    zk, heard, later = arena.client(), Heard(), Heard()
    with pytest.raises(NoNodeError):
        zk.get(arena.root, watch=heard)
    zk.exists(arena.root, watch=later)
    zk.create(arena.root)
    until(later.types)
    assert heard.types() == []


def test_children_that_come_or_go_are_told(arena: Arena) -> None:
    zk = arena.client()
    zk.create(arena.root)
    for act in (zk.create, zk.delete):
        heard = Heard()
        zk.get_children(arena.root, watch=heard)
        act(f"{arena.root}/a")
        assert until(heard.types) == ["CHILD"]


def test_a_watch_on_children_does_not_hear_of_the_value(arena: Arena) -> None:
    zk, heard, later = arena.client(), Heard(), Heard()
    zk.create(arena.root)
    zk.get_children(arena.root, watch=heard)
    zk.get(arena.root, watch=later)
    zk.set(arena.root, b"1")
    until(later.types)
    assert heard.types() == []


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_a_closed_session_takes_its_ephemeral_nodes_along(arena: Arena) -> None:
    zk, other, heard = arena.client(), arena.client(), Heard()
    zk.create(arena.root, ephemeral=True)
    other.exists(arena.root, watch=heard)
    zk.stop()
    assert until(heard.types) == ["DELETED"]


def test_a_session_that_runs_out_takes_its_ephemeral_nodes_along(arena: Arena) -> None:
    zk, other, heard = arena.client(), arena.client(), Heard()
    zk.create(arena.root, ephemeral=True)
    other.exists(arena.root, watch=heard)
    arena.cut(zk)
    assert until(heard.types) == ["DELETED"]


def test_a_client_that_is_cut_off_is_suspended_and_lost_only_when_it_is_told(arena: Arena) -> None:
    zk, states = arena.client(), Heard()
    zk.add_listener(states)
    arena.sleep_through(zk)
    assert states.events == ["SUSPENDED", "LOST", "CONNECTED"]


def test_a_short_cut_leaves_the_session_and_its_nodes(arena: Arena) -> None:
    zk, states, before = arena.client(), Heard(), None
    zk.create(arena.root, ephemeral=True)
    before = zk.client_id
    zk.add_listener(states)
    arena.cut(zk)
    until(lambda: states.events)
    arena.heal(zk)
    until(lambda: len(states.events) == 2)
    assert (states.events, zk.client_id) == (["SUSPENDED", "CONNECTED"], before)
    assert zk.exists(arena.root) is not None


def test_watches_fire_when_the_connection_goes(arena: Arena) -> None:
    zk, heard = arena.client(), Heard()
    zk.exists(arena.root, watch=heard)
    arena.cut(zk)
    assert until(heard.types) == ["NONE"]


def test_a_restart_keeps_nodes_and_sessions(arena: Any) -> None:
    zk, states = arena.client(timeout=LONG), Heard()
    zk.create(arena.root, b"kept", ephemeral=True)
    before, stat = zk.client_id, zk.exists(arena.root)
    zk.add_listener(states)
    arena.restart()
    until(lambda: states.events[-1:] == ["CONNECTED"])
    assert (zk.client_id, zk.get(arena.root)) == (before, (b"kept", stat))
    assert "LOST" not in states.events


# -- the lock ----------------------------------------------------------------------------------------------------------


def locks(
    arena: Arena, many: int, kind: type[ZooKeeperLock] = ZooKeeperLock, timeout: float = TIMEOUT
) -> list[ZooKeeperLock]:
    """Locks on one path, each of a client of its own."""
    return [kind(arena.client(timeout), arena.root) for _ in range(many)]


def taken(lock: ZooKeeperLock) -> Any:
    lease = lock.try_acquire()
    assert lease is not None
    return lease


def waiting(lock: ZooKeeperLock, got: list[Any]) -> threading.Thread:
    """A thread that waits for the lock; it stands in the queue when this returns."""
    before = len(lock._children())
    thread = threading.Thread(target=lambda: got.append((lock, lock.acquire(PATIENCE))), daemon=True)
    thread.start()
    until(lambda: len(lock._children()) > before)
    return thread


def test_a_lease_names_the_own_node_and_its_czxid(arena: Arena) -> None:
    (lock,) = locks(arena, 1)
    lease = taken(lock)
    assert lease.name == arena.root
    assert lease.token.startswith(f"{arena.root}/")
    assert lease.fence == lock.zk.exists(lease.token).czxid
    assert lease.remaining() == inf


def test_who_comes_second_is_refused_and_leaves_no_node(arena: Arena) -> None:
    one, other = locks(arena, 2)
    lease = taken(one)
    assert other.try_acquire() is None
    assert one.zk.get_children(arena.root) == [lease.token.rpartition("/")[2]]


def test_a_wait_ends_with_its_timeout_and_leaves_no_node(arena: Arena) -> None:
    one, other = locks(arena, 2)
    taken(one)
    assert other.acquire(0.05) is None
    assert len(one.zk.get_children(arena.root)) == 1


def test_waiters_get_it_in_the_order_of_their_coming_with_growing_tokens(arena: Arena) -> None:
    first, *others = locks(arena, 4)
    lease, got = taken(first), list[Any]()
    threads = [waiting(lock, got) for lock in others]
    fences = [lease.fence]
    first.release(lease)
    for nth, lock in enumerate(others):
        until(lambda nth=nth: len(got) > nth)
        assert got[nth][0] is lock
        fences.append(got[nth][1].fence)
        lock.release(got[nth][1])
    assert fences == sorted(set(fences))
    for thread in threads:
        thread.join()


def test_a_holder_whose_session_ends_makes_room_and_is_told(arena: Arena) -> None:
    one, other = locks(arena, 2)
    lost = Heard()
    one.on_lost = lost
    lease, got = taken(one), list[Any]()
    thread = waiting(other, got)
    arena.sleep_through(one.zk)
    thread.join()
    assert lost.events == ["SUSPENDED", "LOST"]
    assert not one.holding(lease)
    assert other.holding(got[0][1])
    with pytest.raises(LeaseLost):
        one.release(lease)
    assert got[0][1].fence > lease.fence


def test_a_suspended_holder_is_not_holding_and_may_be_again(arena: Arena) -> None:
    (lock,) = locks(arena, 1)
    lease = taken(lock)
    arena.cut(lock.zk)
    until(lambda: not lock.holding(lease))
    arena.heal(lock.zk)
    until(lambda: lock.holding(lease))
    assert lock.extend(lease) == lease


def test_a_waiter_whose_session_ends_is_told(arena: Arena) -> None:
    one, other = locks(arena, 2)
    taken(one)
    told = Heard()

    def wait() -> None:
        try:
            other.acquire(10 * PATIENCE)
        except LeaseLost as lost:
            told(lost)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    until(lambda: len(one._children()) == 2)
    arena.sleep_through(other.zk)
    thread.join()
    assert [lost.reason for lost in told.events] == ["lost"]


def test_a_lock_outlives_a_restart(arena: Any) -> None:
    one, other = locks(arena, 2, timeout=LONG)
    lease = taken(one)
    mine, others = Heard(), Heard()
    one.zk.add_listener(mine)
    other.zk.add_listener(others)
    arena.restart()
    until(lambda: mine.events[-1:] == others.events[-1:] == ["CONNECTED"])
    assert one.extend(lease) == lease
    assert other.try_acquire() is None


@pytest.mark.parametrize(("lock_class", "grows"), [(ZooKeeperLock, True), (SuffixTokenLock, False)])
def test_whether_the_token_grows_when_the_parent_was_reaped(arena: Arena, lock_class: Any, grows: bool) -> None:
    one, other = locks(arena, 2, lock_class)
    old = taken(one)
    arena.sleep_through(one.zk)
    other.zk.delete(arena.root)  # nobody is in the queue
    assert (taken(other).fence > old.fence) is grows


# -- the herd ----------------------------------------------------------------------------------------------------------


def wake_ups(arena: Arena, kind: type[ZooKeeperLock], waiters: int) -> list[int]:
    """How many watches fire at each release, one holder after the other until all have had their turn."""
    first, *others = locks(arena, waiters + 1, kind)
    watched, fired = dict[Any, str](), Heard()
    for lock in others:
        note_watches(lock, watched, fired)
    holder, got, found = (first, taken(first)), list[Any](), list[int]()
    threads = [waiting(lock, got) for lock in others]
    until(lambda: len(watched) == waiters)
    for left in range(waiters, 0, -1):
        before, gone = len(fired.events), holder[1].token
        holder[0].release(holder[1])
        until(lambda left=left: len(got) > waiters - left)
        holder = got[-1]
        del watched[holder[0]]
        until(lambda gone=gone: gone not in watched.values())  # the others watch somebody who is there
        found.append(len(fired.events) - before)
    for thread in threads:
        thread.join()
    return found


def note_watches(lock: ZooKeeperLock, watched: dict[Any, str], fired: Heard) -> None:
    """Which node a lock watches, and each event of such a watch."""
    get = lock.zk.get

    def watching(path: str, watch: Any) -> Any:
        found = get(path, watch=lambda event: (fired(event), watch(event)))
        watched[lock] = path
        return found

    lock.zk.get = watching


@pytest.mark.parametrize(
    ("lock_class", "expected"), [(ZooKeeperLock, [1] * WAITERS), (HerdLock, list(range(WAITERS, 0, -1)))]
)
def test_how_many_waiters_a_release_wakes(arena: Arena, lock_class: type[ZooKeeperLock], expected: list[int]) -> None:
    assert wake_ups(arena, lock_class, WAITERS) == expected
