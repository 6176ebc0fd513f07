"""The progress file keeps what was said before the run, whatever happens to the run, the file or the folder."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit import progress
from labkit.progress import Prediction, Progress, predict, settle, summary

CHOICES = ["after the TTL", "never"]
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that does not exist yet, and a process that remembers nothing."""
    monkeypatch.setenv("LABKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(progress, "_in_memory", {})
    return tmp_path / "home"


def document(home: Path) -> Any:
    return json.loads((home / "progress.json").read_text("utf-8"))


def write(home: Path, content: Any) -> None:
    home.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (home / "progress.json").write_text(text, "utf-8")


# --- say it, then run it


def test_a_prediction_is_in_the_file_when_predict_returns(home: Path) -> None:
    predict("02.crash", "never", choices=CHOICES, confidence=70)
    (entry,) = document(home)["predictions"]
    assert UTC.fullmatch(entry.pop("at"))
    assert entry == {
        "question": "02.crash",
        "notebook": "02",
        "answer": "never",
        "choices": CHOICES,
        "confidence": 70,
        "outcome": None,
        "settled": None,
    }


def test_a_prediction_shows_itself_as_a_sentence_without_a_date() -> None:
    assert repr(predict("02.crash", "never", CHOICES, 70)) == "You predict 'never' for 02.crash (70 % sure)."


def test_the_run_that_agrees() -> None:
    predict("02.crash", "never", choices=CHOICES, confidence=70)
    assert settle("02.crash", "never") == "You said 'never' (70 % sure), and so says the run."


def test_the_run_that_disagrees() -> None:
    predict("02.crash", "never", choices=CHOICES)
    assert settle("02.crash", "after the TTL") == "You said 'never'; the run says 'after the TTL'."


def test_an_outcome_that_nobody_offered_is_told_as_such() -> None:
    predict("02.crash", "never", choices=CHOICES)
    expected = "You said 'never'; the run says 'at once', which was not among the choices."
    assert settle("02.crash", "at once") == expected


def test_a_run_without_a_prediction_is_told_and_stores_nothing(home: Path) -> None:
    assert settle("02.crash", "never") == "You made no prediction for 02.crash; the run says 'never'."
    assert summary() == "Your progress: no predictions yet."


def test_a_sentence_ends_a_cell_without_quotation_marks() -> None:
    predict("02.crash", "never")
    assert repr(settle("02.crash", "never")) == "You said 'never', and so says the run."


def test_the_outcome_and_its_time_are_stored(home: Path) -> None:
    predict("02.crash", "never")
    settle("02.crash", "after the TTL")
    (entry,) = document(home)["predictions"]
    assert entry["outcome"] == "after the TTL"
    assert UTC.fullmatch(entry["settled"])


@pytest.mark.parametrize(("answer", "outcome", "right"), [(2, 2.0, True), (1, True, False), (False, False, True)])
def test_numbers_and_truth_values_are_answers_too(answer: Any, outcome: Any, right: bool) -> None:
    predict("02.count", answer)
    settle("02.count", outcome)
    (stored,) = Progress.open().predictions()
    assert stored.right is right


# --- history


def test_predicting_anew_adds_to_the_history() -> None:
    predict("02.crash", "never")
    predict("02.crash", "after the TTL")
    assert [stored.answer for stored in Progress.open().predictions()] == ["never", "after the TTL"]


def test_the_run_settles_the_latest_prediction_of_its_question_only() -> None:
    for question, answer in [("02.crash", "never"), ("02.crash", "after the TTL"), ("02.del", "never")]:
        predict(question, answer)
    settle("02.crash", "after the TTL")
    assert [stored.outcome for stored in Progress.open().predictions()] == [None, "after the TTL", None]


def test_settling_twice_alike_changes_nothing(home: Path) -> None:
    predict("02.crash", "never")
    first = settle("02.crash", "never")
    before = (home / "progress.json").stat()
    assert settle("02.crash", "never") == first
    assert (home / "progress.json").stat() == before


def test_another_outcome_of_a_second_run_is_added_and_the_first_is_kept() -> None:
    predict("02.crash", "never")
    settle("02.crash", "never")
    assert settle("02.crash", "after the TTL") == "You said 'never'; the run says 'after the TTL'."
    assert [stored.outcome for stored in Progress.open().predictions()] == ["never", "after the TTL"]


# --- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: predict("02.crash", "Never", choices=CHOICES),
            "The answer to 02.crash is 'Never'; it must be one of: 'after the TTL', 'never'.",
        ),
        (
            lambda: predict("02.crash", True, choices=[0, 1]),
            "The answer to 02.crash is True; it must be one of: 0, 1.",
        ),
        (
            lambda: predict("crash", None),
            "The question is 'crash'; it must be a notebook and a name, like '02.crash'.",
        ),
        (
            lambda: predict("02.crash", float("nan")),
            "The answer to 02.crash is nan; it must be a text, a finite number, True or False.",
        ),
        (
            lambda: settle("02.crash", ["never"]),  # type: ignore[arg-type]
            "The outcome of 02.crash is ['never']; it must be a text, a finite number, True or False.",
        ),
        (
            lambda: predict("crash", "never"),
            "The question is 'crash'; it must be a notebook and a name, like '02.crash'.",
        ),
        *(
            (
                lambda value=value: predict("02.crash", "never", confidence=value),
                f"The confidence for 02.crash is {value!r}; it must be a whole number from 0 to 100.",
            )
            for value in (-1, 101, 0.7, "high", True)
        ),
    ],
)
def test_what_is_no_answer_is_refused_with_what_is_allowed_and_not_stored(
    call: Callable[[], object], message: str, home: Path
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
    assert not home.exists()


@pytest.mark.parametrize("confidence", [0, 100, None])
def test_the_bounds_of_confidence_belong_to_it(confidence: int | None) -> None:
    assert predict("02.crash", "never", confidence=confidence).confidence == confidence


# --- your progress


def test_an_empty_home_has_an_empty_summary_and_stays_empty(home: Path) -> None:
    assert repr(summary()) == "Your progress: no predictions yet."
    assert not home.exists()


def test_the_summary_is_a_table_of_the_latest_answers_without_dates() -> None:
    predict("02.del", "the other client", confidence=60)
    predict("02.crash", "never", confidence=70)
    predict("02.crash", "after the TTL", confidence=90)
    settle("02.crash", "never")
    predict("00.pause", "two")
    settle("00.pause", "two")
    assert summary() == (
        "Your progress: 3 predicted, 2 settled by a run, 1 right.\n"
        "\n"
        "| question | you said | sure | the run says |\n"
        "| --- | --- | --- | --- |\n"
        "| 00.pause | two |  | ✓ the same |\n"
        "| 02.crash | after the TTL | 90 % | ✗ never |\n"
        "| 02.del | the other client | 60 % | not run yet |"
    )


def test_the_summary_draws_itself_in_a_notebook() -> None:
    predict("02.crash", "never")
    assert summary()._repr_markdown_() == str(summary())


def test_an_answer_cannot_break_the_table() -> None:
    predict("02.crash", "a|b\nc\\d")
    assert summary().splitlines()[-1] == "| 02.crash | a\\|b c\\\\d |  | not run yet |"


# --- the file


def test_the_folder_is_that_of_labkit_home_else_the_users_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Progress.open().path == home / "progress.json"
    monkeypatch.delenv("LABKIT_HOME")
    monkeypatch.setattr("platformdirs.user_data_path", lambda name, appauthor: Path("/data") / name)
    assert Progress.open().path == Path("/data/redis-lock-lab/progress.json")


def test_a_folder_can_be_named(tmp_path: Path) -> None:
    Progress.open(tmp_path / "other").predict("02.crash", "never")
    assert len(document(tmp_path / "other")["predictions"]) == 1


def test_the_file_is_readable_by_people(home: Path) -> None:
    predict("02.crash", "für immer")
    text = (home / "progress.json").read_text("utf-8")
    assert '\n      "answer": "für immer",\n' in text
    assert text.endswith("}\n")


def test_half_a_character_does_not_spoil_the_file() -> None:
    predict("02.crash", "\udc80")
    (stored,) = Progress.open().predictions()
    assert stored.answer == "\udc80"


def test_what_a_newer_version_wrote_is_kept(home: Path) -> None:
    newer = {"question": "02.crash", "answer": "never", "at": "2030-01-01T00:00:00Z", "mood": "calm"}
    write(home, {"format": 2, "attempts": [{"drill": "q2"}], "predictions": [newer]})
    settle("02.crash", "never")
    predict("02.del", "never")
    after = document(home)
    assert (after["format"], after["attempts"]) == (2, [{"drill": "q2"}])
    assert (after["predictions"][0]["mood"], after["predictions"][0]["outcome"]) == ("calm", "never")


@pytest.mark.parametrize("entry", [None, 7, [], {}, {"question": "02.crash"}, {"question": 2, "answer": {}}])
def test_an_entry_that_cannot_be_read_is_kept_and_not_counted(entry: Any, home: Path) -> None:
    write(home, {"predictions": [entry, {"question": "02.del", "answer": "never"}]})
    predict("02.crash", "never")
    assert document(home)["predictions"][0] == entry
    assert [stored.question for stored in Progress.open().predictions()] == ["02.del", "02.crash"]


@pytest.mark.parametrize("field", ["confidence", "outcome", "choices", "settled", "at"])
def test_a_field_edited_into_nonsense_breaks_nothing(field: str, home: Path) -> None:
    write(home, {"predictions": [{"question": "02.crash", "answer": "never", field: {"odd": [1]}}]})
    assert "02.crash" in summary()
    assert settle("02.crash", "never")


def test_two_files_are_merged_by_joining_their_lists(home: Path, tmp_path: Path) -> None:
    predict("02.crash", "never")
    Progress.open(tmp_path / "other").predict("02.del", "never")
    write(home, {"predictions": document(home)["predictions"] + document(tmp_path / "other")["predictions"]})
    assert [stored.question for stored in Progress.open().predictions()] == ["02.crash", "02.del"]


def test_looking_does_not_rewrite_a_file_edited_by_hand(home: Path) -> None:
    by_hand = '\ufeff{"predictions": [ {"question": "02.crash", "answer": "never"} ]}'
    write(home, by_hand)
    assert summary()
    assert (home / "progress.json").read_text("utf-8") == by_hand


@pytest.mark.parametrize("ruin", ["", "{", "[]", '{"predictions": 3}', "<<<<<<< ours\n{}", "[" * 100_000])
def test_a_corrupted_file_is_kept_aside_and_said_once(
    ruin: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, ruin)
    predict("02.crash", "never")
    predict("02.del", "never")
    path = home / "progress.json"
    assert (home / "progress.json.corrupt-1").read_text("utf-8") == ruin
    assert len(document(home)["predictions"]) == 2
    kept = "it is kept as progress.json.corrupt-1 and a new file is begun"
    assert capsys.readouterr().err == f"Your progress in {path} could not be read, so {kept}.\n"


def test_an_earlier_corrupted_file_is_not_overwritten_by_a_later_one(home: Path) -> None:
    for ruin in ("first", "second"):
        write(home, ruin)
        summary()
    kept = [(home / f"progress.json.corrupt-{number}").read_text() for number in (1, 2)]
    assert kept == ["first", "second"]


def test_bytes_that_are_no_text_are_kept_aside(home: Path) -> None:
    home.mkdir()
    (home / "progress.json").write_bytes(b"\xff\xfe\x00{")
    assert summary() == "Your progress: no predictions yet."
    assert (home / "progress.json.corrupt-1").read_bytes() == b"\xff\xfe\x00{"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("02.crash", "never")
    before = (home / "progress.json").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    predict("02.del", "never")
    assert (home / "progress.json").read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == [".progress.lock", "progress.json"]


def test_the_file_is_on_disk_before_it_takes_its_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def noted(name: str, call: Callable[..., None]) -> Callable[..., None]:
        return lambda *arguments: (steps.append(name), call(*arguments))[1]  # type: ignore[func-returns-value]

    monkeypatch.setattr(os, "fsync", noted("fsync", os.fsync))
    monkeypatch.setattr(os, "replace", noted("replace", os.replace))
    predict("02.crash", "never")
    assert steps == ["fsync", "replace"]


@pytest.mark.skipif(os.name != "posix", reason="making symbolic links needs no special right on POSIX only")
def test_a_file_that_is_a_link_stays_a_link(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (tmp_path / "dotfiles").mkdir()
    (home / "progress.json").symlink_to(tmp_path / "dotfiles" / "mine.json")
    predict("02.crash", "never")
    assert (home / "progress.json").is_symlink()
    assert len(document(home)["predictions"]) == 1


# --- a folder that cannot be written


@pytest.fixture
def unwritable(home: Path) -> Path:
    """A file where the folder should be: nobody can write there, root included."""
    home.write_text("in the way")
    return home


def test_without_a_folder_the_course_goes_on_in_memory_and_says_so_once(
    unwritable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predict("02.crash", "never")
    predict("02.crash", "after the TTL")
    assert settle("02.crash", "never") == "You said 'after the TTL'; the run says 'never'."
    assert [stored.answer for stored in Progress.open().predictions()] == ["never", "after the TTL"]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"Your progress cannot be saved to {unwritable / 'progress.json'} (")
    assert said.endswith("set LABKIT_HOME to a folder that can be written.\n")


def test_what_was_saved_earlier_is_still_known_in_memory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("02.crash", "never")

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", denied)
    predict("02.del", "never")
    assert [stored.question for stored in Progress.open().predictions()] == ["02.crash", "02.del"]
    assert [entry["question"] for entry in document(home)["predictions"]] == ["02.crash"]


def test_a_file_that_may_not_be_read_is_not_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("02.crash", "never")
    before = (home / "progress.json").read_text("utf-8")

    def denied(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    predict("02.del", "never")
    assert (home / "progress.json").read_text("utf-8") == before
    assert [stored.question for stored in Progress.open().predictions()] == ["02.del"]


@pytest.mark.skipif(os.name != "posix", reason="holds the lock with fcntl")
def test_a_process_that_never_stops_writing_is_not_waited_for_for_ever(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress._locked(home / "progress.json"):
        predict("02.crash", "never")
    assert "another process has been writing there for 0 seconds" in capsys.readouterr().err
    assert len(Progress.open().predictions()) == 1


# --- two processes


def test_no_prediction_is_lost_when_several_processes_write_at_once(home: Path) -> None:
    script = "import sys; from labkit.progress import predict\nfor n in range(20): predict(f'02.q{n}', sys.argv[1])"
    writers = [subprocess.Popen([sys.executable, "-c", script, str(number)]) for number in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    stored = Progress.open().predictions()
    assert len(stored) == 60
    for number in range(3):
        assert [one.question for one in stored if one.answer == str(number)] == [f"02.q{n}" for n in range(20)]


def test_a_prediction_survives_a_process_that_is_killed_right_after(home: Path) -> None:
    script = "import os; from labkit.progress import predict; predict('02.crash', 'never'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    assert [type(stored) for stored in Progress.open().predictions()] == [Prediction]


def test_importing_it_imports_nothing_else_of_labkit() -> None:
    script = "import sys, labkit; before = set(sys.modules); import labkit.progress; print(set(sys.modules) - before)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"'(labkit[^']*)'", out) == ["labkit.progress"]


def test_an_unanswered_question_says_what_may_be_put_and_stores_nothing(tmp_path):
    progress = Progress.open(tmp_path)

    said = progress.predict("02.crash", None, choices=["never", "after the TTL"], confidence=50)

    assert said == (
        "No prediction for 02.crash yet: put one of 'never', 'after the TTL' in place of None, and run this cell again."
    )
    assert progress.predictions() == () and not progress.path.exists()
