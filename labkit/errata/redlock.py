"""Section five of the article: Redlock as its pseudo-code has it."""

from __future__ import annotations

from typing import Any

from ..locks import Lease, Redlock
from ..timeline import Timeline
from .erratum import Erratum, Shown, compared, played
from .five import answered, nothing_left, together
from .telling import found_in, played_and

VOTES, WORTH = "2 · Five nodes, three votes", "3 · How long is a grant worth something?"
SILENCE, ONE_VALUE = "4 · A time-out is neither a no nor a yes", "6 · One value for all attempts?"
FORGETS, OPEN = "7 · A node forgets, a clock jumps", "What is left open"


def taught(heading: str) -> str:
    return f"notebook 05, “{heading}”"


class OnlyAfterFailureRedlock(Redlock):
    """As Redlock, but it unlocks nothing after a success, as the article's code has it (E36)."""

    def release(self, lease: Lease) -> None:
        pass


def granted_soon(timeline: Timeline) -> Shown:
    """Whether A, with a node that takes eight seconds to answer, is told within a tenth of its TTL."""
    (asked,) = [op for op in timeline.ops("acquire") if op.node == "A"]
    took, limit = (asked.ret or timeline.end) - asked.call, asked.args["ttl"] / 10
    why = f"One of five nodes answers after 8 s: A has its lock after {took:.3f} s of a TTL of {asked.args['ttl']:g} s."
    return compared(took <= limit, why)


SLOW: dict[str, Any] = {"by": 8.0, "step": 0.0, "at": 30.0}
FAST_CLOCKS: dict[str, Any] = {"by": 0.0, "step": 0.0, "rate": 1.01, "at": 9.95, "work": 10.0}
BARE: dict[str, Any] = {"reached": 3, "forget": 1}

ERRATA = [
    Erratum(
        number="E30",
        grade=1,
        section="5.2, step 2",
        claim="Ask the nodes one after the other.",
        truth="Ask all of them at once, under one deadline: a round then takes as long as that allows, not as long "
        "as all slow nodes together.",
        where=taught(VOTES),
        wrong=found_in("slow-node", granted_soon, lock="redlock-seed", **SLOW),
        right=found_in("slow-node", granted_soon, lock="redlock", **SLOW),
        source="Redis documentation, «Distributed Locks with Redis»: in parallel since November 2025.",
    ),
    Erratum(
        number="E31",
        grade=3,
        section="5.2, steps 4 and 5",
        claim="The lease is valid for the TTL less the time that it took, and the caller is told «true».",
        truth="Less the drift of the nodes' clocks as well, and the caller is given the deadline: the last "
        "milliseconds are already another's.",
        where=taught(WORTH),
        wrong=played_and("slow-node", "exclusive_grants", answered, lock="redlock-seed", **FAST_CLOCKS),
        right=played_and("slow-node", "exclusive_grants", answered, lock="redlock", **FAST_CLOCKS),
        source="Redis documentation, «Distributed Locks with Redis»; redlock-rb takes off 1 % and 2 ms.",
    ),
    Erratum(
        number="E32",
        grade=3,
        section="5.2, the code",
        claim="The client measures the acquisition by currentTimeMillis().",
        truth="By a monotonic clock. A wall clock that is set back meanwhile makes twelve seconds into minus three, "
        "and a lease of keys that have expired.",
        where=taught(WORTH),
        wrong=played_and("set-back", "exclusive_grants", answered, lock="redlock-seed"),
        right=played_and("set-back", "exclusive_grants", answered, lock="redlock"),
    ),
    Erratum(
        number="E33",
        grade=2,
        section="5.2, the code",
        claim="Unlock in a loop over the nodes; the time-out of a node is in the text, not in the code.",
        truth="Each request has a time-out, and no node's error ends the loop: otherwise one dead node leaves all "
        "behind it locked for a TTL.",
        where=taught(SILENCE),
        wrong=found_in("silent-nodes", nothing_left, lock="redlock-seed", silent=1, request="cut"),
        right=found_in("silent-nodes", nothing_left, lock="redlock", silent=1, request="cut"),
    ),
    Erratum(
        number="E34",
        grade=3,
        section="5.2, the code",
        claim="A node that does not answer is not available: skip it.",
        truth="It may have done what was asked, or does it later. Silence is no vote, and is taken back on the same "
        "connection, behind the request.",
        where=taught(SILENCE),
        wrong=found_in("silent-nodes", nothing_left, lock="redlock-seed", silent=3, request="late"),
        right=found_in("silent-nodes", nothing_left, lock="redlock", silent=3, request="late"),
    ),
    Erratum(
        number="E35",
        grade=3,
        section="5.2, the code",
        claim="The caller hands in the value, the same for all attempts.",
        truth="A fresh value for each attempt: the late unlock of a failed one deletes a key of the next one "
        "otherwise.",
        where=taught(ONE_VALUE),
        wrong=played("late-unlock", "exclusive_grants", lock="one-value"),
        right=played("late-unlock", "exclusive_grants", lock="redlock"),
        source="Not run here: redlock-rb and redsync draw the value once a call, before their loop of attempts.",
    ),
    Erratum(
        number="E36",
        grade=2,
        section="5.2, step 6",
        claim="If the acquisition has failed, unlock all nodes. (What follows a success is not said.)",
        truth="After a success too, and on all nodes, also on those that have not answered: they may have the key.",
        where=taught(SILENCE),
        wrong=found_in("silent-nodes", nothing_left, lock=OnlyAfterFailureRedlock, silent=2, request="done"),
        right=found_in("silent-nodes", nothing_left, lock="redlock", silent=2, request="done"),
    ),
    Erratum(
        number="E37",
        grade=3,
        section="5.2",
        claim="Nothing: that a node restarts without its data is left out.",
        truth="It gives the key to another, and a bare majority is gone. Write to disk before each answer, or start "
        "again a TTL later, which trusts in timing once more.",
        where=taught(FORGETS),
        wrong=played("node-forgets", "exclusive_grants", **BARE),
        right=together(
            ("With its data kept", played("node-forgets", "exclusive_grants", data="kept", **BARE)),
            ("Back after a TTL", played("node-forgets", "exclusive_grants", down=10.5, **BARE)),
        ),
        source="Redis documentation, «Distributed Locks with Redis», on crash recovery.",
    ),
    Erratum(
        number="E38",
        grade=2,
        section="5.2",
        claim="Five nodes. (That none of them may have a replica to fail over to is left out.)",
        truth="They are masters without failover: a replica that lags and is promoted is a node that has forgotten.",
        where=taught(FORGETS),
        wrong=played("node-promoted", "exclusive_grants", replica="promoted"),
        right=played("node-promoted", "exclusive_grants", replica="none"),
        source="Redis documentation, «Distributed Locks with Redis»: N masters, independent, without replication.",
    ),
    Erratum(
        number="E39",
        grade=2,
        section="5.2",
        claim="A library that is called Redlock does what the algorithm says.",
        truth="Redisson's RedissonRedLock checks neither validity nor drift, and ignores what its last calls to set "
        "the expiry say. It is deprecated.",
        where=taught(OPEN),
        source="Not run here, for it is Java: Redisson's source; deprecated since 3.12.5 (issue #2669).",
    ),
]
