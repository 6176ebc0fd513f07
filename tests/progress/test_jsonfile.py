"""The file outlives crashes, other writers and hands that edit it; seen mostly through the progress that it keeps."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.progress import Progress, jsonfile, predict, settle, summary
from tests.progress.page import document, write

BLANK = {"format": 1, "things": []}


# --- the text


def test_the_file_is_readable_by_people(home: Path) -> None:
    predict("02.crash", "für immer")
    text = (home / "progress.json").read_text("utf-8")
    assert '\n      "answer": "für immer",\n' in text
    assert text.endswith("}\n")


def test_half_a_character_does_not_spoil_the_file() -> None:
    predict("02.crash", "\udc80")
    (stored,) = Progress.open().predictions()
    assert stored.answer == "\udc80"


def test_looking_does_not_rewrite_a_file_edited_by_hand(home: Path) -> None:
    by_hand = '\ufeff{"predictions": [ {"question": "02.crash", "answer": "never"} ]}'
    write(home, by_hand)
    assert summary()
    assert (home / "progress.json").read_text("utf-8") == by_hand


# --- a file that is no use


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


# --- a write is whole


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


def denied(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


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
    monkeypatch.setattr(os, "replace", denied)
    predict("02.del", "never")
    assert [stored.question for stored in Progress.open().predictions()] == ["02.crash", "02.del"]
    assert [entry["question"] for entry in document(home)["predictions"]] == ["02.crash"]


def test_a_file_that_may_not_be_read_is_not_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("02.crash", "never")
    before = (home / "progress.json").read_text("utf-8")
    monkeypatch.setattr(Path, "read_bytes", denied)
    predict("02.del", "never")
    assert (home / "progress.json").read_text("utf-8") == before
    assert [stored.question for stored in Progress.open().predictions()] == ["02.del"]


@pytest.mark.skipif(os.name != "posix", reason="holds the lock with fcntl")
def test_a_process_that_never_stops_writing_is_not_waited_for_for_ever(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jsonfile, "PATIENCE", 0.0)
    with jsonfile._locked(home / "progress.json"):
        predict("02.crash", "never")
    assert "another process has been writing there for 0 seconds" in capsys.readouterr().err
    assert len(Progress.open().predictions()) == 1


def test_the_file_is_tried_again_and_gets_what_memory_holds(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.write_text("in the way")
    predict("02.crash", "never")
    home.unlink()
    predict("02.del", "never")
    predict("02.last", "never")
    assert [entry["question"] for entry in document(home)["predictions"]] == ["02.crash", "02.del", "02.last"]
    assert capsys.readouterr().err.splitlines()[1:] == [f"Your progress is saved to {home / 'progress.json'} again."]


def test_what_others_wrote_meanwhile_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("02.crash", "never")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", denied)
        settle("02.crash", "never")
        predict("02.del", "never")
    elsewhere = dict(document(home)["predictions"][0], question="02.other")
    write(home, {"predictions": [*document(home)["predictions"], elsewhere]})
    predict("02.last", "never")
    entries = document(home)["predictions"]
    assert sorted(entry["question"] for entry in entries) == ["02.crash", "02.del", "02.last", "02.other"]
    assert [entry["outcome"] for entry in entries if entry["question"] == "02.crash"] == ["never"]


def test_a_look_saves_what_memory_holds(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", denied)
        predict("02.crash", "never")
    assert summary()
    assert len(document(home)["predictions"]) == 1


def test_a_function_that_raises_loses_nothing_of_what_memory_holds(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / "a.json"
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", denied)
        jsonfile.change(path, BLANK, lambda document: document["things"].append("one"))
    with pytest.raises(KeyError):
        jsonfile.change(path, BLANK, lambda document: document["no such name"])
    jsonfile.change(path, BLANK, lambda document: None)
    assert jsonfile.load(path, BLANK) == {"format": 1, "things": ["one"]}


# --- change, read, load


def things(path: Path) -> Any:
    return jsonfile.read(path, BLANK)["things"]


def test_change_gives_back_what_the_function_gave(tmp_path: Path) -> None:
    assert jsonfile.change(tmp_path / "a.json", BLANK, lambda document: len(document["things"])) == 0


def test_what_was_changed_is_read_again(tmp_path: Path) -> None:
    jsonfile.change(tmp_path / "a.json", BLANK, lambda document: document["things"].append("one"))
    assert things(tmp_path / "a.json") == ["one"]


def test_one_file_never_writes_into_the_blank_of_the_next(tmp_path: Path) -> None:
    jsonfile.change(tmp_path / "a.json", BLANK, lambda document: document["things"].append("one"))
    assert things(tmp_path / "b.json") == []


def test_a_function_that_raises_changes_nothing(tmp_path: Path) -> None:
    def half(document: dict[str, Any]) -> None:
        document["things"].append("half")
        raise KeyError("the other half")

    with pytest.raises(KeyError):
        jsonfile.change(tmp_path / "a.json", BLANK, half)
    assert things(tmp_path / "a.json") == []


def test_to_look_for_a_file_makes_no_folder(tmp_path: Path) -> None:
    assert jsonfile.read(tmp_path / "new" / "a.json", BLANK) == BLANK
    assert not (tmp_path / "new").exists()


def test_loading_touches_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"things": [1], "more": 2}')
    assert jsonfile.load(tmp_path / "a.json", BLANK) == {"things": [1], "more": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert jsonfile.load(tmp_path / "a.json", BLANK) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "not an object with names"),
        ('{"things": 3}', "'things', which is not a"),
    ],
)
def test_loading_what_cannot_be_understood_says_why_and_leaves_it(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=why):
        jsonfile.load(tmp_path / "a.json", BLANK)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


# --- a list to add to, and two documents made one


def test_a_list_that_is_not_there_is_begun() -> None:
    begun: dict[str, Any] = {}
    jsonfile.list_in(begun, "things").append("one")
    assert begun == {"things": ["one"]}


def test_what_stands_in_the_place_of_a_list_is_kept_as_its_first_entry() -> None:
    odd: dict[str, Any] = {"things": {"from": "elsewhere"}}
    jsonfile.list_in(odd, "things").append("one")
    assert odd == {"things": [{"from": "elsewhere"}, "one"]}


def test_joined_lists_are_in_the_order_of_time() -> None:
    mine, theirs = {"things": [{"at": "1"}, {"at": "3"}]}, {"things": [{"at": "2"}]}
    assert jsonfile.join(mine, theirs) == {"things": [{"at": "1"}, {"at": "2"}, {"at": "3"}]}


def test_what_both_have_is_there_once() -> None:
    assert jsonfile.join({"things": [{"at": "1"}]}, {"things": [{"at": "1"}]}) == {"things": [{"at": "1"}]}


def test_what_one_has_twice_stays_twice() -> None:
    assert jsonfile.join({"things": [{"at": "1"}, {"at": "1"}]}, {}) == {"things": [{"at": "1"}, {"at": "1"}]}


@pytest.mark.parametrize("swapped", [False, True])
def test_an_entry_that_one_file_saw_settled_is_settled(swapped: bool) -> None:
    known, still_open = {"at": "1", "outcome": "never"}, {"at": "1", "outcome": None}
    mine, theirs = (still_open, known) if swapped else (known, still_open)
    assert jsonfile.join({"things": [mine]}, {"things": [theirs]}) == {"things": [known]}


def test_two_endings_of_one_entry_are_both_kept_and_the_later_is_last() -> None:
    early, late = [{"at": "1", "outcome": word, "settled": time} for word, time in (("no", "2"), ("yes", "3"))]
    assert jsonfile.join({"things": [late]}, {"things": [early]}) == {"things": [early, late]}


def test_true_is_not_taken_for_one() -> None:
    joined = jsonfile.join({"things": [{"at": "1", "answer": True}]}, {"things": [{"at": "1", "answer": 1}]})
    assert len(joined["things"]) == 2


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, {"at": 3}, {"at": {"odd": 1}}])
def test_an_odd_entry_is_joined_too(odd: Any) -> None:
    assert odd in jsonfile.join({"things": [{"at": "1"}]}, {"things": [odd]})["things"]


def test_a_list_that_only_the_other_knows_comes_along() -> None:
    assert jsonfile.join({}, {"cards": [1]}) == {"cards": [1]}


def test_of_what_is_no_list_mine_stays_and_what_i_lack_is_added() -> None:
    mine, theirs = {"format": 1}, {"format": 2, "mood": "calm"}
    assert jsonfile.join(mine, theirs) == {"format": 1, "mood": "calm"}


# --- two processes


def test_no_entry_is_lost_when_several_processes_write_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from labkit.progress import jsonfile\n"
        "for n in range(20): jsonfile.change(pathlib.Path(sys.argv[1]), {'things': []}, "
        "lambda document: document['things'].append([sys.argv[2], n]))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "a.json")]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert sorted(things(tmp_path / "a.json")) == [[str(number), n] for number in range(3) for n in range(20)]
