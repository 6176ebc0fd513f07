"""Real servers and real time: the other side of the world in `labkit.sim`.

`RedisServer` is a private redis-server that is gone when its owner is gone; `find_redis` says which one
it would be. A lock that passes in virtual time is run here once more, unchanged.
"""

from labkit.live._lifeline import ServerFailed
from labkit.live.etcdserver import EtcdNotFound, EtcdServer, find_etcd
from labkit.live.find import NOT_FOUND, Found, RedisNotFound, find_binary, find_redis, mask
from labkit.live.mariadb import MariaDbNotFound, MariaDbServer, find_mariadb
from labkit.live.redisserver import RedisServer
from labkit.live.zookeeper import ZooKeeperNotFound, ZooKeeperServer, find_zookeeper

__all__ = [
    "NOT_FOUND",
    "EtcdNotFound",
    "EtcdServer",
    "Found",
    "MariaDbNotFound",
    "MariaDbServer",
    "RedisNotFound",
    "RedisServer",
    "ServerFailed",
    "ZooKeeperNotFound",
    "ZooKeeperServer",
    "find_binary",
    "find_etcd",
    "find_mariadb",
    "find_redis",
    "find_zookeeper",
    "mask",
]
