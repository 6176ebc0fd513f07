"""tools/venv.py: makes `.venv` once, leaves it alone afterwards, and repairs what was left half done."""

import ast
from pathlib import Path

import pytest

from tools import venv


@pytest.fixture
def root(tmp_path):
    """A folder with the files that an install depends on."""
    for name in (*venv.LOCKS.values(), "pyproject.toml"):
        (tmp_path / name).write_text(f"# {name}\n")
    return tmp_path


@pytest.fixture
def done(root, monkeypatch):
    """What the tool did, in order, with a Python that is only a file and a pip that only notes its call."""
    log = []

    def create(folder):
        log.append("create")
        Path(venv.python_in(folder)).parent.mkdir(parents=True, exist_ok=True)
        Path(venv.python_in(folder)).write_text("")
        (root / ".venv" / ".folder").write_text(folder)
        (root / ".venv" / ".unfinished").unlink(missing_ok=True)

    monkeypatch.setattr(venv, "create", create)
    monkeypatch.setattr(venv, "pip", lambda folder, *arguments: log.append(arguments[-1]))
    return log


def after(done, root, role):
    """What one more call does."""
    done.clear()
    venv.ensure(str(root), role)
    return list(done)


def test_the_first_call_makes_the_environment_then_installs_the_lock_and_labkit(root, done):
    assert after(done, root, "learner") == ["create", "requirements.lock", "."]


def test_a_second_call_does_nothing(root, done):
    venv.ensure(str(root), "learner")
    assert after(done, root, "learner") == []


def test_the_developer_adds_to_the_learners_environment(root, done):
    venv.ensure(str(root), "learner")
    assert after(done, root, "developer") == ["requirements-dev.lock", "."]


def test_the_developers_environment_serves_the_learner_too(root, done):
    venv.ensure(str(root), "developer")
    assert after(done, root, "learner") == []


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_is_installed_into_the_same_environment(root, done, name):
    venv.ensure(str(root), "learner")
    (root / name).write_text("# changed\n")
    assert after(done, root, "learner") == ["requirements.lock", "."]


def test_a_developers_stamp_of_older_files_does_not_count(root, done):
    venv.ensure(str(root), "developer")
    (root / "pyproject.toml").write_text("# changed\n")
    assert after(done, root, "learner") == ["requirements.lock", "."]


def test_an_interrupted_install_is_started_afresh(root, done, monkeypatch):
    interrupt(monkeypatch, root, "learner")
    assert after(done, root, "learner") == ["create", "requirements.lock", "."]


def test_an_interrupted_upgrade_is_started_afresh_although_the_old_stamp_is_there(root, done, monkeypatch):
    venv.ensure(str(root), "learner")
    interrupt(monkeypatch, root, "developer")
    assert after(done, root, "learner") == ["create", "requirements.lock", "."]


def test_an_environment_whose_python_is_gone_is_made_anew(root, done):
    venv.ensure(str(root), "learner")
    Path(venv.python_in(str(root))).unlink()
    assert after(done, root, "learner") == ["create", "requirements.lock", "."]


def test_an_environment_copied_from_another_folder_is_made_anew(root, done):
    venv.ensure(str(root), "learner")
    (root / ".venv" / ".folder").write_text("/home/somebody/else")
    assert after(done, root, "learner") == ["create", "requirements.lock", "."]


def test_a_python_that_is_too_old_is_named_with_a_way_out():
    with pytest.raises(
        venv.Refusal, match=r"needs Python 3\.11 or newer, and this is Python 3\.9\.2\.\n.*make PYTHON="
    ):
        venv.refuse_unfit_python((3, 9, 2), True)


def test_a_missing_venv_package_is_named():
    with pytest.raises(venv.Refusal, match=r"sudo apt install python3-venv"):
        venv.refuse_unfit_python((3, 12, 1), False)


def test_a_fit_python_is_taken():
    assert venv.refuse_unfit_python((3, 11, 0), True) is None


def test_a_refusal_is_a_sentence_and_a_status_not_a_traceback(root, monkeypatch, capsys):
    monkeypatch.setattr(venv, "ROOT", str(root))
    monkeypatch.setattr(venv.importlib.util, "find_spec", lambda name: None)
    assert venv.main(["learner"]) == 1
    assert "python3-venv" in capsys.readouterr().err


def test_a_pip_that_fails_is_said_with_what_to_do(root):
    Path(venv.python_in(str(root))).parent.mkdir(parents=True)
    Path(venv.python_in(str(root))).symlink_to("/bin/false")
    with pytest.raises(venv.Refusal, match=r"`pip install x` failed[^$]*run the same command again"):
        venv.pip(str(root), "install", "x")


@pytest.mark.parametrize("arguments", [[], ["teacher"], ["learner", "developer"]])
def test_an_unknown_role_is_answered_with_the_usage(arguments, capsys):
    assert venv.main(arguments) == 2
    assert capsys.readouterr().err == "usage: python3 tools/venv.py learner|developer\n"


def test_an_old_python_can_read_the_tool_and_so_can_say_that_it_is_too_old():
    ast.parse(Path(venv.__file__).read_text(), feature_version=(3, 6))


def interrupt(monkeypatch, root, role):
    """Press Ctrl-C while pip is at work."""

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(venv, "pip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            venv.ensure(str(root), role)
