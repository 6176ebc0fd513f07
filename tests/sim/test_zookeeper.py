"""What the model of ZooKeeper adds to the real one's ways: virtual time, faults, the truth, and clear refusals. That it
behaves like the real one is shown in tests/conformance/test_zookeeper.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, NoNodeError, SessionExpiredError

from labkit.faults import ClockStep, Crash, Partition, Pause
from labkit.sim import Fate, World
from labkit.sim.zookeeper import ZooKeeper
from tests.sim.playing import at, notes, play, result

TIMEOUT = 9.0


def connected(me: Any, timeout: float = TIMEOUT) -> Any:
    zk = me.zookeeper("zk", timeout=timeout)
    zk.start()
    return zk


def states_of(zk: Any) -> list[str]:
    states = list[str]()
    zk.add_listener(states.append)
    return states


def holding(path: str, seconds: float) -> Callable[[Any], None]:
    """A client that has an ephemeral, sequential node for some time."""

    def code(me: Any) -> None:
        zk = connected(me)
        zk.ensure_path("/stock")
        zk.create(path, ephemeral=True, sequence=True)
        time.sleep(seconds)

    return code


def spans(timeline: Any) -> list[tuple[str, str, float, float]]:
    """Who stood at the head of the queue, by what node, from when to when."""
    return [(h.owner, h.value, round(h.start, 1), round(h.end, 1)) for h in timeline.truth("/stock")]


# -- sessions in virtual time ------------------------------------------------------------------------------------------


def test_a_client_pings_after_each_third_without_a_request() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        time.sleep(2.0)
        zk.exists("/a")
        time.sleep(7.0)

    pings = [round(event.t, 1) for event in play(code).find("send") if event.name == "PING"]
    assert pings == [5.0, 8.0]


def test_a_session_ends_when_its_client_stands_still_for_longer() -> None:
    def code(me: Any) -> list[str]:
        zk = connected(me)
        states = states_of(zk)
        zk.create("/a", ephemeral=True)
        time.sleep(20.0)
        return [*states, str(zk.exists("/a"))]

    assert result(code, faults=[Pause("A", 10.0, at=1.0)]) == ["SUSPENDED", "LOST", "CONNECTED", "None"]


def test_a_shorter_pause_does_no_harm() -> None:
    def code(me: Any) -> tuple[list[str], bool]:
        zk = connected(me)
        states = states_of(zk)
        zk.create("/a", ephemeral=True)
        time.sleep(20.0)
        return states, zk.exists("/a") is not None

    assert result(code, faults=[Pause("A", 6.0, at=1.0)]) == ([], True)


def test_a_step_of_the_wall_clock_changes_nothing() -> None:
    steps = [ClockStep("zk", by=1000.0, at=2.0), ClockStep("zk", by=-2000.0, at=4.0), ClockStep("A", by=500.0, at=5.0)]
    with World() as world:
        world.service("zk", ZooKeeper)
        world.client("A").start(holding("/stock/a-", 20.0))
        for step in steps:
            world.arm(step)
        timeline = world.run(until=60.0)
    assert [(hold.owner, hold.why) for hold in timeline.truth("/stock")] == [("A", "open")]
    assert timeline.end > 15.0


def test_the_truth_names_who_made_the_head_of_the_queue() -> None:
    def second(me: Any) -> None:
        time.sleep(1.0)
        holding("/stock/b-", 20.0)(me)

    timeline = play(holding("/stock/a-", 30.0), second, faults=[Crash("A", at=2.0)])
    (first, then) = spans(timeline)
    assert first[:3] == ("A", "/stock/a-0000000000", 0.0)
    assert then[:3] == ("B", "/stock/b-0000000001", first[3])
    assert TIMEOUT - 3.0 < first[3] - 2.0 <= TIMEOUT


def test_only_ephemeral_and_sequential_children_are_a_queue() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        zk.ensure_path("/stock")
        zk.create("/stock/plain-0000000000")
        zk.create("/stock/a-", sequence=True)
        zk.create("/stock/b-0000000000", ephemeral=True)
        zk.create("/stock/c-", ephemeral=True, sequence=True)

    assert [hold.value for hold in play(code).truth()] == ["/stock/c-0000000003"]


def test_the_ensemble_tells_of_a_watched_node_once() -> None:
    with World() as world:
        session = world.service("zk", ZooKeeper).database.session()
        for words in (b"CONNECT 9000 0", b"CREATE /a x", b"GET -w /a", b"SET /a -1 y"):
            session.execute(words.split())
        session.replies()
        session.execute(b"SET /a -1 z".split())
        assert len(session.replies()) == 1


def test_a_new_leader_gives_each_session_its_whole_time_out_again() -> None:
    def code(me: Any) -> tuple[list[str], bool]:
        zk = connected(me)
        states = states_of(zk)
        zk.create("/a", ephemeral=True)
        me.world.hub.outside(me.world.restart, "zk", True, 15.0)
        time.sleep(30.0)
        return states, zk.exists("/a") is not None

    assert result(code) == (["SUSPENDED", "CONNECTED"], True)


def test_wiped_disks_forget_sessions_and_nodes() -> None:
    def code(me: Any) -> tuple[list[str], Any]:
        zk = connected(me)
        states = states_of(zk)
        zk.create("/a")
        me.world.hub.outside(me.world.restart, "zk", False)
        time.sleep(5.0)
        return states, zk.exists("/a")

    assert result(code) == (["SUSPENDED", "LOST", "CONNECTED"], None)


def test_a_container_is_reaped_in_the_next_round_and_not_before() -> None:
    def code(me: Any) -> list[bool]:
        zk = connected(me)
        zk.create("/stock", container=True)
        zk.delete(zk.create("/stock/a-", sequence=True))
        time.sleep(59.0)
        before = zk.exists("/stock") is not None
        time.sleep(2.0)
        return [before, zk.exists("/stock") is not None]

    assert result(code) == [True, False]


def test_a_time_out_is_negotiated() -> None:
    assert result(lambda me: [connected(me, asked).timeout for asked in (0.2, 7.0, 500.0)]) == [1.0, 7.0, 60.0]


def test_the_threads_of_a_client_do_not_keep_its_process_alive() -> None:
    timeline = play(lambda me: connected(me) and None)
    assert timeline.end < 0.1


def test_equal_seeds_give_equal_runs() -> None:
    runs = [play(holding("/stock/a-", 12.0), holding("/stock/b-", 5.0), seed=5).events for _ in range(2)]
    assert runs[0] == runs[1]


# -- requests that go astray -------------------------------------------------------------------------------------------


def drop(name: str, direction: str) -> Callable[[Any], Fate | None]:
    return lambda packet: Fate(lost=True) if (packet.name, packet.direction) == (name, direction) else None


def with_rule(rule: Any, code: Callable[[Any], Any]) -> Any:
    def under_it(me: Any) -> Any:
        me.world.rule(rule)
        return code(me)

    return result(under_it)


@pytest.mark.parametrize("direction", ["request", "reply"])
def test_a_call_without_an_answer_is_a_connection_loss_within_two_thirds(direction: str) -> None:
    def code(me: Any) -> float:
        zk = connected(me)
        time.sleep(1.0)
        with pytest.raises(ConnectionLoss):
            zk.create("/a")
        return at() - 1.0

    assert 0.0 < with_rule(drop("CREATE", direction), code) <= TIMEOUT * 2 / 3 + 0.01


def test_a_call_under_way_when_the_session_ends_is_told_so() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        data = me.world.server_called("zk").database
        me.world.at(me.world.now + 1.0, lambda: data.expire(data.lives[zk.client_id[0]]))
        with pytest.raises(SessionExpiredError):
            zk.get("/a")
        with pytest.raises(NoNodeError):  # the next one goes over a new session
            zk.get("/b")

    with_rule(lambda packet: Fate(after=5.0) if packet.text == "GET /a" else None, code)


def test_a_request_that_arrives_after_its_session_has_moved_is_not_executed() -> None:
    def code(me: Any) -> Any:
        zk = connected(me)
        with pytest.raises(ConnectionLoss):
            zk.create("/a")
        time.sleep(20.0)
        return zk.exists("/a")

    assert with_rule(lambda packet: Fate(after=8.0) if packet.text.startswith("CREATE") else None, code) is None


def test_a_copy_of_a_request_on_another_connection_is_not_executed() -> None:
    def code(me: Any) -> list[str]:
        zk = connected(me)
        zk.create("/a-", sequence=True)
        time.sleep(1.0)
        return list(zk.get_children("/"))

    again = with_rule(lambda packet: Fate(again=0.5) if packet.name == "CREATE" else None, code)
    assert again == ["a-0000000000"]


def test_a_call_without_a_connection_waits_for_the_next_one() -> None:
    def code(me: Any) -> tuple[bytes, bool]:
        zk = connected(me)
        zk.create("/a", b"x")
        time.sleep(7.5)
        assert not zk.connected
        return zk.get("/a")[0], at() > 8.0

    assert result(code, faults=[Partition("A", "zk", at=0.1, lasting=8.0)], servers=()) == (b"x", True)


def test_a_call_that_waits_for_a_connection_hears_that_the_session_has_ended() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        time.sleep(8.0)
        assert not zk.connected
        with pytest.raises(SessionExpiredError):
            zk.exists("/a")

    result(code, faults=[Partition("A", "zk", at=0.1, lasting=30.0)], servers=())


# -- the client --------------------------------------------------------------------------------------------------------


def test_children_come_in_no_useful_order() -> None:
    def code(me: Any) -> list[str]:
        zk = connected(me)
        for _ in range(8):
            zk.create("/a-", sequence=True)
        return list(zk.get_children("/"))

    names = result(code)
    assert sorted(names) != names
    assert len(names) == 8


def test_a_watch_is_called_on_another_thread() -> None:
    def code(me: Any) -> bool:
        from threading import get_ident

        zk, on = connected(me), list[int]()
        zk.exists("/a", watch=lambda event: on.append(get_ident()))
        zk.create("/a")
        time.sleep(0.1)
        return len(on) == 1 and on[0] != get_ident()

    assert result(code)


def test_a_watch_that_raises_is_noted_and_the_next_one_is_called() -> None:
    def code(me: Any) -> None:
        zk, heard = connected(me), list[Any]()
        zk.exists("/a", watch=lambda event: 1 / 0)
        zk.exists("/a", watch=heard.append)
        zk.create("/a")
        time.sleep(0.1)
        assert [event.type for event in heard] == ["CREATED"]

    (said,) = notes(play(code))
    assert "ZeroDivisionError" in said


def test_a_listener_that_returns_true_is_removed() -> None:
    def code(me: Any) -> list[str]:
        zk, once, ever = connected(me), list[str](), list[str]()
        zk.add_listener(lambda state: once.append(state) is None)
        zk.add_listener(ever.append)
        time.sleep(30.0)
        assert ever == ["SUSPENDED", "CONNECTED"]
        return once

    assert result(code, faults=[Partition("A", "zk", at=0.1, lasting=8.0)], servers=()) == ["SUSPENDED"]


def test_a_listener_that_asks_is_told_that_it_would_wait_for_itself() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        zk.add_listener(lambda state: zk.exists("/a"))
        time.sleep(30.0)

    timeline = play(code, faults=[Partition("A", "zk", at=0.1, lasting=8.0)], servers=())
    assert all("hand the news on" in note for note in notes(timeline))
    assert len(notes(timeline)) == 2


def test_a_client_that_was_stopped_says_so_and_can_be_started_again() -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        zk.create("/a", ephemeral=True)
        zk.stop()
        assert (zk.connected, zk.client_id, zk.state) == (False, None, "LOST")
        with pytest.raises(ConnectionClosedError, match="start"):
            zk.exists("/a")
        zk.start()
        assert zk.exists("/a") is None

    result(code)


def test_an_ensemble_that_cannot_be_reached_is_named_in_time() -> None:
    def code(me: Any) -> float:
        me.world.network.cut("A", "zk")
        with pytest.raises(TimeoutError, match="zk could not be reached within 5 s"):
            me.zookeeper("zk").start(5.0)
        return at()

    with World() as world:
        world.service("zk", ZooKeeper)
        found = list[float]()
        world.client("A").start(lambda me: found.append(code(me)))
        world.run()
    assert 5.0 <= found[0] < 20.0


# -- what it has not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda zk: zk.transaction(), AttributeError, "has no 'transaction'; it has .*get_children"),
        (lambda zk: zk.create("/a", acl=[]), NotImplementedError, "no ACLs"),
        (lambda zk: zk.create("/a", b"", None), NotImplementedError, "give the rest by name"),
        (lambda zk: zk.create("a"), ValueError, "no path"),
        (lambda zk: zk.create("/a/"), ValueError, "no path"),
        (lambda zk: zk.create("/a", "text"), TypeError, "no bytes"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_a_sentence(wrong: Any, error: type[Exception], says: str) -> None:
    def code(me: Any) -> None:
        with pytest.raises(error, match=says):
            wrong(connected(me))

    result(code)


def test_a_request_that_the_ensemble_does_not_know_is_answered_with_those_it_knows() -> None:
    with World() as world:
        session = world.service("zk", ZooKeeper).database.session()
        session.execute([b"MULTI"])
    (reply,) = session.replies()
    assert reply.startswith(b"-Unimplemented The model of ZooKeeper knows no MULTI; it has PING, ")


@pytest.mark.parametrize("act", [lambda world: world.replica("r1", of="zk"), lambda world: world.flush("zk")])
def test_an_ensemble_is_neither_copied_nor_flushed(act: Callable[[World], Any]) -> None:
    def code(me: Any) -> None:
        zk = connected(me)
        zk.create("/a-", ephemeral=True, sequence=True)
        with pytest.raises(ValueError, match="ensemble"):
            me.world.hub.outside(act, me.world)

    result(code)
