"""WriteOnlyRegister: the rule of the article's section 4.2, a write is accepted if its token is not lower than the
highest that a *write* has carried; nobody registers.

It fails where a late write comes before the new holder's first (E20): B holds token 2 and has read 0, A wakes and
writes 1 with token 1, B writes 1.
"""

from __future__ import annotations

from ..fenced import FencedRegister
from ..holder import Grant

CAUGHT_BY = "no_lost_update"
NOT_LOWER = """
-- write: if the token is not lower than the last; as text, which is exact, unlike a number of Lua
local last = redis.call('HGET', KEYS[1], 'fence') or '0'
if #ARGV[1] < #last or (#ARGV[1] == #last and ARGV[1] < last) then return 0 end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
return 1
""".strip()


class WriteOnlyRegister(FencedRegister):
    """As FencedRegister, but the guard hears of a holder only when that writes, and knows no owners."""

    def register(self, lease: Grant) -> bool:
        return True

    def write(self, value: int, lease: Grant) -> bool:
        fence, _ = self._pair(lease)
        return bool(self.client.eval(NOT_LOWER, 2, self.guard, self.name, fence, value))
