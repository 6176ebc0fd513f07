"""tools/lint_drills.py on every planted answer: right ones get full points, each wrong one loses the checks it names.

The seeds are fresh: a verdict that hangs on luck shows here sooner or later, and the message has the string that plays
it again. The lint itself is put to the test below, with answers and questions that are not as they should be.
"""

from dataclasses import replace

import pytest

from labkit.drills import NAMES, load
from labkit.drills.drill import FollowUp, Rubric
from tools import lint_drills as lint

ANSWERS = [(question, path) for question in NAMES for path in lint.answers(question)]
RIGHT = lint.ROOT / "tests/right_answers/q1/plain_loop.py"
WRONG = lint.ROOT / "tests/wrong_answers/q1/told_twice.py"


def name(value):
    return value if isinstance(value, str) else str(value.relative_to(lint.ROOT))


@pytest.mark.parametrize(("question", "path"), ANSWERS, ids=name)
def test_an_answer_is_judged_as_it_declares(question, path):
    assert lint.examine(question, path).complaints == ()


@pytest.mark.parametrize("question", NAMES)
def test_a_question_is_complete(question):
    assert lint.faults(load(question)) == []


# --- the lint itself: answers


@pytest.fixture
def planted(tmp_path):
    """Plants the text of a file as an answer of a kind, and returns its place."""

    def plant(kind, text):
        path = tmp_path / f"{kind}_answers" / "q1" / "planted.py"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        return path

    return plant


def complaints(path, seed=1):
    return lint.examine("q1", path, seed).complaints


def test_a_right_answer_that_loses_a_check_is_told_with_the_string_to_play_it_again(planted):
    (told,) = complaints(planted("right", WRONG.read_text()))
    assert told.startswith("«told once» is fail: on_lost was called 2 times")
    assert "(q1:told-once:gone:" in told


def test_a_wrong_answer_that_keeps_its_points_is_told_for_each_set_of_seeds(planted):
    right = RIGHT.read_text().replace('"""', '"""loses: told once\n\n', 1)
    assert complaints(planted("wrong", right)) == tuple(f"«told once» is pass in set {n} of 3." for n in (1, 2, 3))


def test_each_declared_check_must_be_lost_and_not_one_of_them(planted):
    text = WRONG.read_text().replace("loses: told once", "loses: told once, interrupts")
    assert {told.partition(" in ")[0] for told in complaints(planted("wrong", text))} == {"«interrupts» is pass"}


def test_a_wrong_answer_that_declares_nothing_is_told(planted):
    text = WRONG.read_text().replace("loses: told once", "It tells twice.")
    assert complaints(planted("wrong", text)) == ("Its first line does not read «loses: …».",)


def test_a_check_that_does_not_exist_is_told(planted):
    text = WRONG.read_text().replace("loses: told once", "loses: told onse")
    assert complaints(planted("wrong", text)) == ("q1 has no check «told onse».",)


def test_an_exercise_in_which_something_is_written_is_told(tmp_path):
    path = tmp_path / "exercises" / "planted.py"
    path.parent.mkdir()
    path.write_text("def tolerated_misses(n):\n    return n - 2\n", encoding="utf-8")
    assert any(told.startswith("«tolerated misses» is fail where nobody has written") for told in complaints(path))


def test_a_message_that_shows_a_line_of_the_model_answer_is_told(planted, monkeypatch):
    monkeypatch.setattr(lint, "telling", lambda drill: ["on_lost was called 2 times"])
    assert complaints(planted("wrong", WRONG.read_text())) == (
        "The message of «told once» shows «on_lost was called 2 times».",
    )


def test_the_learners_own_line_may_be_quoted(planted, monkeypatch):
    text = '"""loses: tolerated misses"""\n\n\ndef tolerated_misses(n):\n    return undefined - 2\n'
    monkeypatch.setattr(lint, "telling", lambda drill: ["return undefined - 2"])
    assert not any("shows" in told for told in complaints(planted("wrong", text)))


def test_the_row_has_the_score_and_the_lost_checks():
    row = lint.examine("q1", WRONG, 1)
    assert (row.score, row.of, row.lost) == (19, 20, ("told once",))
    assert row.message.startswith("on_lost was called 2 times")


