"""The five oral questions: complete, and each claim that has a run is shown by it."""

import pytest

from labkit.checks import judge
from labkit.drills.drill import ORAL, load, spoken
from labkit.overlap import overlaps
from labkit.stories import STORIES, replay
from labkit.stories.herd import wake_ups

PROOFS = [
    (name, claim, run)
    for name in ORAL
    for claim, runs in [
        *spoken(name).rubric.proofs.items(),
        *((f"f{n}", each.proof) for n, each in enumerate(spoken(name).rubric.follow_ups, 1)),
    ]
    for run in runs
]


def broken(run: str) -> set[str]:
    names = ("no_lost_update", "no_stale_write", "own_release", "honest", "not_stuck", "exclusive_grants")
    return {n for n in names if judge(replay(run), n).holds is False}


def test_there_are_five():
    assert ORAL == ("n1", "n2", "n3", "n4", "n5")


@pytest.mark.parametrize("name", ORAL)
def test_each_has_a_question_key_points_wrong_answers_and_follow_ups(name):
    drill = spoken(name)
    assert drill.question and len(drill.rubric.key_points) >= 6 and len(drill.rubric.wrong) == 3
    assert all(each.answer and each.story in STORIES for each in drill.rubric.follow_ups)


@pytest.mark.parametrize("name", ORAL)
def test_each_key_point_leads_to_one_follow_up(name):
    rubric = spoken(name).rubric
    led = sorted(point for follow_up in rubric.follow_ups for point in follow_up.after)
    assert led == list(range(1, len(rubric.key_points) + 1))


@pytest.mark.parametrize("name", ORAL)
def test_each_proof_belongs_to_a_claim_that_there_is(name):
    rubric = spoken(name).rubric
    claims = {f"k{n}" for n in range(1, len(rubric.key_points) + 1)} | {
        f"w{n}" for n in range(1, len(rubric.wrong) + 1)
    }
    assert set(rubric.proofs) <= claims


@pytest.mark.parametrize("name", ORAL)
def test_a_wrong_answer_is_a_saying_and_what_is_wrong_with_it(name):
    assert all(text.startswith("«") and text.count("»: ") == 1 for text in spoken(name).rubric.wrong)


@pytest.mark.parametrize(("name", "claim", "run"), PROOFS)
def test_each_run_can_be_had(name, claim, run):
    assert replay(run).tell()


def test_no_code_answers_an_oral_question():
    with pytest.raises(ValueError, match="n1 is an oral question: `labkit interview n1` asks it"):
        load("n1")


# -- what the printed answers say of the runs


@pytest.mark.parametrize(
    ("wrong", "right", "check"),
    [
        ("last-piece #0", "last-piece by=statement #0", "no_lost_update"),
        ("order-state #0", "order-state update=conditional #0", "no_lost_update"),
        ("two-rows #0", "two-rows guards=one #0", "no_stale_write"),
        ("lost-grant #0", "lost-grant lock=safe #0", "honest"),
        ("lost-release #0", "lost-release lock=safe #0", "honest"),
        ("duplicate-release #0", "duplicate-release lock=safe #0", "own_release"),
        ("forgotten-unlock #0", "forgotten-unlock watchdog=no #0", "not_stuck"),
        ("shared-id #0", "shared-id lock=reentrant #0", "own_release"),
        ("failover to=r2 lag=0 #0", "failover lag=0 #0", "exclusive_grants"),
        ("skewed-replica #0", "skewed-replica ahead=0 #0", "exclusive_grants"),
        ("repeated-token store=ownerless #0", "repeated-token #0", "no_lost_update"),
    ],
)
def test_of_two_runs_the_one_breaks_and_the_other_holds(wrong, right, check):
    assert check in broken(wrong) and check not in broken(right)


def test_a_commit_that_nobody_heard_of_is_neither_lost_nor_counted_twice():
    timeline = replay("increment row=R10 #0 crash.A.7=1")
    assert "A crashes" in timeline.tell() and judge(timeline, "no_lost_update").holds is True


def test_a_limit_for_replicas_shortens_how_long_both_believe():
    free, limited = (overlaps(replay(f"minority-master needed={needed} #0"))[0] for needed in (0, 1))
    assert limited.end - limited.start < free.end - free.start < 31


def test_a_waiter_gets_the_lock_of_a_dead_holder_when_its_lease_is_over():
    timeline = replay("ttl-dilemma crash=yes #0")
    (expired,) = timeline.find("expire")
    granted = [op.ret for op in timeline.ops() if op.node == "B" and op.name == "acquire"]
    assert granted[0] is not None and expired.t < granted[0] < expired.t + 1


def test_the_herd_wakes_all_and_the_queue_wakes_one():
    assert max(wake_ups(replay("herd recipe=herd #0"))) == 5 and max(wake_ups(replay("herd #0"))) == 1


def test_a_store_that_wants_more_refuses_the_second_write_of_one_grant():
    strict, contract = (replay(f"two-steps store={store} #0").tell() for store in ("strict", "contract"))
    assert "A's write of 20 to price is refused" in strict and "A writes 20 to price; it is accepted" in contract
