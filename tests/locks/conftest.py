"""The fixture of the lock tests."""

from tests.locks.stage import stage

__all__ = ["stage"]
