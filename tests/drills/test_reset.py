"""labkit/drills/reset.py: the exercise comes back as it was, and not a line of the learner's is lost on the way."""

import importlib
import os
import stat

import pytest

reset = importlib.import_module("labkit.drills.reset")  # the package may offer the function under the same name

PRISTINE = b'{"cells": []}\n'
MINE = b'{"cells": ["an hour of work"]}\n'


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """A package with the exercises q1 and q2."""
    for question in ("q1", "q2"):
        (tmp_path / "drills" / question).mkdir(parents=True)
        (tmp_path / "drills" / question / "exercise.ipynb").write_bytes(PRISTINE)
    monkeypatch.setattr(reset, "DRILLS", tmp_path / "drills")


@pytest.fixture
def folder(tmp_path):
    """The learner's folder."""
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.fixture
def notebook(folder):
    """The learner's notebook, worked in."""
    (folder / "q1.ipynb").write_bytes(MINE)
    return folder / "q1.ipynb"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_empty_folder_gets_the_exercise(folder):
    assert reset.reset("q1", folder) is None
    assert (folder / "q1.ipynb").read_bytes() == PRISTINE


def test_what_was_there_is_kept_and_its_place_returned(folder, notebook):
    assert reset.reset("q1", folder) == folder / "q1.backup-1.ipynb"
    assert (folder / "q1.backup-1.ipynb").read_bytes() == MINE
    assert notebook.read_bytes() == PRISTINE


def test_nothing_is_left_behind_but_the_two(folder, notebook):
    reset.reset("q1", folder)
    assert names(folder) == ["q1.backup-1.ipynb", "q1.ipynb"]


def test_an_untouched_exercise_needs_no_backup(folder, notebook):
    notebook.write_bytes(PRISTINE)
    assert reset.reset("q1", folder) is None
    assert names(folder) == ["q1.ipynb"]


def test_a_file_that_is_no_notebook_is_kept_just_as_well(folder, notebook):
    notebook.write_bytes(b"\xff\x00 no JSON")
    assert reset.reset("q1", folder).read_bytes() == b"\xff\x00 no JSON"


def test_a_backup_is_never_overwritten(folder, notebook):
    (folder / "q1.backup-1.ipynb").write_bytes(b"an older answer")
    assert reset.reset("q1", folder) == folder / "q1.backup-2.ipynb"
    assert (folder / "q1.backup-1.ipynb").read_bytes() == b"an older answer"


def test_a_gap_among_the_backups_is_filled(folder, notebook):
    (folder / "q1.backup-2.ipynb").write_bytes(b"an older answer")
    assert reset.reset("q1", folder) == folder / "q1.backup-1.ipynb"


def test_the_same_text_is_not_kept_twice(folder, notebook):
    first = reset.reset("q1", folder)
    notebook.write_bytes(MINE)
    assert reset.reset("q1", folder) == first
    assert names(folder) == ["q1.backup-1.ipynb", "q1.ipynb"]


def test_a_name_taken_by_a_dangling_link_is_not_written_through(folder, notebook, tmp_path):
    (folder / "q1.backup-1.ipynb").symlink_to(tmp_path / "elsewhere")
    assert reset.reset("q1", folder) == folder / "q1.backup-2.ipynb"
    assert not (tmp_path / "elsewhere").exists()


def test_other_files_are_left_alone(folder, notebook):
    (folder / "q2.ipynb").write_bytes(b"another answer")
    reset.reset("q1", folder)
    assert (folder / "q2.ipynb").read_bytes() == b"another answer"


def test_a_linked_notebook_stays_a_link(folder, tmp_path):
    (tmp_path / "real.ipynb").write_bytes(MINE)
    (folder / "q1.ipynb").symlink_to(tmp_path / "real.ipynb")
    assert reset.reset("q1", folder).read_bytes() == MINE
    assert (folder / "q1.ipynb").is_symlink()
    assert (tmp_path / "real.ipynb").read_bytes() == PRISTINE


def test_a_notebook_that_others_may_read_stays_so(folder, notebook):
    notebook.chmod(0o640)
    reset.reset("q1", folder)
    assert stat.S_IMODE(notebook.stat().st_mode) == 0o640


def test_the_backup_is_on_disk_before_the_notebook_is_replaced(folder, notebook, monkeypatch):
    happened = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (happened.append(names(folder)), sync(file)))
    monkeypatch.setattr(os, "replace", lambda old, new: (happened.append("replaced"), replace(old, new)))
    reset.reset("q1", folder)
    assert "q1.backup-1.ipynb" in happened[0]
    assert happened.index("replaced") > 0


@pytest.mark.parametrize("strike", [KeyboardInterrupt, PermissionError(13, "Permission denied")])
def test_an_interruption_at_the_last_step_loses_nothing(strike, folder, notebook, monkeypatch):
    monkeypatch.setattr(os, "replace", raising(strike))
    with pytest.raises((KeyboardInterrupt, OSError)):
        reset.reset("q1", folder)
    assert notebook.read_bytes() == MINE
    assert (folder / "q1.backup-1.ipynb").read_bytes() == MINE
    assert names(folder) == ["q1.backup-1.ipynb", "q1.ipynb"]


@pytest.mark.parametrize("strike", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_backup_that_cannot_be_finished_leaves_all_as_it_was(strike, folder, notebook, monkeypatch):
    monkeypatch.setattr(os, "fsync", raising(strike))
    with pytest.raises((KeyboardInterrupt, OSError)):
        reset.reset("q1", folder)
    assert notebook.read_bytes() == MINE
    assert names(folder) == ["q1.ipynb"]


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(folder, notebook, monkeypatch):
    monkeypatch.setattr(os, "fsync", raising(OSError(30, "Read-only file system")))
    with pytest.raises(OSError, match=r"q1 was not reset.*cannot be written \(Read-only file system\).*is as it was"):
        reset.reset("q1", folder)


def test_the_next_reset_after_an_interruption_succeeds(folder, notebook, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            reset.reset("q1", folder)
    assert reset.reset("q1", folder) == folder / "q1.backup-1.ipynb"
    assert notebook.read_bytes() == PRISTINE


@pytest.mark.parametrize("question", ["q9", "Q1", "", "../q1", "q1/", None])
def test_an_unknown_question_is_told_with_those_that_there_are(question, folder):
    with pytest.raises(ValueError, match=r"There is no exercise .*; it must be one of: q1, q2\."):
        reset.reset(question, folder)
    assert names(folder) == []


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"There is no folder '.*nowhere'; name the one"):
        reset.reset("q1", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_file_is_no_folder(notebook):
    with pytest.raises(ValueError, match="There is no folder"):
        reset.reset("q1", notebook)


def test_the_sentence_names_the_backup_and_asks_to_reload_an_open_tab(folder, notebook):
    said = reset.told("q1", reset.reset("q1", folder))
    assert "Your notebook is kept as q1.backup-1.ipynb" in said
    assert "Reload Notebook from Disk" in said


def test_the_sentence_names_no_backup_when_there_is_none():
    assert "kept" not in reset.told("q1", None)


def raising(strike):
    def instead(*_):
        raise strike

    return instead
