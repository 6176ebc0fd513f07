"""What this machine has for the course, what will be skipped without the rest, and how to get it.

`examine()` looks; it changes nothing and never raises for something missing: a missing thing is a finding. What the
course cannot run without is marked `needed`; a real Redis and Chromium are not, since the notebooks run in the
simulated world. Lua is tried by running a lock's release script in fakeredis, in a process of its own: a compiled
extension that does not fit this machine takes its process down. No version is judged: that is the lock file's task.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

DISTRIBUTION = "redis-lock-lab"
OLDEST_PYTHON = (3, 11)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PROBE_SECONDS = 30.0  # importing fakeredis takes 0.3 s here; a slow disk on its first read can take many times that

# The release of a lock, in the words of SET's manual page: delete the key only while it holds our own value.
LUA_PROBE = """
import importlib.metadata as installed
import fakeredis
redis = fakeredis.FakeRedis()
redis.set("lock", "mine")
release = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
answers = [redis.eval(release, 1, "lock", value) for value in ("other", "mine")]
if answers != [0, 1]:
    raise SystemExit(f"the release script answered {answers} instead of [0, 1]")
print("fakeredis", installed.version("fakeredis"), "with lupa", installed.version("lupa"))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked for.

    name: what.  ok: found and working.  needed: the course cannot run without it.  found: what there is, in words.
    skipped: what is left out without it.  remedy: what to do; both are empty when `ok`.
    """

    name: str
    ok: bool
    needed: bool
    found: str
    skipped: str = ""
    remedy: str = ""


def examine() -> list[Finding]:
    """Look for everything, in the order in which it matters."""
    return [look() for look in (python, packages, lua, real_redis, *SERVICES, chromium)]


def course_can_run(findings: list[Finding]) -> bool:
    """True when nothing that is needed is missing."""
    return all(finding.ok for finding in findings if finding.needed)


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """The interpreter that runs this, against the oldest one that labkit is written for."""
    ok = version[:2] >= OLDEST_PYTHON
    found = f"{'.'.join(map(str, version))}, {platform.system()} {platform.machine()}, {sys.executable}"
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return _finding("Python", ok, True, found, "Everything.", f"Install Python {oldest} or newer and make .venv anew.")


def packages() -> Finding:
    """Whether each package that labkit declares is installed beside it."""
    try:
        wanted = sorted(set(_declared()))
    except importlib.metadata.PackageNotFoundError:
        return Finding("Packages", False, True, "labkit is not installed in this Python", _NOTEBOOKS, _REINSTALL)
    missing = [name for name in wanted if not _is_installed(name)]
    found = f"not installed: {', '.join(missing)}" if missing else f"all {len(wanted)} are installed"
    return _finding("Packages", not missing, True, found, _NOTEBOOKS, _REINSTALL)


def lua(probe: str = LUA_PROBE) -> Finding:
    """Whether a Lua script really runs in fakeredis, which every server of the simulated world is made of."""
    try:
        run = subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        found = f"no answer within {PROBE_SECONDS:g} seconds"
        return Finding("Lua in fakeredis", False, True, found, _NOTEBOOKS, _REINSTALL)
    last_line = (run.stdout if run.returncode == 0 else run.stderr).strip().rpartition("\n")[2]
    found = last_line or f"the probe ended with code {run.returncode}"
    return _finding("Lua in fakeredis", run.returncode == 0, True, found, _NOTEBOOKS, _REINSTALL)


def real_redis() -> Finding:
    """Which server `labkit.live` will use, by its own search."""
    from labkit.live import RedisNotFound, find_redis  # here: redis-py takes a tenth of a second to import
    from labkit.live.find import NOT_FOUND

    try:
        server = find_redis()
    except RedisNotFound as problem:  # an address was given and nothing answers there
        return Finding("Real Redis", False, False, "none", _LIVE, str(problem))
    return _finding("Real Redis", server is not None, False, str(server or "none"), _LIVE, NOT_FOUND)


def zookeeper() -> Finding:
    """Whether there is a ZooKeeper to compare the world's with."""
    from labkit.live.zookeeper import NOT_FOUND, ZooKeeperNotFound, find_zookeeper

    try:
        return _service("ZooKeeper", find_zookeeper(), NOT_FOUND)
    except ZooKeeperNotFound as problem:  # a jar was named and is not there
        return _service("ZooKeeper", None, str(problem))


def etcd() -> Finding:
    """Whether there is an etcd to compare the world's with."""
    from labkit.live.etcdserver import NOT_FOUND, find_etcd

    return _service("etcd", find_etcd(), NOT_FOUND)


def mariadb() -> Finding:
    """Whether questions 3 and 4 can be played on MariaDB too."""
    from labkit.live.mariadb import NOT_FOUND, find_mariadb

    return _service("MariaDB", find_mariadb(), NOT_FOUND)


SERVICES = (zookeeper, etcd, mariadb)


def _service(name: str, found: object, remedy: str) -> Finding:
    return _finding(name, found is not None, False, str(found or "none"), f"The tests on a real {name}.", remedy)


def chromium(which: Callable[[str], str | None] = shutil.which) -> Finding:
    """Whether there is a browser for the tests that open the course as a learner would."""
    path = next(filter(None, map(which, BROWSERS)), None)
    return _finding("Chromium", path is not None, False, path or "none on PATH", _BROWSER, _GET_CHROMIUM)


_NOTEBOOKS = "The notebooks and the tests: they all run in the simulated world."
_LIVE = "The runs on a real server: the tests marked real_redis, and the benchmark against other locks."
_BROWSER = "The tests marked browser. Notebooks open in whichever browser you use."
_REINSTALL = "Run `make lab`, which makes .venv from the lock file, or `pip install -e .` in your own environment."
_GET_CHROMIUM = "Get one with `apt install chromium` (Debian), `brew install --cask chromium` (macOS)."


def _finding(name: str, ok: bool, needed: bool, found: str, skipped: str, remedy: str) -> Finding:
    return Finding(name, ok, needed, found, "" if ok else skipped, "" if ok else remedy)


def _declared() -> Iterator[str]:
    """The names of the packages that labkit itself needs, without those of its extras."""
    for requirement in importlib.metadata.requires(DISTRIBUTION) or ():
        name = re.match(r"[\w.-]+", requirement)
        if name and "extra ==" not in requirement:
            yield name[0]


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
