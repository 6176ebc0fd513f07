"""Protected resources: what a lock is there to protect. Some can refuse a holder that comes too late."""

from .fenced import FencedRegister
from .gateway import Gateway
from .interleavings import lost_updates
from .register import Register
from .sql import SqlFencedRegister

__all__ = ["FencedRegister", "Gateway", "Register", "SqlFencedRegister", "lost_updates"]
