"""A whole interview in a terminal, played through a pipe; and what becomes of one that is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from labkit.cli import app

COMMAND = [sys.executable, "-c", "from labkit.cli import main; main()", "interview"]
# A signal that whoever runs the tests has told its children to ignore, as nohup does, is heard again.
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
HEARING += "[signal.signal(each, signal.SIG_DFL) for each in (signal.SIGTERM, signal.SIGHUP)]; "
SIX = ["y", "y", "n", "y", "y", "y"]  # n1: key point 3 is missed
WRONG = ["n", "n", "n"]
WRITTEN = ["It depends on what it is for.", "A condition in the statement.", ""]
TO_THE_SCORE = [*WRITTEN, *SIX, *WRONG]


def interview(*arguments: str, lines: list[str] | None = None) -> Any:
    """The command with these lines on its input, which is no terminal."""
    return CliRunner().invoke(app, ["interview", *arguments], "".join(f"{line}\n" for line in lines or []))


def surroundings(home: Path) -> dict[str, str]:
    return os.environ | {"LABKIT_HOME": str(home), "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def noted(home: Path, name: str) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = json.loads((home / "progress.json").read_text("utf-8"))[name]
    return entries


def test_a_whole_interview_in_a_process_of_its_own(home):
    lines = [*TO_THE_SCORE, "3", "aloud is fine", "", "p", "a", "y"]
    words = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        [*COMMAND, "n1"],
        input=words,
        env=surroundings(home),
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "Question 1 of 1 · n1 · Do you need a lock?",
        "in writing; 6:00 were allowed",
        "5 of 6 key points, and 0 of what is often said and wrong",
        "You missed 3. The interviewer goes on:",
        "The run two-rows #0",
        "communication    ###  sound, 3 of 4",
        "problem solving  #### strong, 4 of 4",
        "technical depth  ###  sound, 3 of 4",
        "verification     #### strong, 4 of 4",
    ):
        assert said in done.stdout
    assert [reply["text"] for reply in noted(home, "replies")] == ["\n".join(WRITTEN[:2]), "aloud is fine"]
    (review,) = noted(home, "reviews")
    assert (review["points"], review["proved"], review["got"]) == ([1, 2, 4, 5, 6], "first", "yes")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no sentence that is looked for is broken in two."""
    monkeypatch.setenv("COLUMNS", "400")


def test_an_answer_aloud_is_an_empty_line(home):
    done = interview("n1", lines=["", *SIX, *WRONG, "4", "", "a", "g", "n"])
    assert done.exit_code == 0 and "aloud; 3:00 were allowed" in done.stdout
    (review,) = noted(home, "reviews")
    assert (review["spoken"], review["proved"], review["got"]) == (True, "", "no")


def test_a_claim_is_proved_while_it_is_ticked_and_its_picture_is_named(home, tmp_path):
    lines = ["", "y", "p", "y", *SIX[2:], *WRONG, "4", "", "a", "p", "g", "y"]
    done = interview("n1", "--pictures", str(tmp_path / "here"), lines=lines)
    assert "The run last-piece by=statement #0" in done.stdout and "Nothing is broken in this run." in done.stdout
    picture = tmp_path / "here" / "last-piece-by-statement-0.svg"
    assert f"Its picture: {picture}" in done.stdout and picture.read_text("utf-8").lstrip().startswith("<?xml")
    assert noted(home, "reviews")[0]["proved"] == "after"


def test_a_picture_that_cannot_be_written_costs_a_sentence(home, tmp_path):
    (tmp_path / "file").write_text("")
    lines = [*TO_THE_SCORE, "4", "", "p", "a", "y"]
    done = interview("n1", "--pictures", str(tmp_path / "file"), lines=lines)
    assert done.exit_code == 0 and "Its picture cannot be written" in done.stdout


def test_what_is_no_choice_gets_a_sentence_and_is_asked_anew(home):
    lines = ["", "maybe", "", "p", *SIX, *WRONG, "5", "3", "", "x", "a", "g", "partly"]
    done = interview("n1", lines=lines)
    assert done.exit_code == 0
    for typed, offered in (("maybe", "y yes, n no"), ("", "y yes"), ("p", "y yes, n no"), ("5", "1 not at all")):
        assert f"{typed!r} is no answer here; it is one of: {offered}" in done.stdout
    assert noted(home, "reviews")[0]["got"] == "partly"


