"""The search: it finds a shortest break, says when there is none, says when it does not know, and repeats itself."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

import pytest

from labkit import Story, judge, play, replay
from labkit.checks import CHECKS
from labkit.explore import Job, Outcome, Played, minimise, search, tape_of
from labkit.faults.taped import KINDS, PREPARING
from labkit.sim import ClientDied
from labkit.stories import find
from labkit.timeline import Timeline
from labkit.verdict import Verdict

QUIET: dict[str, Any] = {"pause": 0.0}  # gc-pause without its own pause: nothing goes wrong unless the search does it


def test_it_finds_the_pause_that_loses_an_update() -> None:
    found = search("gc-pause", "no_lost_update", faults=("pause",), most=1, **QUIET)
    assert found.outcome is Outcome.BROKEN
    assert found.schedule.startswith("pause.A.")
    assert "," not in found.schedule


def test_the_string_of_a_break_plays_it_again() -> None:
    found = search("gc-pause", "no_lost_update", faults=("pause",), most=1, **QUIET)
    verdict = judge(replay(found.token), "no_lost_update").verdicts[0]
    assert verdict == found.verdict


def test_the_string_plays_it_again_in_a_process_that_has_never_searched() -> None:
    found = search("gc-pause", "no_lost_update", faults=("pause",), most=1, **QUIET)
    code = f"from labkit import judge, replay; print(judge(replay({found.token!r}), 'no_lost_update').verdicts[0].why)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.verdict is not None
    assert out.stdout.strip() == found.verdict.why


def test_a_claim_that_holds_within_the_bounds_is_said_to_with_the_bounds() -> None:
    found = search("late-release", "own_release", faults=("crash", "lose"), most=1, lock="safe", work=2.0)
    assert found.outcome is Outcome.EXHAUSTED
    assert found.token == ""
    assert "up to 1 fault(s) of crash, lose" in str(found)


def test_exhausted_means_that_every_place_was_tried() -> None:
    seen: list[str] = []

    def note(timeline: Timeline) -> Verdict:
        seen.append(timeline.tape)
        return Verdict("seen", True, "")

    search("late-release", note, faults=("pause",), most=1, lock="safe", work=2.0)
    plain = play("late-release", lock="safe", work=2.0)
    telling = [e.node for e in plain.find("send") if not e.name.startswith(PREPARING)]
    sends = {node: telling.count(node) for node in ("A", "B")}
    places = [f"pause.{node}.{nth}" for node, many in sends.items() for nth in range(1, many + 1)]
    singles = {f"{place}={choice}" for place in places for choice in (1, 2, 3)}
    assert singles <= set(seen)
    assert len(seen) == len(set(seen))


def test_two_faults_are_placed_in_the_order_in_which_they_strike() -> None:
    tapes: list[str] = []

    def note(timeline: Timeline) -> Verdict:
        tapes.append(timeline.tape)
        return Verdict("seen", True, "")

    found = search("late-release", note, faults=("lose",), most=2, lock="safe", work=2.0)
    pairs = [tuple(tape.split(",")) for tape in tapes if "," in tape]
    assert found.outcome is Outcome.EXHAUSTED
    assert pairs
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)  # none is played twice, the other way round


def test_a_budget_that_is_too_small_ends_in_unknown() -> None:
    found = search("late-release", "own_release", most=2, runs=20, lock="safe", work=2.0)
    assert found.outcome is Outcome.UNKNOWN
    assert "the budget of 20 runs is spent" in str(found)


def test_a_break_without_any_fault_needs_none() -> None:
    found = search("late-release", "own_release", most=2)  # plain DEL after twelve seconds of work
    assert found.outcome is Outcome.BROKEN
    assert found.schedule == "."
    assert found.runs == 1


def test_a_kind_that_must_be_there_is() -> None:
    found = search("gc-pause", "no_lost_update", faults=("pause", "step"), most=2, must=("step",), **QUIET)
    assert found.outcome is Outcome.BROKEN
    assert "step." in found.schedule


@pytest.mark.parametrize("workers", [1, 2])
def test_the_answer_does_not_depend_on_the_number_of_workers(workers: int) -> None:
    alone = search("gc-pause", "no_lost_update", faults=("lose", "pause"), most=1, **QUIET)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        together = search("gc-pause", "no_lost_update", faults=("lose", "pause"), most=1, executor=pool, **QUIET)
    assert (together.outcome, together.token, together.runs) == (alone.outcome, alone.token, alone.runs)


class AtOnce(Executor):
    """An executor as others write them: it has `submit` and nothing else."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_any_executor_will_do() -> None:
    found = search("gc-pause", "no_lost_update", faults=("pause",), most=1, executor=AtOnce(), **QUIET)
    assert found.outcome is Outcome.BROKEN


def test_an_interrupted_search_says_so() -> None:
    def stop(runs: int) -> None:
        raise KeyboardInterrupt

    found = search("late-release", "own_release", most=2, tick=stop, lock="safe", work=2.0)
    assert found.outcome is Outcome.UNKNOWN
    assert "it was interrupted" in str(found)


