"""The fixture `real_redis` never lets a test pass by not running: it skips with a reason, or fails where it must."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.live import RedisServer

Run = Callable[..., tuple[int, str]]
TESTS = Path(__file__).parents[1]
HIDE = "import labkit.live.find\nlabkit.live.find.find_binary = lambda: None\n"
PROBE = "def test_it(real_redis):\n    assert real_redis.client().set('left behind', 1)\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run two tests that need Redis in a pytest of their own, with this conftest and the given environment."""

    def start(*arguments: str, hidden: bool = False, **variables: str) -> tuple[int, str]:
        (tmp_path / "conftest.py").write_text((HIDE if hidden else "") + (TESTS / "conftest.py").read_text())
        (tmp_path / "test_probe.py").write_text(PROBE + PROBE.replace("test_it", "test_again"))
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = real_redis\nfilterwarnings = error\n")
        unset = ("CI", "LABKIT_REQUIRE_SERVICES", "LABKIT_REDIS_URL", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
        env = {name: value for name, value in os.environ.items() if name not in unset} | variables
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TESTS.parent), env.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return start


def test_without_a_server_it_skips_with_the_reason(run: Run) -> None:
    code, out = run(hidden=True)
    assert (code, "2 skipped" in out) == (0, True)
    assert "No Redis server was found" in out
    assert "apt install redis-server" in out


@pytest.mark.parametrize("variable", ["CI", "LABKIT_REQUIRE_SERVICES"])
def test_where_services_are_promised_a_missing_server_fails(run: Run, variable: str) -> None:
    code, out = run(hidden=True, **{variable: "1"})
    assert (code, "2 errors" in out) == (1, True)
    assert "Services are required here" in out


def test_an_address_where_nobody_answers_fails_and_is_named(run: Run) -> None:
    code, out = run(LABKIT_REDIS_URL="redis://:secret@127.0.0.1:1/0")
    assert (code, "2 errors" in out, "secret" in out) == (1, True, False)
    assert "LABKIT_REDIS_URL is 'redis://:***@127.0.0.1:1/0', but no Redis answers there" in out


def test_the_mark_can_be_left_out_where_only_the_fixture_is_asked_for(run: Run) -> None:
    code, out = run("-m", "not real_redis", hidden=True)
    assert (code, "2 deselected" in out) == (5, True)


def test_a_named_database_is_emptied_after_each_test(run: Run, real_redis: RedisServer) -> None:
    code, _ = run(LABKIT_REDIS_URL=real_redis.url)
    assert (code, real_redis.client().dbsize()) == (0, 0)


def test_a_named_database_with_data_in_it_is_refused_and_left_alone(run: Run, real_redis: RedisServer) -> None:
    real_redis.client().set("somebody's", "data")
    code, out = run(LABKIT_REDIS_URL=real_redis.url)
    assert (code, "name an empty database" in out) == (1, True)
    assert real_redis.client().get("somebody's") == b"data"


def test_no_test_reads_the_progress_of_whoever_runs_it(labkit_home: str, tmp_path: Path) -> None:
    assert os.environ["LABKIT_HOME"] == labkit_home
    assert Path(labkit_home).parent == tmp_path.parent
