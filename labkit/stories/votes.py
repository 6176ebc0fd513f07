"""Votes that are not what they seem: a node whose replica stands in for it with less than it knew; a silent node when
the attempt has become hopeless. What else befalls the nodes of Redlock: see `redlock`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ..faults import DropReply, Failover, Replica, Restart
from ..story import Param, Story
from ._actors import TTL
from .redlock import FIVE, REACHED, STRIKES, first, out_of_reach, quorum, second

# -- a node that its replica stands in for -----------------------------------------------------------------------------


def stands_in(p: SimpleNamespace) -> list[Any]:
    """What becomes of n3 when it dies: its replica takes over, or nobody does and it stays away."""
    if p.replica == "none":
        return [Restart("n3", STRIKES, down=600.0)]
    return [Replica("n3-2", "n3", lag=p.lag), Failover("n3", "n3-2", at=STRIKES, takes=0.2)]


node_promoted = Story(
    name="node-promoted",
    claim="One of the five nodes dies, and a replica of it takes its place. Does the majority still stand?",
    params={
        "lock": quorum(),
        "ttl": TTL,
        "reached": replace(REACHED, default=3),
        "replica": Param("promoted", choices=("promoted", "none"), unit="", label="its replica is"),
        "lag": Param(1.0, 0.0, 5.0, 0.01, label="the replica lags by"),
    },
    actors={"A": first, "B": second},
    faults=lambda p: [*out_of_reach("A", p.reached), *stands_in(p)],
    servers=FIVE,
)


# -- two refusals and a silence ----------------------------------------------------------------------------------------


def has_two(me: Any, p: SimpleNamespace) -> None:
    """C: holds two of the nodes, for a second."""
    for name in FIVE[:2]:
        me.redis(name).set("stock", "C's", nx=True, px=1000)


def after_c(me: Any, p: SimpleNamespace) -> None:
    """A: asks once, when C has what it has."""
    time.sleep(0.01)
    first(me, p)


hopeless = Story(
    name="hopeless",
    claim="Two nodes refuse A, the third keeps silent: three votes are out of reach. What is left of the attempt?",
    params={"lock": quorum(), "ttl": TTL},
    actors={"A": after_c, "B": second, "C": has_two},
    faults=lambda p: [DropReply(on="SET", client="A", server="n3")],
    servers=FIVE,
)
