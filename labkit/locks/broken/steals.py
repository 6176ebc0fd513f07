"""StealingLock: how far the work is stands in the lock's own value, and whoever finds it past 80 % takes the lock over,
as in the article's question 7.

It robs a holder that is alive and works (E95), and every newcomer robs again. The one who has died is not resumed: his
checkpoint expires with the lock (E96), or the thief's fresh value has replaced it (E97). The share of the work comes
back as 0, for a number of Lua becomes a whole one in a reply, and a reply ends at the first thing that is missing
(E98). A value that is no such JSON makes every attempt an error (E99), and one that changes is not the one that a plain
release compares (E100).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from ..lease import Lease, LeaseLost, as_text, drift
from ..safe import SafeLock

CAUGHT_BY = "one_believer"
TAKE_OR_STEAL = """
-- take-or-steal: as in the article
local found = redis.call('GET', KEYS[1])
if found == false then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return {1, 0, ''} end
local work = cjson.decode(found)
if work.progress > 0.8 then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return {1, work.progress, work.checkpoint}
end
return {0, 0, ''}
""".strip()
NOTE = """
-- note: how far I am, if the value is still mine; a full TTL with it
local found = redis.call('GET', KEYS[1])
if not found or cjson.decode(found).clientId ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
""".strip()
LEAVE = """
-- leave: deletes the value if it is still mine, whatever it says by now
local found = redis.call('GET', KEYS[1])
if not found or cjson.decode(found).clientId ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
""".strip()


@dataclass(frozen=True, slots=True)
class Found(Lease):
    """A lease, and what the script says of the work: the share that is done, as it arrives, and the checkpoint."""

    progress: int = 0
    checkpoint: str = ""


class StealingLock(SafeLock):
    """As SafeLock, but its value is the work's progress, and the grant is the article's script."""

    def try_acquire(self) -> Lease | None:
        token, sent = self._new_token(), time.monotonic()
        reply = self.client.eval(TAKE_OR_STEAL, 1, self.name, value(token, 0.0, ""), self._ms)
        if not reply[0]:
            return None
        checkpoint = as_text(reply[2]) if len(reply) > 2 else None
        return Found(self.name, token, None, sent + self.ttl - drift(self.ttl), reply[1], checkpoint or "")

    def extend(self, lease: Lease, progress: float = 0.0, checkpoint: str = "") -> Lease:
        """Writes how far the work is into the lock, with a full TTL. Raises LeaseLost if it is not ours any more."""
        mine, sent = value(lease.token, progress, checkpoint), time.monotonic()
        if not self.client.eval(NOTE, 1, self.name, lease.token, mine, self._ms):
            raise LeaseLost("lost", self.name)
        return Lease(self.name, lease.token, None, sent + self.ttl - drift(self.ttl))

    def release(self, lease: Lease) -> None:
        self.client.eval(LEAVE, 1, self.name, lease.token)


def value(client: str, progress: float, checkpoint: Any) -> str:
    """What the lock's key holds."""
    return json.dumps({"clientId": client, "progress": progress, "checkpoint": checkpoint})