@pytest.mark.parametrize("whole", [0, 1, 2])
def test_what_was_answered_before_the_input_ends_is_kept(home, whole):
    one = [*TO_THE_SCORE, "3", "", "a", "g", "y"]
    done = interview("n1", "n1", "n1", lines=[*one * whole, "and this", "too"])
    assert (
        done.exit_code == 1 and "You have left the interview" in done.stdout and isinstance(done.exception, SystemExit)
    )
    assert noted(home, "replies")[-1]["text"] == "and this\ntoo"
    assert ("Summary" in done.stdout) == bool(whole)
    assert whole == 0 or len(noted(home, "reviews")) == whole


def test_key_points_that_are_ticked_are_kept_when_the_follow_up_is_left(home):
    done = interview("n1", lines=TO_THE_SCORE)
    assert done.exit_code == 1 and "problem solving       not tested" in done.stdout
    (review,) = noted(home, "reviews")
    assert (review["points"], review["got"], review["clear"]) == ([1, 2, 4, 5, 6], "", 0)


@pytest.mark.parametrize(("keys", "proved"), [("", ""), ("p", "first"), ("ap", "after"), ("pa", "first")])
def test_a_run_that_was_looked_at_is_kept_when_the_input_ends_before_the_last_question(home, keys, proved):
    done = interview("n1", lines=[*TO_THE_SCORE, "3", "", *keys])
    assert done.exit_code == 1
    (review,) = noted(home, "reviews")
    assert (review["proved"], review["got"]) == (proved, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends these to no process alone.")
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_end_keeps_what_was_said(home, ending):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", HEARING + COMMAND[2], *COMMAND[3:], "n1"]
    with subprocess.Popen(command, env=surroundings(home), encoding="utf-8", **pipes) as run:  # type: ignore[call-overload]
        run.stdin.write("half a thought\n")
        run.stdin.flush()
        while "half a thought" not in run.stdout.readline():
            pass
        run.send_signal(getattr(signal, ending))
        try:
            out, err = run.communicate(timeout=60)
        finally:
            run.kill()
    assert (run.returncode, err) == (1, "") and "You have left the interview." in out
    assert noted(home, "replies")[0]["text"] == "half a thought"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals.")
def test_a_terminal_that_is_closed_keeps_what_was_said(home):
    import pty

    own = "import os; os.open(os.ttyname(0), os.O_RDWR)"  # so it becomes the terminal of the session, and hangs it up
    command = [sys.executable, "-c", f"{HEARING}{own}; {COMMAND[2]}", *COMMAND[3:], "n1"]
    ours, theirs = pty.openpty()
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    surrounding = surroundings(home) | {"TERM": "xterm"}
    with subprocess.Popen(command, env=surrounding, start_new_session=True, **ends) as run:  # type: ignore[call-overload]
        os.close(theirs)
        seen = b""
        os.write(ours, b"half a thought\n")
        while seen.count(b" > ") < 2:  # it asks for a second line
            seen += os.read(ours, 10_000)
        os.close(ours)
        run.wait(60)
    assert noted(home, "replies")[0]["text"] == "half a thought"


def test_without_a_name_it_asks_what_is_new_in_order(home):
    assert "A mock interview: n1, n2." in interview("--number", "2").stdout


def test_the_plan_has_every_question(home):
    done = interview("--due")
    assert done.exit_code == 0 and done.stdout.splitlines()[0].split() == [
        "n1",
        "Do",
        "you",
        "need",
        "a",
        "lock?",
        "new",
    ]


def test_the_history_says_when_there_is_none(home):
    assert interview("--history").stdout.startswith("No interviews yet")
    assert not home.exists()


@pytest.mark.parametrize("wrong", [["n9"], ["n1", "m2"]])
def test_a_question_that_there_is_not_is_refused_with_those_there_are(home, wrong):
    done = interview(*wrong)
    assert done.exit_code == 2 and "there are n1, n2, n3, n4, n5, q1" in done.stderr and not home.exists()
