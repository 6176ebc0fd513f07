"""How a round of Redlock goes, what it says of itself, and what is refused before any. In virtual time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest
from redis.exceptions import NoPermissionError

from labkit.faults import Delay, DropReply, Partition, Pause, Restart
from labkit.live import NOT_FOUND, RedisServer, find_binary
from labkit.locks import LeaseLost, NodeAnswer, Nodes, Redlock, Round
from labkit.locks.round import loss, mistake
from labkit.sim import World
from labkit.timeline import Timeline
from tests.conftest import missing
from tests.locks.five import FIVE, LateReply, WorldFive, clients_of, play


def timeline_of(code: Callable[[Redlock, list[Round]], None], *faults: Any, **options: Any) -> Timeline:
    """Plays code that is given a lock of client A, and the rounds that it tells of."""

    def client(me: Any) -> None:
        time.sleep(0.01)
        rounds = list[Round]()
        code(me.lock(Redlock(clients_of(me), "stock", on_round=rounds.append, **options)), rounds)

    return play(client, faults=faults)


def sent(timeline: Timeline, word: str) -> list[tuple[float, str]]:
    """When and to whom a command was sent."""
    return [(event.t, event.data["to"]) for event in timeline.find("send") if event.name.startswith(word)]


# -- before any I/O ----------------------------------------------------------------------------------------------------


def made(**options: Any) -> Redlock:
    with World() as world:
        return Redlock([world.client("A").redis(name) for name in options.pop("servers", FIVE)], "stock", **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"servers": FIVE[:4]}, "^4 nodes: give an odd number"),
        ({"servers": ()}, "^0 nodes"),
        ({"servers": ("n1", "n2", "n1")}, "^n1:6379 is there twice|^n1 is there twice"),
        ({"ttl": 0.001}, "^ttl=0.001 is no span"),
        ({"poll": 0}, "^poll=0 is no span"),
        ({"budget": 0}, "^budget=0 is no span"),
        ({"ttl": 1, "budget": 0.99}, "^budget=0.99 leaves nothing of ttl=1 s"),
        ({"max_extensions": -1}, "^max_extensions=-1: give a number from 0 on"),
        ({"max_extensions": 1.5}, "^max_extensions=1.5"),
    ],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        made(**options)


@pytest.mark.parametrize("options", [{"servers": FIVE[:1]}, {"servers": FIVE[:3]}, {"servers": FIVE[:4], "even": True}])
def test_one_node_three_and_a_meant_even_number_will_do(options: dict[str, Any]) -> None:
    assert made(**options).nodes.majority == len(options["servers"]) // 2 + 1


def test_four_nodes_need_three() -> None:
    with closing(WorldFive()) as five:

        def scenario() -> None:
            five.hold(0, 1)
            assert Redlock(five.clients()[:4], "stock", even=True).try_acquire() is None

        five.run(scenario)


# -- one round, one deadline -------------------------------------------------------------------------------------------


def test_all_nodes_are_asked_at_once() -> None:
    timeline = timeline_of(lambda lock, _: lock.try_acquire())
    assert sent(timeline, "SET") == [(0.01, name) for name in FIVE]


def test_silent_nodes_cost_one_budget_between_them() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        assert lock.try_acquire() is not None
        assert rounds[0].elapsed == pytest.approx(0.2)
        assert [node.vote for node in rounds[0].nodes] == ["yes", "unknown", "yes", "unknown", "yes"]

    timeline_of(code, *[DropReply(on="SET", server=name) for name in ("n2", "n4")])


def test_a_silent_node_does_not_hide_when_the_others_answered() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        lock.try_acquire()
        assert all(node.elapsed < 0.01 for node in rounds[0].nodes[1:])

    timeline_of(code, DropReply(on="SET", server="n1"))


def test_nodes_that_cannot_be_reached_leave_the_others_their_turn() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        assert lock.try_acquire() is not None
        assert [node.sent for node in rounds[0].nodes] == [False, False, True, True, True]
        assert rounds[0].elapsed < 0.2

    timeline_of(code, Partition("A", "n1"), Partition("A", "n2"))


def test_a_node_that_is_down_costs_nothing() -> None:
    """The clients would try ten times, with pauses; the lock does not."""

    def code(lock: Redlock, rounds: list[Round]) -> None:
        time.sleep(1.0)
        assert lock.try_acquire() is not None
        assert rounds[0].elapsed < 0.01

    timeline_of(code, Restart("n1", at=0.5, down=30.0), Restart("n2", at=0.5, down=30.0))


def test_validity_is_what_elapsed_and_drift_leave() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        lease = lock.try_acquire()
        assert lease is not None
        (only,) = rounds
        assert only.drift == pytest.approx(0.102)
        assert only.validity == pytest.approx(10 - only.elapsed - only.drift) == pytest.approx(lease.remaining())

    timeline_of(code, LateReply("SET", "A", "n5", by=0.1))


def test_an_answer_that_is_late_is_not_taken_for_the_next_one() -> None:
    """n1 answers to the SET when it is asked for the release."""

    def code(lock: Redlock, rounds: list[Round]) -> None:
        lease = lock.try_acquire()
        assert lease is not None
        time.sleep(0.5)
        lock.release(lease)
        assert [node.vote for node in rounds[-1].nodes] == ["yes"] * 5

    timeline_of(code, LateReply("SET", "A", "n1", by=0.4))


def test_the_answer_to_an_undo_is_not_taken_for_a_vote() -> None:
    """When n1 is asked again, its answer to the SET has come, and that to the undo has not."""

    def code(lock: Redlock, rounds: list[Round]) -> None:
        held = lock.nodes.clients
        for client in held[2:]:
            client.set("stock", "another's")
        assert lock.try_acquire() is None
        time.sleep(0.2)
        held[0].set("stock", "another's")
        assert lock.try_acquire() is None
        assert [done.nodes[0].vote for done in rounds if done.what == "acquire"] == ["unknown", "no"]

    of_one = ("A", "n1")
    timeline_of(code, LateReply("SET", *of_one, by=0.3, nth=1), LateReply("EVAL", *of_one, by=0.9))


def test_a_release_goes_behind_a_grant_that_is_still_on_its_way() -> None:
    def code(me: Any) -> None:
        clients = clients_of(me)
        lock = Redlock(clients, "stock")
        lease = lock.try_acquire()
        assert lease is not None
        lock.release(lease)
        time.sleep(2.0)
        found.append([client.get("stock") for client in clients])

    found = list[Any]()
    play(code, faults=[Delay(on="SET", client="A", server="n1", by=1.0)])
    assert found == [[None] * 5]


def test_an_undo_is_sent_to_all_who_were_asked_and_waits_for_none_who_is_silent() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        assert lock.try_acquire() is None
        assert [done.what for done in rounds] == ["acquire", "undo"]
        assert rounds[1].elapsed == pytest.approx(0.001)

    timeline = timeline_of(code, *[DropReply(on="SET", server=name) for name in FIVE[:3]])
    assert [name for _, name in sent(timeline, "EVAL")] == list(FIVE)


@pytest.mark.parametrize("verb", ["extend", "release"])
def test_a_first_script_goes_in_full_and_the_next_by_its_name(verb: str) -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        for _ in range(2):
            lease = lock.try_acquire()
            assert lease is not None
            getattr(lock, verb)(lease)
            lock.release(lease)

    names = [event.name.split()[:2] for event in timeline_of(code).find("send") if f" {verb} " in event.name]
    assert [words[0] for words in names[:10]] == ["EVAL"] * 5 + ["EVALSHA"] * 5


def test_an_interruption_is_undone() -> None:
    with closing(WorldFive()) as five:

        def scenario() -> None:
            def interrupted(done: Round) -> None:
                if done.what == "acquire":
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                Redlock(five.clients(), "stock", on_round=interrupted).try_acquire()
            assert five.holders() == [None] * 5

        five.run(scenario)


# -- extensions --------------------------------------------------------------------------------------------------------


def test_an_extension_that_takes_longer_than_the_lock_lasts_is_a_loss() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        lease = lock.try_acquire()
        assert lease is not None
        with pytest.raises(LeaseLost):
            lock.extend(lease)
        assert [rounds[1].count("yes"), rounds[1].granted] == [5, False]

    timeline_of(code, Pause("A", lasting=9.95, at=0.0112))  # the requests are on their way


# -- waiting -----------------------------------------------------------------------------------------------------------


def test_the_rest_between_two_tries_is_random_and_longer_than_a_try() -> None:
    def code(lock: Redlock, rounds: list[Round]) -> None:
        lock.acquire(timeout=4.0)

    def holder(me: Any) -> None:
        for client in clients_of(me)[:3]:
            client.set("stock", "another's")

    def waiter(me: Any) -> None:
        time.sleep(0.01)
        Redlock(clients_of(me), "stock", poll=0.1).acquire(timeout=4.0)

    timeline = play(waiter, holder, faults=[Delay(on="SET", client="A", server="n1", nth=1, by=0.1)])
    times = [t for t, to in sent(timeline, "SET stock") if to == "n5"]
    rests = [later - earlier for earlier, later in pairwise(times[:-1])]
    assert rests[0] > 0.2
    assert len({round(rest, 6) for rest in rests}) == len(rests) > 4
    assert max(rests) < 0.85
    assert times[-1] <= 4.02


def test_no_time_means_one_try() -> None:
    with closing(WorldFive()) as five:

        def scenario() -> None:
            five.hold(0, 1, 2)
            rounds = list[Round]()
            assert Redlock(five.clients(), "stock", on_round=rounds.append).acquire(0) is None
            assert [done.what for done in rounds] == ["acquire", "undo"]

        five.run(scenario)


# -- what a round says -------------------------------------------------------------------------------------------------


def test_a_round_is_a_small_table() -> None:
    told = list[str]()

    def code(lock: Redlock, rounds: list[Round]) -> None:
        lock.try_acquire()
        told.append(str(rounds[0]))

    faults = [DropReply(on="SET", server="n2"), Partition("A", "n4")]
    timeline_of(code, *faults)
    lines = told[0].split("\n")
    assert lines[0] == "acquire stock: granted (3 yes, 0 no, 2 unknown; 3 needed)"
    assert lines[1].split() == ["n1", "yes", lines[1].split()[2], "ms", "OK"]
    assert lines[2].endswith("no answer")
    assert "not sent  Timeout connecting to server" in lines[4]
    assert lines[-1] == "  ttl 10.000 s − elapsed 0.200 s − drift 0.102 s = validity 9.698 s"


def of(*votes: str, **errors: Exception) -> Round:
    nodes = tuple(
        NodeAnswer(f"n{n}", True, vote != "unknown", vote, 0.001, said, errors.get(f"n{n}"))  # type: ignore[arg-type]
        for n, (vote, _, said) in enumerate((vote.partition(" ") for vote in votes), 1)
    )
    return Round("release", "stock", nodes, len(nodes) // 2 + 1, 10.0, 0.001, 0.102, 9.897, False)


SILENCE = TimeoutError("silence")


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (of("yes", "yes", "yes", "no expired", "no stolen"), None),
        (of("yes", "yes", "no expired", "no expired", "no expired"), "expired"),
        (of("yes", "yes", "no stolen", "no stolen", "no stolen"), "stolen"),
        (of("yes", "yes", "no stolen", "no stolen", "no expired"), "lost"),
        (of("yes", "no expired", "no expired", "no expired", "unknown", n5=SILENCE), "expired"),
        (of("yes", "yes", "no expired", "no expired", "unknown", n5=SILENCE), SILENCE),
    ],
)
def test_loss_and_ignorance_are_told_apart(done: Round, expected: Any) -> None:
    found = loss(done)
    assert (found.reason if isinstance(found, LeaseLost) else found) == expected


def test_an_error_of_a_minority_is_no_mistake_of_the_set_up() -> None:
    refused = {f"n{n}": NoPermissionError("no rights") for n in (1, 2, 3)}
    assert mistake(of("no", "no", "yes", "yes", "yes", n1=refused["n1"], n2=refused["n2"]).nodes, 3) is None
    assert mistake(of("no", "no", "no", "yes", "yes", **refused).nodes, 3) is refused["n1"]


@pytest.mark.real_redis
def test_a_rested_connection_that_the_server_has_closed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over TCP a first request can still be sent to a server that is gone, and its answer never comes."""
    found = find_binary()
    if found is None:
        missing(NOT_FOUND)
    with RedisServer(found=found, tcp=True) as server:
        lock = Redlock([server.client()], "stock", budget=1.0)
        with lock.hold(0):
            pass
        server.restart(keep_data=False)
        monkeypatch.setattr("labkit.locks.nodes.STALE", 0.0)
        assert [node.vote for node in lock.attempt().nodes] == ["yes"]


@pytest.mark.real_redis
def test_a_user_without_rights_learns_why(real_redis: RedisServer) -> None:
    with real_redis.client() as admin:
        admin.execute_command("ACL", "SETUSER", "reader", "reset", "on", ">secret", "~*", "+get")
        client = real_redis.client()
        client.connection_pool.connection_kwargs.update(username="reader", password="secret")
        try:
            with pytest.raises(NoPermissionError):
                Redlock([client], "stock").acquire()
        finally:
            admin.execute_command("ACL", "DELUSER", "reader")
            client.close()


def test_equal_runs_are_equal() -> None:
    def run(seed: int) -> Timeline:
        def rival(me: Any) -> None:
            lock = me.lock(Redlock(clients_of(me), "stock"))
            time.sleep(random.uniform(0, 0.01))
            with lock.hold(30.0):
                time.sleep(0.2)

        with World(seed=seed) as world:
            for name in FIVE:
                world.server(name)
            for name in "ABC":
                world.client(name).start(rival)
            return world.run()

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_locks_share_nodes_that_are_given() -> None:
    with World() as world:
        nodes = Nodes([world.client("A").redis(name) for name in FIVE])
        assert Redlock(nodes, "apples").nodes is Redlock(nodes, "pears").nodes
