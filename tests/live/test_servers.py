"""What all real servers of the lab have in common, whichever program it is."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.live import (
    NOT_FOUND,
    EtcdServer,
    MariaDbServer,
    RedisServer,
    ServerFailed,
    ZooKeeperServer,
    etcdserver,
    find_binary,
    find_etcd,
    find_mariadb,
    find_zookeeper,
    mariadb,
    zookeeper,
)
from labkit.live._lifeline import Lifeline
from tests.conftest import missing

SERVERS: dict[str, tuple[Callable[[], Any], Callable[[], object], str]] = {
    "Redis": (lambda: RedisServer(found=find_binary()), find_binary, NOT_FOUND),
    "etcd": (EtcdServer, find_etcd, etcdserver.NOT_FOUND),
    "ZooKeeper": (ZooKeeperServer, find_zookeeper, zookeeper.NOT_FOUND),
    "MariaDB": (MariaDbServer, find_mariadb, mariadb.NOT_FOUND),
}


@pytest.fixture(params=SERVERS)
def named(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """A real server of each kind, and what it is called."""
    make, find, how_to_get = SERVERS[request.param]
    if find() is None:
        missing(how_to_get)
    with make() as server:
        yield request.param, server


def test_a_server_that_was_started_already_is_left_as_it_is(named: tuple[str, Any]) -> None:
    _, server = named
    line = server._line
    assert server.start() is server
    assert server._line is line


def test_a_message_names_the_server_it_is_about(named: tuple[str, Any]) -> None:
    name, server = named
    server._line.owner = 0
    with pytest.raises(ServerFailed, match=rf"^The {name} server belongs to process 0: only that process can kill it"):
        server._line.ask("kill")


def test_a_program_that_is_gone_is_named_with_its_server(tmp_path: Path) -> None:
    line = Lifeline("etcd", str(tmp_path))
    with pytest.raises(ServerFailed, match=r"^The etcd server could not be told to start: .*no-such-program"):
        line.ask("start", program=str(tmp_path / "no-such-program"), config="")
    line.close()


def test_the_end_of_a_log_is_its_last_six_lines(tmp_path: Path) -> None:
    line = Lifeline("etcd", str(tmp_path))
    assert line.log() == "It left no log."
    line.ask("start", program=sys.executable, config="print(*range(7), sep=chr(10))")
    line.ask("wait")
    assert line.log() == "Its log ends: 1 | 2 | 3 | 4 | 5 | 6"
    line.close()
