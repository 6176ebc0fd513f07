"""ZooKeeperLock under faults, and its broken forms. What it does without any, in the world and on a real server, stands
in tests/conformance/test_zookeeper.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo.exceptions import ConnectionLoss
from redis.exceptions import RedisError

from labkit.checks import judge
from labkit.explore import Outcome, search
from labkit.locks import Lease, LeaseLost, Misuse, NotAcquired
from labkit.locks.broken.suffix_as_token import SuffixTokenLock
from labkit.locks.zookeeper import ZooKeeperLock
from labkit.sim import Fate, World
from labkit.stores import FencedRegister, Register
from labkit.stories import play
from labkit.stories.herd import MOST, wake_ups
from labkit.story import Param, Story

TIMEOUT = 9.0


class Scene:
    """What a test meddles with while client A plays it."""

    def __init__(self, me: Any) -> None:
        self.me, self.world = me, me.world

    def lock(self, client: str = "A", kind: type[ZooKeeperLock] = ZooKeeperLock, **options: Any) -> ZooKeeperLock:
        zk = self.world.client(client).zookeeper("zk", timeout=TIMEOUT)
        zk.start()
        return kind(zk, "/stock", **options)

    def cut(self, client: str = "A") -> None:
        self.world.network.cut(client, "zk")

    def heal(self, client: str = "A") -> None:
        self.world.network.heal(client, "zk")

    def suspended(self, lock: ZooKeeperLock, client: str = "A") -> None:
        """Its link is cut, and it has noticed."""
        self.cut(client)
        while lock.zk.connected:
            time.sleep(0.1)

    def queue(self) -> list[str]:
        """What stands under the lock's path, by what the ensemble knows."""
        return list(self.world.server_called("zk").database.tree.nodes["/stock"].children)

    def requests(self, client: str) -> list[str]:
        """Those that a client sends from now on."""
        names = list[str]()
        self.world.trigger(lambda packet: names.append(packet.name) if packet.client == client else None)
        return names


def played(code: Callable[[Scene], None]) -> Callable[[], None]:
    """A test that is the code of client A."""

    def test() -> None:
        with World() as world:
            world.client("A").start(lambda me: code(Scene(me)))
            timeline = world.run()
        assert not [event for event in timeline.find("note") if event.data.get("unfinished")]

    test.__doc__ = code.__doc__
    return test


def taken(lock: ZooKeeperLock) -> Lease:
    lease = lock.try_acquire()
    assert lease is not None
    return lease


def waiting(lock: ZooKeeperLock, timeout: float | None = None) -> list[Any]:
    """Its lease, or what it raised, once the wait is over."""
    ended = list[Any]()

    def wait() -> None:
        try:
            ended.append(lock.acquire(timeout))
        except Exception as error:
            ended.append(error)

    Thread(target=wait, daemon=True).start()
    time.sleep(0.1)
    return ended


class Behind:
    """Between a lock and its client: the member that it has come to lags behind. It shows an empty queue until `sync`,
    or until a transaction of one's own has been acknowledged. The first create's reply ends as `fails` says."""

    def __init__(self, lock: ZooKeeperLock, fails: BaseException) -> None:
        self._zk, self._lags, self._fails = lock.zk, True, [fails]
        lock.zk = self

    def create(self, path: str, value: bytes, **options: Any) -> Any:
        made = self._zk.create(path, value, **options)
        if self._fails:
            raise self._fails.pop()
        self._lags = False
        return made

    def sync(self, path: str) -> str:
        self._lags = False
        return str(self._zk.sync(path))

    def get_children(self, path: str) -> list[str]:
        return [] if self._lags else list(self._zk.get_children(path))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._zk, name)


# -- waiting -----------------------------------------------------------------------------------------------------------