# --- the lint itself: questions


def drill(**changes):
    """Question 1 with its rubric filled in, so that a fault is the one that the test has made."""
    follow_up = FollowUp("And what if the process is paused?", "gc-pause", "It wakes up late.")
    rubric = Rubric(("The interval is below the TTL.",), ("A third is always right.",), (follow_up,))
    hints = tuple(f"Hint number {n}, long enough to help." for n in (1, 2, 3))
    whole = replace(load("q1"), question="How often should a lease be renewed?", hints=hints, rubric=rubric)
    return replace(whole, **changes)


def without(name):
    return tuple(criterion for criterion in load("q1").criteria if criterion.name != name)


def test_a_whole_question_has_no_faults():
    assert lint.faults(drill()) == []


def test_points_that_do_not_sum_to_twenty_are_told():
    criteria = (replace(load("q1").criteria[0], points=3), *load("q1").criteria[1:])
    assert lint.faults(drill(criteria=criteria)) == ["The points are 21 in all, not 20."]


def test_a_trial_without_a_criterion_is_told():
    assert "The trial «told once» counts for nothing." in lint.faults(drill(criteria=without("told once")))


def test_a_criterion_without_a_trial_is_told():
    criteria = (*without("told once"), replace(load("q1").criteria[0], name="told thrice", points=1))
    assert "«told thrice» is never put to the test." in lint.faults(drill(criteria=criteria))


def test_a_criterion_that_no_wrong_answer_loses_is_told(monkeypatch):
    paths = lint.planted("wrong", "q1")
    kept = [path for path in paths if "interrupts" not in lint.declared(path)]
    monkeypatch.setattr(lint, "planted", lambda kind, question: kept)
    assert lint.faults(drill()) == ["No wrong answer loses «interrupts»."]


def test_too_few_answers_are_told(monkeypatch):
    monkeypatch.setattr(lint, "planted", lambda kind, question: [])
    assert "There are 0 right answers; at least 4 are wanted." in lint.faults(drill())
    assert "There are 0 wrong answers; at least 8 are wanted." in lint.faults(drill())


def test_two_hints_are_too_few():
    assert lint.faults(drill(hints=drill().hints[:2])) == ["There are 2 hints, not 3."]


def test_a_hint_that_shows_a_line_of_the_model_answer_is_told(monkeypatch):
    monkeypatch.setattr(lint, "telling", lambda drill: ["number 2, long"])
    assert lint.faults(drill()) == ["Hint 2 shows «number 2, long»."]


def test_an_empty_rubric_is_told():
    assert lint.faults(drill(rubric=Rubric((), (), ()))) == [
        "The rubric has no key points.",
        "The rubric has no wrong.",
        "The rubric has no follow-ups.",
    ]


def test_a_follow_up_without_its_story_or_its_answer_is_told():
    rubric = replace(drill().rubric, follow_ups=(FollowUp("And then?", "no-such-story", " "),))
    assert lint.faults(drill(rubric=rubric)) == ["No story is called 'no-such-story'.", "«And then?» has no answer."]


# --- the command


@pytest.fixture
def few(monkeypatch):
    """The command examines these answers only."""

    def only(*paths):
        monkeypatch.setattr(lint, "answers", lambda question: list(paths))
        monkeypatch.setattr(lint, "load", lambda question: drill())

    return only


def test_the_command_prints_a_row_an_answer_and_ends_with_0(few, capsys):
    few(RIGHT, WRONG)
    assert lint.main(["q1"]) == 0
    said = capsys.readouterr().out
    assert "plain_loop.py" in said
    assert "told_twice.py" in said
    assert "All is as declared." in said


def test_the_command_ends_with_1_and_names_the_answer(few, planted, capsys):
    few(planted("right", WRONG.read_text()))
    assert lint.main(["q1"]) == 1
    assert "planted.py: «told once» is fail" in capsys.readouterr().err


def test_the_command_refuses_a_question_that_does_not_exist(capsys):
    with pytest.raises(SystemExit):
        lint.main(["q99"])
    assert "no question is called 'q99'; there are q1" in capsys.readouterr().err
