"""StrictRegister: the store of the article's section 4.3. A write is accepted only if its token is higher than the
last; nobody registers.

It fails like WriteOnlyRegister where a late write comes first (E20), and besides refuses the holder's own second write
(E21). The script makes up the name of a key that the caller has not declared, which a cluster may not have at hand
(E24), and compares numbers of Lua, so that 2^53 and 2^53 + 1 are one token (E26).
"""

from __future__ import annotations

from ..fenced import FencedRegister
from ..holder import Grant

CAUGHT_BY = "no_lost_update"
HIGHER = """
-- write: as in the article
local last = redis.call('GET', KEYS[1] .. ':fencing')
if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1] .. ':fencing', ARGV[1])
redis.call('SET', KEYS[1], ARGV[2])
return 1
""".strip()


class StrictRegister(FencedRegister):
    """As FencedRegister, but a write stands for itself."""

    def register(self, lease: Grant) -> bool:
        return True

    def write(self, value: int, lease: Grant) -> bool:
        fence, _ = self._pair(lease)
        return bool(self.client.eval(HIGHER, 1, self.name, fence, value))
