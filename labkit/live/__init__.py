"""Real servers and real time: the other side of the world in `labkit.sim`.

`RedisServer` is a private redis-server that is gone when its owner is gone; `find_redis` says which one
it would be. A lock that passes in virtual time is run here once more, unchanged.
"""

from labkit.live._lifeline import ServerFailed
from labkit.live.find import NOT_FOUND, Found, RedisNotFound, find_binary, find_redis, mask
from labkit.live.redisserver import RedisServer

__all__ = [
    "NOT_FOUND",
    "Found",
    "RedisNotFound",
    "RedisServer",
    "ServerFailed",
    "find_binary",
    "find_redis",
    "mask",
]
