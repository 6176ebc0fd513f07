"""Protected resources: what a lock is there to protect."""

from .register import Register

__all__ = ["Register"]
