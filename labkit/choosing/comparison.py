"""Twelve services that keep two from doing harm, side by side: what becomes of each in a pause, a failover, a clock's
jump, which number it has for a store, and how one waits.

Where a run settles an entry, the letter beside it is that of the recorded matrix, with the cell it stands in. Entries
without a letter are words: of the manual, or the source, that the last column names; nothing here has run them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..explore.matrix import Cell
from .record import Record, recorded

PAGE = "../docs/matrix.md"  # seen from a notebook


@dataclass(frozen=True)
class Compared:
    """A row of the table. entries: one for each of COLUMNS.  word: whose word the entries without a letter are.
    places: by column, the cell of the matrix that settles an entry, as in {"pause": "R3 F2"}."""

    scheme: str
    entries: tuple[str, str, str, str, str]
    word: str = ""
    places: Mapping[str, str] = field(default_factory=dict)


COLUMNS = {
    "pause": "holder pauses > TTL",
    "failover": "server fails over",
    "clock": "clock jumps",
    "number": "number for the store",
    "waiting": "waiting",
}


compared = (
    Compared(
        "one Redis",
        (
            "second grant",
            "none; after a restart the lock is forgotten",
            "a key expires early, or late",
            "a counter of one's own",
            "poll, or a message",
        ),
        "expiry by the wall clock: redis.io",
        {"pause": "R3 F2", "failover": "R3 F6", "clock": "R3 F5", "number": "R6b F2"},
    ),
    Compared(
        "Redis with replicas (Redisson's RLock)",
        (
            "second grant",
            "an acknowledged lock can vanish; WAIT narrows it",
            "also skew between the two (E43)",
            "RFencedLock's counter, may repeat",
            "a message",
        ),
        "what Redisson does: its source",
        {"pause": "R5 F2", "failover": "R5 F4", "clock": "R5 F5", "number": "R6b F4"},
    ),
    Compared(
        "Redlock",
        (
            "second grant",
            "no failover by design; a restart takes a vote",
            "one node breaks a bare majority",
            "none",
            "random pauses",
        ),
        "notebook 05",
        {"pause": "R7 F2", "failover": "R7 F6", "clock": "R7 F5"},
    ),
    Compared(
        "ZooKeeper, Curator",
        (
            "the session ends, second grant",
            "a quorum keeps it",
            "no wall clock counts",
            "czxid of the own node",
            "in line, each for the one before",
        ),
        "waiting: run below",
        {"pause": "R8 F2", "failover": "R8 F4", "clock": "R8 F5", "number": "R8-czxid F2"},
    ),
    Compared(
        "etcd",
        (
            "the lease ends, second grant",
            "a quorum keeps it; a new leader may prolong leases",
            "no wall clock counts",
            "create revision of the own key",
            "in line, by revision",
        ),
        "a new leader: etcd's documentation",
        {"pause": "R9 F2", "failover": "R9 F4", "clock": "R9 F5", "number": "R9-revision F2"},
    ),
    Compared(
        "a row locked in its transaction",
        (
            "it stays; if the server ends the session, A's next statement fails",
            "the transaction is rolled back",
            "does not matter",
            "not needed inside",
            "the database's queue, with a time-out",
        ),
        "manuals of MySQL and PostgreSQL, on SELECT … FOR UPDATE",
    ),
    Compared(
        "a claimed row: version, owner, lease",
        ("the write finds another version", "the same", "does not matter", "the version", "ask again"),
        "notebook 01, with a version alone",
        {"pause": "R10 F2", "failover": "R10 F4", "clock": "R10 F5", "number": "R10 F2"},
    ),
    Compared(
        "MySQL GET_LOCK",
        (
            "it stays while the session lives",
            "lost, it is not replicated",
            "does not matter",
            "none",
            "its time-out argument; not tied to a transaction, and pools share sessions",
        ),
        "MySQL's manual, on locking functions",
    ),
    Compared(
        "PostgreSQL's advisory lock",
        (
            "it stays, for the session or the transaction",
            "lost",
            "does not matter",
            "none",
            "waits, or tries once; a pool per transaction breaks the session's kind",
        ),
        "PostgreSQL's manual, on advisory locks",
    ),
    Compared(
        "Kubernetes Lease",
        (
            "a second leader after LeaseDuration",
            "as etcd, which keeps it",
            "skew is borne, a wrong rate is not",
            "leaseTransitions, if identities are unique; no fencing is promised",
            "retries, with jitter",
        ),
        "the comment of client-go's package leaderelection",
    ),
    Compared(
        "Hazelcast's FencedLock",
        (
            "the session is closed, second grant",
            "Raft keeps it",
            "not looked into",
            "the fence, the same on re-entry",
            "waits",
        ),
        "Hazelcast's documentation of FencedLock",
    ),
    Compared(
        "a conditional write: S3, GCS, Azure",
        ("the write's condition fails", "the provider's matter", "does not matter", "ETag or generation", "poll"),
        "the providers' pages on conditional writes",
    ),
)


def table(record: Record | None = None) -> str:
    """The comparison in Markdown. record: the matrix; the recorded one without any."""
    cells = recorded() if record is None else record
    lines = [("service", *COLUMNS.values(), "whose word"), ("---",) * (len(COLUMNS) + 2)]
    for row in compared:
        entries = (_entry(row, column, words, cells) for column, words in zip(COLUMNS, row.entries, strict=True))
        lines.append((f"**{row.scheme}**", *entries, row.word))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def settled(record: Record) -> list[Cell]:
    """The recorded cells that the table leans on, in its order."""
    places = [_place(place) for row in compared for place in row.places.values()]
    return [record[place] for place in dict.fromkeys(places) if place in record]


def _entry(row: Compared, column: str, words: str, cells: Record) -> str:
    """The words, and the letter of the cell that settles them, if it is recorded; of a U also what it took."""
    if column not in row.places:
        return words
    cell = cells.get(_place(row.places[column]))
    letter = "not recorded" if cell is None else cell.verdict
    took = f" {_mishaps(cell.schedule)}" if cell is not None and cell.verdict == "U" else ""
    return f"{words} [**{letter}** {row.places[column]}]({PAGE}){took}"


def _place(text: str) -> tuple[str, str]:
    row, _, column = text.partition(" ")
    return row, column


def _mishaps(schedule: str) -> str:
    """The kinds in a schedule: «pause», «failover + pause»."""
    kinds = dict.fromkeys(one.partition(".")[0] for one in schedule.split(",") if one != ".")
    return f"({' + '.join(kinds) or 'no mishap'})"
