"""Sections one and two of the article: what SET NX PX promises on one server, and whose lock a release deletes."""

from __future__ import annotations

from ..timeline import Timeline
from .erratum import Erratum, Shown, played
from .telling import found_in


def undone_by_its_error(timeline: Timeline) -> Shown:
    """Whether a script that ended in an error has left everything as it was."""
    failed = [event for event in timeline.find("apply") if event.data["reply"].startswith("-")]
    left = next(((event, key) for event in failed for key in event.data["keys"]), None)
    if left is None:
        return Shown(bool(failed) or None, f"{len(failed)} script(s) ended in an error, and changed nothing.")
    event, key = left
    until = event.data["keys"][key]["until"]
    why = f"The script of t = {event.t:.3f} s ended in an error, and has left {key} taken until t = {until:.3f} s."
    return Shown(False, why)


ERRATA = [
    Erratum(
        number="E01",
        grade=1,
        section="1.2",
        claim="Asynchronous replication loses locks, and that is the root of the dispute about Redlock.",
        truth="It is what Redlock was made for. The dispute is about assumptions on timing, and about fencing tokens.",
        where="notebook 01, “4 · Belief, truth, and six promises”",
        source="Not a question for a run: what the two posts of 8 and 9 February 2016 are about (M. Kleppmann, "
        "«How to do distributed locking»; S. Sanfilippo, «Is Redlock safe?»).",
    ),
    Erratum(
        number="E02",
        grade=2,
        section="5.1",
        claim="On a single node, or under Sentinel, SET NX PX fails because replication is asynchronous.",
        truth="A single node replicates nothing. It loses locks in a restart without persistence, by its clock, and by "
        "eviction; the hole of replication is that of replicas, Sentinel and Cluster.",
        where="notebook 05, “1 · An acknowledged lock is forgotten”",
        wrong=played("server-restart", "exclusive_grants", data="lost"),
        right=played("server-restart", "exclusive_grants", data="kept"),
        source="Redis documentation, «Distributed Locks with Redis», the section on crash recovery.",
    ),
    Erratum(
        number="E03",
        grade=2,
        section="2.2, 4.3",
        claim="A Lua script is executed as one atomic operation.",
        truth="It is isolated, not rolled back: what it did before an error stays. Let the step that may fail come "
        "first.",
        where="notebook 04, “2 · A number with each grant”",
        wrong=found_in("junk-counter", undone_by_its_error, lock="fenced-seed"),
        right=found_in("junk-counter", undone_by_its_error, lock="fenced"),
    ),
    Erratum(
        number="E04",
        grade=3,
        section="2.2, 4.3, 5.2",
        claim="The value of the lock is the client's id.",
        truth="It is drawn anew for each acquisition: with one id for a client, a late release of one thread deletes "
        "the lock of the other.",
        where="notebook 02, “3 · One value for a client, or one for each acquisition?”",
        wrong=played("shared-id", "own_release", lock="shared-id"),
        right=played("shared-id", "own_release", lock="safe"),
        source="Redis documentation, «Distributed Locks with Redis»: the value is unique across all clients and all "
        "lock requests.",
    ),
    Erratum(
        number="E05",
        grade=2,
        section="2.2",
        claim="Nothing: what the release answers is ignored, and so is that replies can be lost.",
        truth="A 0 means «expired, you were not alone to the end» or «my first copy has done it». A lock "
        "that compares, and leaves a receipt, tells them apart.",
        where="notebook 02, “4 · The reply is lost”",
        wrong=played("lost-release", "honest", lock="ghost"),
        right=played("lost-release", "honest", lock="safe"),
        source="Redisson keeps an «unlock latch» key for each request for the same reason (its source).",
    ),
    Erratum(
        number="E06",
        grade=1,
        section="2.2",
        claim="To release safely one needs a Lua script that compares and deletes.",
        truth="Since Redis 8.4 there is DELEX key IFEQ value, in Valkey from 9.0 on DELIFEQ. Lua works on older ones.",
        where="notebook 02, “4 · The reply is lost”",
        source="Not run: the course asks for no server as new as that. The notebook has DELEX on a simulated one of "
        "version 8.4. Redis documentation, DELEX and SET; Valkey documentation, DELIFEQ.",
    ),
    Erratum(
        number="E07",
        grade=2,
        section="2.3",
        claim="A TTL is either too short for the work or too long after a crash; that is the dilemma.",
        truth="Two things are missing: the holder's own monotonic deadline, at which it can stop by itself; and "
        "eviction, which ends a lock at any TTL. Keep locks where nothing is evicted.",
        where="notebook 02, “5 · How long should the lease be?”",
        wrong=played("full-memory", "exclusive_grants", cache="with the locks"),
        right=played("full-memory", "exclusive_grants", cache="apart"),
        source="Redis documentation, «Key eviction»: volatile-ttl removes the keys with the shortest time to live.",
    ),
]
