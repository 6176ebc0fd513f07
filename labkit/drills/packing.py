"""A learner's functions as bytes, for the process that puts them to the test.

cloudpickle sends what a notebook has made by its content. Two things are done otherwise here. A class of labkit or of
redis goes by its name, also after `%autoreload` has put a new one in its place: `except LeaseLost` must catch what the
lock over there raises. A function behind `functools.cache` goes by its content too: there is no notebook over there to
find its name in.
"""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Mapping
from typing import Any

import cloudpickle

BY_NAME = ("labkit", "redis")
CACHED = type(functools.cache(len))


class Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle, with the two exceptions."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type) and obj.__module__.partition(".")[0] in BY_NAME and "<" not in obj.__qualname__:
            return named, (obj.__module__, obj.__qualname__)
        if isinstance(obj, CACHED):
            return cached, (obj.__wrapped__, obj.cache_parameters())
        return super().reducer_override(obj)


def pack(value: Any) -> bytes:
    """Raises whatever pickling raises for what cannot leave this process."""
    with io.BytesIO() as file:
        Packer(file).dump(value)
        return file.getvalue()


def named(module: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def cached(function: Any, parameters: Mapping[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)
