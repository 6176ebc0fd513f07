"""The twenty ways in which two holders can come before a store, and how many of them lose an update.

Each holder registers, reads, and writes one more than it has read; a lock that works would let one go after the other.
All orders of their six steps are played against a store, one after the other, so nothing is left to chance. An update
is lost where more writes were accepted than the number shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple, Protocol

from .holder import Grant


class Store(Protocol):
    """What a store is asked for here."""

    def register(self, lease: Grant) -> bool: ...

    def read(self) -> int: ...

    def write(self, value: int, lease: Grant) -> bool: ...


class Holder(NamedTuple):
    """As much of a lease as a store looks at."""

    token: str
    fence: int


Life = Callable[[Store, Holder], Iterator[bool]]


class Played(NamedTuple):
    """One order and what came of it. order: whose step each is, as «AABABB».  accepted: how many writes were.
    value: what the store holds in the end."""

    order: str
    accepted: int
    value: int

    @property
    def lost(self) -> int:
        """How many accepted writes the number does not show."""
        return self.accepted - self.value


def orders() -> Iterator[str]:
    """The twenty orders of three steps of A and three of B."""
    for places in combinations(range(6), 3):
        yield "".join("A" if place in places else "B" for place in range(6))


def play(make: Callable[[], Store], fences: tuple[int, int], read_first: bool = False) -> list[Played]:
    """Plays all orders, each against a new store from `make`; A carries the first of `fences`, B the second.
    read_first: they read before they register, which is wrong. Raises ValueError for a store that holds something
    already."""
    live = _live_wrongly if read_first else _live
    holders = Holder("A", fences[0]), Holder("B", fences[1])
    return [_play(make(), order, holders, live) for order in orders()]


def lost_updates(make: Callable[[], Store], fences: tuple[int, int], read_first: bool = False) -> int:
    """In how many of the twenty orders an update is lost."""
    return sum(played.lost > 0 for played in play(make, fences, read_first))


def _play(store: Store, order: str, holders: tuple[Holder, ...], live: Life) -> Played:
    if store.read() != 0:
        raise ValueError("Each order wants a store that nobody has touched yet: let `make` give a new name each time.")
    lives = {holder.token: live(store, holder) for holder in holders}
    accepted = sum(next(lives[name]) for name in order)
    return Played(order, accepted, store.read())


def _live(store: Store, lease: Holder) -> Iterator[bool]:
    """A holder's three steps; each yields whether it was a write that was accepted. Who is refused gives up."""
    registered = store.register(lease)
    yield False
    seen = store.read() if registered else 0
    yield False
    yield registered and store.write(seen + 1, lease)


def _live_wrongly(store: Store, lease: Holder) -> Iterator[bool]:
    """The same steps, but what it has read may be old by the time that it registers."""
    seen = store.read()
    yield False
    registered = store.register(lease)
    yield False
    yield registered and store.write(seen + 1, lease)
