"""redis-py's own lock tests pass on CompatLock, all but the one clash that is documented; and they would notice."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from labkit.live import NOT_FOUND, RedisServer, find_binary
from tests.conftest import missing
from tools import redispy_suite

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """redis-py's source distribution, fetched once; skipped with the reason where there is no network."""
    if find_binary() is None:
        missing(NOT_FOUND)
    try:
        return redispy_suite.download(tmp_path_factory.mktemp("sdist"))
    except redispy_suite.NotToBeHad as error:
        missing(str(error))


def suite(*arguments: str, **variables: str) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools" / "redispy_suite.py"), *arguments]
    env = os.environ | variables
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.real_redis
def test_all_pass_but_the_documented_clash(sdist: Path) -> None:
    code, said = suite("--sdist", str(sdist))
    assert "on CompatLock: 31 passed, 0 failed, 1 clash" in said, said
    assert "clash: test_high_sleep_small_blocking_timeout: it wants" in said
    assert code == 0


@pytest.mark.real_redis
def test_a_compat_lock_that_is_spoilt_fails_it(sdist: Path, tmp_path: Path) -> None:
    spoilt = "from labkit.locks.compat import CompatLock\nCompatLock.locked = lambda self: 'perhaps'\n"
    (tmp_path / "spoil.py").write_text(spoilt)
    code, said = suite("--sdist", str(sdist), "--", "-p", "spoil", PYTHONPATH=str(tmp_path))
    assert (code, "30 passed, 1 failed, 1 clash" in said) == (1, True), said


def test_a_server_that_is_named_is_left_alone(real_redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_binary() is None:
        missing(NOT_FOUND)
    monkeypatch.setenv("LABKIT_REDIS_URL", real_redis.url)
    with redispy_suite.own_server() as server:
        server.client().set("somebody's", "data")
        assert not real_redis.client().exists("somebody's")


@pytest.mark.real_redis
def test_a_suite_without_the_name_to_replace_is_refused(sdist: Path, tmp_path: Path) -> None:
    redispy_suite.unpack(sdist, tmp_path)
    (tmp_path / redispy_suite.SUITE).write_text("def test_nothing(): pass\n")
    assert redispy_suite.run(tmp_path, "redis://127.0.0.1:1/0", []) == 1


def test_a_file_that_is_no_distribution_is_named(tmp_path: Path) -> None:
    (tmp_path / "redis.tar.gz").write_text("no archive")
    with pytest.raises(redispy_suite.NotToBeHad, match=r"redis\.tar\.gz cannot be read"):
        redispy_suite.unpack(tmp_path / "redis.tar.gz", tmp_path)


def test_a_distribution_of_something_else_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as archive:
        archive.add(__file__, "other-1.0/tests/test_other.py")
    with pytest.raises(redispy_suite.NotToBeHad, match=r"holds no tests/test_lock\.py"):
        redispy_suite.unpack(tmp_path / "other.tar.gz", tmp_path)


def test_what_pip_cannot_fetch_is_told_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(redispy_suite.NotToBeHad, match="Give one with --sdist"):
        redispy_suite.download(tmp_path)


def test_every_clash_says_why() -> None:
    assert all(len(reason) > 40 for reason in redispy_suite.CLASHES.values())
    assert list(redispy_suite.CLASHES) == ["test_high_sleep_small_blocking_timeout"]