def test_a_schedule_that_was_found_at_random_is_made_smaller() -> None:

    job = Job(find("gc-pause"), QUIET, CHECKS["no_lost_update"], ("pause",))
    start = job.play((("pause.A.2", 1), ("pause.A.3", 3), ("pause.A.4", 3)))
    assert start.verdict.holds is False
    schedule, verdict = minimise(job, start)
    assert tape_of(schedule) == "pause.A.2=1"
    assert verdict.holds is False


def test_random_schedules_are_tried_when_a_level_is_too_large() -> None:
    """Two faults are needed, the bound is one, the budget ends before the level: only the random part can find it."""

    def few(timeline: Timeline) -> Verdict:
        many = len(timeline.find("pause"))
        return Verdict("fewer than three pauses", many < 3, f"{many} pauses")  # the story has one, of no length

    found = search("gc-pause", few, faults=("pause",), most=2, runs=30, pause=0.0)
    assert found.outcome is Outcome.BROKEN
    assert found.schedule.count("pause.") >= 2
    assert found.runs > 30


def test_one_search_repeats_another() -> None:
    first, second = (search("gc-pause", "no_lost_update", runs=40, most=2, **QUIET) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"faults": ("earthquake",)}, "earthquake"),
        ({"most": 0}, "most=0"),
        ({"runs": True}, "runs=True"),
        ({"must": ("nothing",)}, "nothing"),
        ({"faults": ("lose",), "must": ("pause",)}, "pause"),
        ({"faults": ()}, "nothing to place"),
        ({"faults": ("lose", "lose")}, "twice"),
    ],
)
def test_bad_bounds_are_refused_before_anything_runs(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        search("gc-pause", "no_lost_update", **given)


def test_an_unknown_story_check_or_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="no-such-story"):
        search("no-such-story", "no_lost_update")
    with pytest.raises(ValueError, match="no_such_check"):
        search("gc-pause", "no_such_check")
    with pytest.raises(ValueError, match="colour"):
        search("gc-pause", "no_lost_update", colour="red")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "failover"])
def test_every_kind_of_fault_strikes_and_leaves_a_trace(kind: str) -> None:
    plain = play("gc-pause", **QUIET)
    choices = range(1, len(KINDS[kind].menu) + 1)
    struck = [play("gc-pause", tape=f"{kind}.A.2={choice}", **QUIET) for choice in choices]
    assert any(run.events != plain.events for run in struck)  # what would strike after the end of the run does not
    assert [replay(run.token) for run in struck] == struck


def test_a_failover_needs_a_replica_and_forgets_what_has_not_reached_it() -> None:
    alone, pair = (play("increment", tape="failover.B.1=1", replica=replicas) for replicas in (0, 1))
    assert alone.events == play("increment").events
    assert judge(pair, "no_stale_write").holds is False


def test_a_server_that_is_durable_meets_no_fault_of_its_own() -> None:
    seen: list[str] = []

    def note(timeline: Timeline) -> Verdict:
        seen.extend(event.node for event in timeline.find("restart"))
        return Verdict("seen", True, "")

    search("increment", note, faults=("restart",), most=1, row="R3")
    assert set(seen) == {"redis"}


def test_what_a_story_does_by_itself_is_said_whatever_must_be_there() -> None:
    found = search("increment", "no_lost_update", faults=("cut",), must=("cut",), most=1, row="R3", work=12.0)
    assert (found.outcome, found.schedule) == (Outcome.BROKEN, ".")


def test_a_break_that_does_without_the_kind_in_question_does_not_count() -> None:
    found = search("increment", "no_lost_update", faults=("crash", "pause"), must=("crash",), menu=1, row="R3")
    assert found.outcome is Outcome.EXHAUSTED


def test_a_story_that_dies_by_itself_is_no_proof_of_anything() -> None:
    def dies(me: Any, p: Any) -> None:
        me.redis().ping()
        raise RuntimeError("as if by mistake")

    with pytest.raises(ClientDied, match="as if by mistake"):
        search(Story("dies", "Does it end?", {"A": dies}), "no_lost_update", faults=("lose",), most=1)


def test_a_budget_of_just_as_many_runs_is_enough() -> None:
    given: dict[str, Any] = {"faults": ("crash",), "most": 1, "lock": "safe", "work": 2.0}
    many = search("late-release", "own_release", **given).runs
    assert search("late-release", "own_release", runs=many, **given).outcome is Outcome.EXHAUSTED
    assert search("late-release", "own_release", runs=many - 1, **given).outcome is Outcome.UNKNOWN


def test_what_a_worker_returns_is_small() -> None:
    import pickle

    job = Job(find("gc-pause"), QUIET, CHECKS["no_lost_update"], ("pause",))
    assert isinstance(job.play(()), Played)
    assert len(pickle.dumps(job.play(()))) < 10_000
