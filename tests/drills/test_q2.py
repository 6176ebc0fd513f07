"""Question 2: what its judges must not hold against an answer, and what must not pass for one. Whole answers are for
the lint; these are the few things that hang on how the stage is built.
"""

import pytest

from labkit.drills import load
from labkit.drills.answer import from_file, unpack
from labkit.drills.trial import Outcome, Run, Setting
from labkit.sim.substitute import substituted
from labkit.telling import tell
from tools import lint_drills as lint

RIGHT = lint.ROOT / "tests/right_answers/q2"
TRIALS = load("q2").trials


def played(path, check, variant, seed=1):
    """The run of one play, and the remark on it."""
    with substituted():
        names = unpack(from_file(path), load("q2").functions)[0]
    setting = Setting("q2", check, variant, seed, 10.0)
    trial = TRIALS[check]
    run = Run(setting, *trial.play(names[trial.of], setting))
    return run, trial.judge(run)


def answer(tmp_path, text):
    path = tmp_path / "answer.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("check", TRIALS)
def test_an_answer_that_does_nothing_passes_no_check(check, tmp_path):
    path = answer(
        tmp_path, "def acquire(nodes, name, ttl): return [][:0] or None\ndef release(nodes, lease): return 0 * 1"
    )
    outcomes = {played(path, check, variant)[1].outcome for variant in TRIALS[check].variants}
    assert Outcome.PASS not in outcomes


@pytest.mark.parametrize("check", [check for check, trial in TRIALS.items() if trial.of == "acquire"])
def test_a_lease_without_a_command_passes_no_check(check, tmp_path):
    path = answer(
        tmp_path, "from labkit import Lease\ndef acquire(nodes, name, ttl): return Lease(name, 'x' * 20, None, 9e9)"
    )
    outcomes = {played(path, check, variant)[1].outcome for variant in TRIALS[check].variants}
    assert Outcome.PASS not in outcomes


def test_a_set_that_the_network_delivers_after_the_unlock_is_not_held_against_the_answer():
    run, remark = played(RIGHT / "plain_loop.py", "unlock after failure", "silent")
    late = [event for event in run.timeline if event.kind == "apply" and event.name.startswith("SET") and event.t > 1.1]
    assert late
    assert remark.outcome is Outcome.PASS


def test_the_keys_change_hands_between_two_commands_of_one_release():
    run, remark = played(RIGHT / "plain_loop.py", "others' keys", "swap")
    assert {hold.owner for hold in run.timeline.truth(run.facts["name"])} == {"A", "B"}
    assert remark.outcome is Outcome.PASS


def test_a_call_that_never_ends_is_an_error_that_says_so(tmp_path):
    path = answer(tmp_path, "import time\ndef acquire(nodes, name, ttl):\n    while True: time.sleep(100)")
    _, remark = played(path, "validity", "quick")
    assert remark.outcome is Outcome.ERROR
    assert remark.message == "acquire had not come back at 500 s, when the run ended."


def test_the_same_play_is_the_same_run():
    one, other = (played(RIGHT / "threads_of_a_pool.py", "dead node harmless", "broken")[0] for _ in range(2))
    assert one.timeline == other.timeline
    assert one.facts == other.facts


INLINED = """
from labkit import Lease
UNLOCK = "if redis.call('get', 'KEY') == 'TOKEN' then return redis.call('del', 'KEY') else return 0 end"
def release(nodes, lease):
    script = UNLOCK.replace("KEY", lease.name).replace("TOKEN", lease.token)
    return sum(node.eval(script, 0) for node in nodes)
"""


def test_key_and_token_may_stand_in_the_script_itself(tmp_path):
    path = answer(tmp_path, INLINED)
    played_twice = [played(path, "others' keys", variant) for variant in ("held", "swap")]
    assert [remark.outcome for _, remark in played_twice] == [Outcome.PASS, Outcome.PASS]


def test_six_attempts_are_shown_as_six_locks_that_are_given_back():
    run, _ = played(RIGHT / "plain_loop.py", "fresh token", "granted")
    assert [op.name for op in run.timeline.ops()] == ["acquire", "release"] * 6
    assert "still believe" not in tell(run.timeline)
