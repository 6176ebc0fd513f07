"""Run redis-py's own lock tests on labkit's CompatLock, against a real Redis that is started for them.

    python tools/redispy_suite.py [--sdist redis-X.tar.gz] [-- arguments for pytest]

The tests are those of the redis-py that is installed: they are not in its wheel, so its source distribution is fetched
by name with pip, or taken from --sdist. Not a line of them is changed: this file is also the pytest plugin that puts
CompatLock where the collected module looks for `Lock`. CLASHES says which tests ask for what CompatLock does otherwise
on purpose. The last line is «N passed, 1 clash»; the code is 0 when all others passed, 1 when one failed, and 2 when
the tests could not be had.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from labkit.live import RedisServer

ROOT = Path(__file__).resolve().parent.parent
SUITE = "tests/test_lock.py"
CLASHES = {
    "test_high_sleep_small_blocking_timeout": "it wants a wait to be given up at once when a whole sleep does not fit "
    "into what is left of blocking_timeout; CompatLock cuts that sleep and tries once more at the end.",
}
DOWNLOAD_SECONDS = 120


class NotToBeHad(Exception):
    """The source distribution or a server could not be had; the text says what to do."""


# -- the plugin: what pytest calls in the process that runs the suite -------------------------------------------------


class LockModule:
    """What the suite takes for the module `redis.lock`: the clock that it puts at `mod_time` goes to CompatLock."""

    @property
    def mod_time(self) -> Any:
        from labkit.locks import compat

        return vars(compat)["time"]

    @mod_time.setter
    def mod_time(self, clock: Any) -> None:
        from labkit.locks import compat

        vars(compat)["time"] = clock


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Rebinds the two names in each collected module, and takes the clashes out with their reasons."""
    from labkit.locks.compat import CompatLock

    for module in {item.module for item in items}:
        if not hasattr(module, "Lock") or not hasattr(module, "lock_module"):
            raise pytest.UsageError(
                f"{module.__name__} has no Lock to be replaced: this tool no longer fits the suite."
            )
        module.Lock, module.lock_module = CompatLock, LockModule()
    clashes = [item for item in items if item.originalname in CLASHES]
    for item in clashes:
        items.remove(item)
    config.hook.pytest_deselected(items=clashes)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The last line, in words that others can count on."""
    told = terminalreporter.stats
    clashes = [item.originalname for item in told.get("deselected", []) if item.originalname in CLASHES]
    for name in clashes:
        terminalreporter.write_line(f"clash: {name}: {CLASHES[name]}")
    failed = len(told.get("failed", [])) + len(told.get("error", []))
    counts = f"{len(told.get('passed', []))} passed, {failed} failed, {len(clashes)} clash"
    terminalreporter.write_line(f"redis-py {importlib.metadata.version('redis')}, {SUITE} on CompatLock: {counts}")


# -- the command ------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Fetch, unpack, start a server, run; see the top of this file for the exit codes."""
    options = _options(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="redispy-suite-") as folder, own_server() as server:
            unpack(options.sdist or download(Path(folder)), Path(folder))
            return run(Path(folder), server.url, options.pytest)
    except NotToBeHad as error:
        print(error, file=sys.stderr)
        return 2


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run redis-py's own lock tests on labkit's CompatLock.")
    parser.add_argument("--sdist", type=Path, help="redis-py's source distribution, if it is here already")
    parser.add_argument("pytest", nargs="*", metavar="argument", help="further arguments for pytest, after --")
    return parser.parse_args(arguments)


def own_server() -> RedisServer:
    """A server that nobody else uses, for the suite empties it; one that LABKIT_REDIS_URL names is left alone. It has
    a port, since the suite speaks to no unix socket. Raises NotToBeHad."""
    from labkit.live import NOT_FOUND, RedisServer, find_binary

    found = find_binary()
    if found is None:
        raise NotToBeHad(f"The suite needs a server of its own. {NOT_FOUND}")
    return RedisServer(tcp=True, found=found)


def download(folder: Path) -> Path:
    """The source distribution of the installed version, fetched by pip into `folder`. Raises NotToBeHad."""
    wanted = f"redis=={importlib.metadata.version('redis')}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "redis", wanted]
    command += ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10", "--dest", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
        why = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    except subprocess.TimeoutExpired:
        why = f"pip took longer than {DOWNLOAD_SECONDS} seconds"
    found = sorted(folder.glob("redis-*.tar.gz"))
    if not found:
        raise NotToBeHad(f"The source distribution of {wanted} could not be fetched ({why}). Give one with --sdist.")
    return found[0]


def unpack(sdist: Path, folder: Path) -> None:
    """The folder `tests` of the distribution, and nothing else: what is tested is the redis-py that is installed."""
    try:
        with tarfile.open(sdist) as archive:
            for member in archive:
                path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                content = archive.extractfile(member) if path.parts[:1] == ("tests",) else None
                if content is not None and ".." not in path.parts:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(content.read())
    except (OSError, tarfile.TarError) as error:
        raise NotToBeHad(f"{sdist} cannot be read as a source distribution: {error}.") from error
    if not (folder / SUITE).is_file():
        raise NotToBeHad(f"{sdist} holds no {SUITE}: give the source distribution of redis-py.")


def run(folder: Path, url: str, further: list[str]) -> int:
    """pytest over the suite in `folder`, in a process of its own, with this file as its plugin."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # the settings of neither project
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "pytest.ini",
        "-p",
        "tools.redispy_suite",
        "-p",
        "no:cacheprovider",
    ]
    command += ["-q", "--tb=short", "-W", "ignore", f"--redis-url={url}", SUITE, *further]
    done = subprocess.run(command, cwd=folder, env=env, check=False)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # so that it also runs where labkit is not installed
    sys.exit(main())