@played
def test_nothing_is_asked_while_nothing_changes(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    lease = taken(one)
    ended = waiting(other)
    asked = scene.requests("B")
    time.sleep(30.0)
    assert set(asked) == {"PING"}
    one.release(lease)
    time.sleep(0.1)
    assert ended[0].fence > lease.fence


@played
def test_a_wait_ends_in_time_also_while_the_ensemble_is_out_of_reach(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    taken(one)
    began = time.monotonic()
    scene.world.at(scene.world.now + 1.0, lambda: scene.cut("B"))
    assert other.acquire(8.0) is None
    assert time.monotonic() - began == pytest.approx(8.0)


@played
def test_who_cannot_ask_at_all_says_so(scene: Scene) -> None:
    lock = scene.lock()
    scene.suspended(lock)
    with pytest.raises(ConnectionLoss, match="not connected"):
        lock.try_acquire()


@played
def test_a_node_left_behind_by_a_lost_connection_is_cleared_away_later(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    lease = taken(one)
    ended = waiting(other, timeout=7.5)
    scene.suspended(other, "B")
    time.sleep(1.6)
    assert ended == [None]
    assert len(scene.queue()) == 2
    scene.heal("B")
    time.sleep(3.0)
    assert scene.queue() == [lease.token.rpartition("/")[2]]


@played
def test_a_waiter_whose_predecessor_gives_up_goes_on_waiting(scene: Scene) -> None:
    first, second, third = scene.lock("A"), scene.lock("B"), scene.lock("C")
    lease = taken(first)
    ended = waiting(second, timeout=5.0), waiting(third)
    time.sleep(6.0)
    assert ended == ([None], [])
    first.release(lease)
    time.sleep(0.1)
    assert isinstance(ended[1][0], Lease)


@played
def test_a_predecessor_that_leaves_between_two_looks_is_not_waited_for(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    lease, get = taken(one), other.zk.get

    def late(path: str, watch: Any) -> Any:
        one.release(lease)
        return get(path, watch)

    other.zk.get = late
    assert other.acquire(5.0) is not None


@played
def test_a_waiter_whose_node_is_gone_is_told(scene: Scene) -> None:
    """An operator has deleted it; the session is alive."""
    one, other = scene.lock("A"), scene.lock("B")
    lease = taken(one)
    ended = waiting(other)
    one.zk.delete(f"/stock/{max(scene.queue(), key=lambda name: name[-10:])}")
    one.release(lease)
    time.sleep(0.1)
    assert isinstance(ended[0], LeaseLost)


@played
def test_a_session_that_ends_during_a_call_takes_the_place_in_the_queue_along(scene: Scene) -> None:
    lock = scene.lock()
    lock.zk.ensure_path("/stock")
    data = scene.world.server_called("zk").database
    scene.world.rule(lambda packet: Fate(after=2.0) if packet.name == "CHILDREN" else None)
    scene.world.at(scene.world.now + 1.0, lambda: data.expire(data.lives[lock.zk.client_id[0]]))
    with pytest.raises(LeaseLost):
        lock.try_acquire()


@pytest.mark.parametrize("direction", ["request", "reply"])
def test_a_grant_whose_reply_is_lost_is_found_again(direction: str) -> None:
    """One node in the queue, whether the request got through or not."""

    @played
    def test(scene: Scene) -> None:
        lock = scene.lock()
        lock.zk.ensure_path("/stock")
        lost = list[Any]()

        def lose(packet: Any) -> Fate | None:
            hit = packet.text.startswith("CREATE -e") and packet.direction == direction and not lost
            lost.extend([packet] if hit else [])
            return Fate(lost=True) if hit else None

        scene.world.rule(lose)
        lease = lock.acquire(60.0)
        assert lost
        assert lease is not None
        assert scene.queue() == [lease.token.rpartition("/")[2]]
        assert lease.fence == lock.zk.exists(lease.token).czxid

    test()


@played
def test_a_member_that_lags_behind_does_not_make_the_lock_queue_up_behind_itself(scene: Scene) -> None:
    lock = scene.lock()
    lock.zk.ensure_path("/stock")
    Behind(lock, ConnectionLoss("its reply is lost"))
    lease = lock.acquire(2.0)
    assert lease is not None
    assert scene.queue() == [lease.token.rpartition("/")[2]]
    assert lease.token.endswith("-0000000000")  # the place of the create whose reply was lost


@played
def test_a_create_that_was_interrupted_leaves_no_node_that_a_lagging_member_hides(scene: Scene) -> None:
    lock = scene.lock()
    lock.zk.ensure_path("/stock")
    Behind(lock, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        lock.acquire(2.0)
    assert scene.queue() == []


@pytest.mark.parametrize("earlier", [True, False])
def test_a_second_node_of_ones_own_is_not_waited_for_and_deleted(earlier: bool) -> None:
    @played
    def test(scene: Scene) -> None:
        lock, enter = scene.lock(), ZooKeeperLock._enter

        def twice(token: str) -> Any:
            found = enter(lock, token), enter(lock, token)
            return found[earlier]

        lock._enter = twice  # type: ignore[method-assign]
        lease = lock.acquire(2.0)
        assert lease is not None
        assert scene.queue() == [lease.token.rpartition("/")[2]]

    test()


@played
def test_who_gives_up_sends_one_delete(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    taken(one)
    asked = scene.requests("B")
    assert other.acquire(1.0) is None
    assert asked == ["CREATE", "CHILDREN", "GET", "DELETE"]


@played
def test_a_session_that_ends_before_we_have_joined_costs_nothing(scene: Scene) -> None:
    lock = scene.lock()
    scene.suspended(lock)
    ended = waiting(lock, 60.0)
    time.sleep(10.0)
    scene.heal()
    time.sleep(3.0)
    assert lock._sessions == 1
    assert lock.holding(ended[0])


@pytest.mark.parametrize("name", ["stock", "/stock/", "/", "/shop//stock", "/shop/../stock", "/./stock"])
def test_a_name_that_is_no_path_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name!r} is not the path of a lock: give one like '/stock'"):
        ZooKeeperLock(None, name)


@played
def test_the_parent_is_made_at_the_first_grant(scene: Scene) -> None:
    lock = ZooKeeperLock(scene.lock().zk, "/shop/stock/apples")
    assert taken(lock).name == "/shop/stock/apples"


# -- holding -----------------------------------------------------------------------------------------------------------


@played
def test_whoever_wants_to_know_is_told_of_doubt_and_loss(scene: Scene) -> None:
    told = list[str]()
    lock = scene.lock(on_lost=told.append)
    lease = taken(lock)
    assert lock.holding(lease)
    scene.suspended(lock)
    assert not lock.holding(lease)
    time.sleep(10.0)
    scene.heal()
    time.sleep(3.0)
    assert told == ["SUSPENDED", "LOST"]
    assert not lock.holding(lease)


@played
def test_who_holds_nothing_is_told_nothing(scene: Scene) -> None:
    told = list[str]()
    lock = scene.lock(on_lost=told.append)
    lock.release(taken(lock))
    scene.suspended(lock)
    assert told == []


@played
def test_what_nobody_can_know_is_no_loss(scene: Scene) -> None:
    lock = scene.lock()
    lease = taken(lock)
    scene.suspended(lock)
    with pytest.raises(ConnectionLoss):
        lock.extend(lease)


@played
def test_a_release_out_of_reach_is_done_later_and_may_be_repeated(scene: Scene) -> None:
    lock = scene.lock()
    lease = taken(lock)
    scene.suspended(lock)
    began = time.monotonic()
    with pytest.raises(ConnectionLoss):
        lock.release(lease)
    assert time.monotonic() == began
    scene.heal()
    time.sleep(2.0)
    assert scene.queue() == []
    lock.release(lease)  # it was ours to the end
    assert lock._held == {}


@played
def test_who_has_tried_a_release_holds_no_more_and_is_told_of_no_loss(scene: Scene) -> None:
    told = list[str]()
    lock = scene.lock(on_lost=told.append)
    lease = taken(lock)
    scene.suspended(lock)
    with pytest.raises(ConnectionLoss):
        lock.release(lease)
    with pytest.raises(LeaseLost):
        lock.extend(lease)
    scene.heal()
    time.sleep(2.0)
    assert not lock.holding(lease)
    scene.suspended(lock)
    assert told == ["SUSPENDED"]  # before the release


@played
def test_a_release_under_way_ends_the_holding(scene: Scene) -> None:
    lock, found = scene.lock(), list[bool]()
    lease, delete = taken(lock), lock.zk.delete

    def late(node: str) -> None:
        delete(node)
        found.append(lock.holding(lease))

    lock.zk.delete = late
    lock.release(lease)
    assert found == [False]


@played
def test_a_release_after_the_session_has_ended_is_told(scene: Scene) -> None:
    lock = scene.lock()
    lease = taken(lock)
    scene.suspended(lock)
    time.sleep(10.0)
    scene.heal()
    time.sleep(3.0)
    with pytest.raises(LeaseLost):
        lock.release(lease)
    with pytest.raises(LeaseLost):
        lock.extend(lease)


@played
def test_a_grant_whose_session_ended_on_the_way_is_no_grant(scene: Scene) -> None:
    """The reply has arrived, and right behind it the news that the session is over."""
    lock = scene.lock()
    lock.zk.ensure_path("/stock")
    ask = lock._before

    def late(node: str) -> Any:
        found, lock._before = ask(node), ask  # type: ignore[method-assign]
        lock._heard("LOST")
        return found

    lock._before = late  # type: ignore[method-assign]
    with pytest.raises(LeaseLost):
        lock.try_acquire()
    assert lock._held == {}


@played
def test_another_locks_lease_is_misuse(scene: Scene) -> None:
    lock = scene.lock()
    for call in (lock.release, lock.extend, lock.holding):
        with pytest.raises(Misuse):
            call(Lease("/other", "/other/x", 1, 0.0))


@played
def test_a_body_runs_under_the_lock_or_not_at_all(scene: Scene) -> None:
    one, other = scene.lock("A"), scene.lock("B")
    with one.hold(1.0) as lease:
        assert one.holding(lease)
        with pytest.raises(NotAcquired), other.hold(1.0):
            raise AssertionError("It ran.")
    assert scene.queue() == []


# -- the broken forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("recipe", "expected"), [("predecessor", [1] * MOST), ("herd", list(range(MOST, 0, -1)))])
def test_how_many_a_release_wakes(recipe: str, expected: list[int]) -> None:
    timeline = play("herd", recipe=recipe, waiters=MOST)
    assert wake_ups(timeline) == expected
    assert len(timeline.belief()) == MOST + 1
    assert judge(timeline).holds is not False


def zombie(kind: type[ZooKeeperLock]) -> list[Any]:
    """A's session ends while it works; the empty parent is reaped; B gets the lock anew and registers. What the store
    answers to B's registration, to A's late one, and to B's write."""
    found = list[Any]()

    def code(scene: Scene) -> None:
        mine = scene.lock("A", kind)
        for _ in range(3):
            mine.release(taken(mine))
        lease = taken(mine)  # the fourth in this queue
        store = FencedRegister(scene.me.redis("shop"), "sold")
        assert store.register(lease)
        scene.cut()
        time.sleep(12.0)
        other = scene.lock("B", kind)
        other.zk.delete("/stock")  # as a container is
        newer = taken(other)
        found.extend([store.register(newer), store.write(1, lease), store.write(2, newer)])

    played(code)()
    return found


def test_the_czxid_refuses_the_zombie_and_takes_the_new_holder() -> None:
    assert zombie(ZooKeeperLock) == [True, False, True]


def test_the_number_of_the_name_refuses_the_new_holder_and_takes_the_zombie() -> None:
    assert zombie(SuffixTokenLock) == [False, True, False]


# -- two clients add one -----------------------------------------------------------------------------------------------


def adding(late: float) -> Callable[[Any, SimpleNamespace], None]:
    """A client that adds one to what is sold. heeds: it asks before the write whether it is still holding."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        time.sleep(late)
        zk = me.zookeeper("zk", timeout=TIMEOUT)
        lock = me.lock(ZooKeeperLock(zk, "/stock", on_lost=lambda why: me.lost("/stock", why)), ttl=TIMEOUT)
        shop = me.redis("shop", socket_timeout=0.4)
        store = me.store(FencedRegister(shop, "sold") if p.fenced else Register(shop, "sold"), "sold")
        lease = asking(lock)
        if lease is None:
            return
        with suppress(RedisError):
            add_one(lock, store, lease, p)
        with suppress(LeaseLost, ConnectionLoss):
            lock.release(lease)
        zk.stop()
        time.sleep(2 * TIMEOUT)

    return actor


def asking(lock: Any) -> Any:
    end = time.monotonic() + 6 * TIMEOUT
    while time.monotonic() < end:
        with suppress(LeaseLost, ConnectionLoss):
            return lock.acquire(end - time.monotonic())
        time.sleep(0.2)
    return None


def add_one(lock: Any, store: Any, lease: Any, p: SimpleNamespace) -> None:
    if p.fenced and not store.register(lease):
        return
    value = store.read()
    time.sleep(p.work)
    if p.heeds and not lock.holding(lease):
        return
    store.write(value + 1, lease) if p.fenced else store.write(value + 1)


ADD = Story(
    name="add-one",
    claim="Two clients add one under ZooKeeper's lock.",
    params={
        "fenced": Param(0, 0, 1, 1, unit=""),
        "heeds": Param(1, 0, 1, 1, unit=""),
        "work": Param(1.0, 0.0, 20.0, 0.5),
    },
    actors={"A": adding(0.0), "B": adding(0.5)},
    servers=("shop",),
    durable=("shop",),
    until=200.0,
)
LASTS = {"no_lost_update", "not_stuck", "exclusive_grants", "no_stale_write", "honest"}


def outcome(check: str, *faults: str, **params: Any) -> Outcome:
    return search(ADD, check, faults=faults, most=1, menu=1, **params).outcome


def test_without_a_mishap_all_is_well() -> None:
    timeline = play(ADD)
    assert judge(timeline).holds is not False
    assert judge(timeline, "no_lost_update", "not_stuck", "exclusive_grants").holds is True


@pytest.mark.parametrize("check", sorted(LASTS))
def test_no_crash_no_change_of_the_leader_and_no_clock_breaks_it(check: str) -> None:
    assert outcome(check, "crash", "restart", "failover", "step") is Outcome.EXHAUSTED


def test_a_pause_breaks_it_for_a_store_that_takes_every_write() -> None:
    assert outcome("no_lost_update", "pause") is Outcome.BROKEN


def test_no_pause_breaks_it_for_a_store_that_compares_the_czxid() -> None:
    assert outcome("no_lost_update", "pause", fenced=1) is Outcome.EXHAUSTED


@pytest.mark.parametrize(("heeds", "expected"), [(0, Outcome.BROKEN), (1, Outcome.EXHAUSTED)])
def test_who_heeds_suspended_survives_a_cut(heeds: int, expected: Outcome) -> None:
    assert outcome("no_lost_update", "cut", work=14.0, heeds=heeds) is expected


def test_the_czxid_survives_a_cut_that_is_not_heeded() -> None:
    assert outcome("no_lost_update", "cut", work=14.0, heeds=0, fenced=1) is Outcome.EXHAUSTED


def test_runs_of_one_seed_are_equal() -> None:
    assert play(ADD, seed=7).events == play(ADD, seed=7).events
