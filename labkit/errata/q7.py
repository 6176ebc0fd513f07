"""Question seven of the article: a lock that knows how far the work is; and its list of further reading."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import Any

from redis.exceptions import ResponseError

from ..locks import SafeLock
from ..locks.broken.steals import TAKE_OR_STEAL, StealingLock, value
from ..locks.resumable import TABLE, Progress, commit_step, take_over
from .erratum import Erratum, Shown, compared, played
from .telling import by_hand

KEY = "task-7"
IN_THE_LOCK, OWN_RECORD = {"progress": "in-the-lock"}, {"progress": "own-record"}
DIES: dict[str, Any] = {"mishap": "A-dies", "comes": 40.0, "then": 60.0}
PAUSES: dict[str, Any] = {"mishap": "A-pauses", "at": 12.5, "comes": 13.0}


def database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute(TABLE)
    db.commit()
    return db


def taken(db: sqlite3.Connection, redis: Any, worker: str) -> Progress:
    progress = take_over(db, SafeLock(redis, KEY, 10.0), KEY, worker)
    assert progress is not None
    return progress


# -- what a newcomer is told -------------------------------------------------------------------------------------------


def told_by_the_script(redis: Any) -> Shown:
    """What the article's script answers where 85 % are done; and where the holder has noted no checkpoint."""
    redis.set(KEY, value("A", 0.85, "step-17"), px=10_000)
    full = redis.eval(TAKE_OR_STEAL, 1, KEY, value("B", 0.0, ""), 10_000)
    redis.set(KEY, '{"clientId": "A", "progress": 0.85}', px=10_000)
    short = redis.eval(TAKE_OR_STEAL, 1, KEY, value("B", 0.0, ""), 10_000)
    why = f"Of 0.85 the reply says {full[1]}; where no checkpoint is noted, it has {len(short)} of its 3 parts."
    return compared(full[1] == 0.85 and len(short) == 3, why)


def told_by_the_record(redis: Any) -> Shown:
    """What `take_over` answers at the same point."""
    db = database()
    first = taken(db, redis, "A")
    steps: Progress | None = first
    for number in range(17):
        assert steps is not None
        steps = commit_step(db, steps, f"order {number + 1}", [])
    redis.delete(KEY)  # A's lease has ended
    found = taken(db, redis, "B")
    return compared((found.step, found.data) == (17, "order 17"), f"B is told: step {found.step}, data «{found.data}».")


# -- what is left of it after a second death ---------------------------------------------------------------------------


def robbed(redis: Any) -> Shown:
    """A has done 85 %; B takes over as in the article, and dies before it has noted anything."""
    lock = StealingLock(redis, KEY, 10.0)
    first = lock.try_acquire()
    assert first is not None
    lock.extend(first, 0.85, "step-17")
    got = "takes over" if lock.try_acquire() is not None else "is refused"
    left = json.loads(redis.get(KEY))
    why = f"A has noted step-17, B {got} and dies: the lock now says progress {left['progress']:g}, checkpoint "
    return compared(left["checkpoint"] == "step-17", f"{why}«{left['checkpoint']}».")


def succeeded(redis: Any) -> Shown:
    """The same with a record of its own."""
    db = database()
    for worker in "AB":
        progress = taken(db, redis, worker)
        if worker == "A":
            for number in range(17):
                progress = commit_step(db, progress, f"order {number + 1}", []) or progress
        time.sleep(10.1)  # dead; the lease ends
    found = taken(db, redis, "C")
    why = f"A has committed 17 steps and dies, B takes over and dies: C is told step {found.step}, data «{found.data}»."
    return compared((found.step, found.data) == (17, "order 17"), why)


# -- a value that is no progress ---------------------------------------------------------------------------------------

POISON = {"a plain token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "JSON without a progress": '{"clientId": "A"}'}


def poisoned(redis: Any) -> Shown:
    """What a newcomer is answered where the key holds something else than the script expects."""
    answers = dict[str, str]()
    for what, held in POISON.items():
        redis.set(KEY, held, px=10_000)
        try:
            StealingLock(redis, KEY, 10.0).try_acquire()
            answers[what] = "busy"
        except ResponseError:
            answers[what] = "an error of the script"
    return compared(set(answers.values()) == {"busy"}, f"Where the key holds {_told(answers)}.")


def never_looked_at(redis: Any) -> Shown:
    """The same values, where nobody looks into them."""
    answers, db = dict[str, str](), database()
    for what, held in POISON.items():
        redis.set(KEY, held, px=10_000)
        answers[what] = "busy" if take_over(db, SafeLock(redis, KEY, 10.0), KEY, "B") is None else "taken"
    return compared(set(answers.values()) == {"busy"}, f"Where the key holds {_told(answers)}.")


def _told(answers: dict[str, str]) -> str:
    return "; where it holds ".join(f"{what}, a newcomer is told: {answer}" for what, answer in answers.items())


# -- a value that changes ----------------------------------------------------------------------------------------------

UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end"


def changed(redis: Any) -> Shown:
    """The article's unlock, after a plain SET has noted the progress in the lock's value."""
    granted = value("A", 0.0, "")
    redis.set(KEY, granted, nx=True, px=10_000)
    redis.set(KEY, value("A", 0.5, "step-10"))
    left, deleted = redis.pttl(KEY), redis.eval(UNLOCK, 1, KEY, granted)
    why = f"After a progress note by SET the key's PTTL is {left} ms, and the unlock that compares the value of the "
    return compared(left > 0 and deleted == 1, f"{why}grant deletes {deleted} keys.")


def unchanged(redis: Any) -> Shown:
    """The same with the progress in a record of its own."""
    db = database()
    progress = taken(db, redis, "A")
    commit_step(db, progress, "order 10", [])
    left = redis.pttl(KEY)
    SafeLock(redis, KEY, 10.0).release(progress.lease)
    gone = not redis.exists(KEY)
    why = f"After a committed step the key's PTTL is {left} ms, and the release "
    return compared(left > 0 and gone, f"{why}{'deletes it' if gone else 'leaves it'}.")


ERRATA = [
    Erratum(
        number="E95",
        grade=3,
        section="8, Q7, step 1",
        claim="Whoever finds the lock past 80 % takes it over and goes on from there.",
        truth="That robs a holder that is alive, and both work. A take-over waits for the end of the lease, however "
        "far the work is.",
        where="exercise q7",
        wrong=played("unfinished", "one_believer", **IN_THE_LOCK),
        right=played("unfinished", "one_believer", **OWN_RECORD),
    ),
    Erratum(
        number="E96",
        grade=3,
        section="8, Q7, the lock's value",
        claim="The checkpoint is in the lock's value, so the next holder finds it.",
        truth="The value expires with the lock: after a crash, the one case that needs it, it is gone. The record "
        "must have no expiry.",
        where="exercise q7",
        wrong=played("unfinished", "once", **IN_THE_LOCK, **DIES),
        right=played("unfinished", "once", **OWN_RECORD, **DIES),
    ),
    Erratum(
        number="E97",
        grade=3,
        section="8, Q7, the script",
        claim="The new holder writes its own value and is handed the old checkpoint.",
        truth="Its fresh value replaces the only copy: if it dies too, nothing is left; and checkpointData is never "
        "handed over. Raise an epoch in the record, and leave the rest.",
        where="exercise q7",
        wrong=by_hand(robbed),
        right=by_hand(succeeded),
    ),
    Erratum(
        number="E98",
        grade=2,
        section="8, Q7, the script",
        claim="The script returns the progress and the checkpoint.",
        truth="A number of Lua becomes a whole one in a reply, so 0.85 arrives as 0, and a reply ends at its first "
        "nil.",
        where="exercise q7",
        wrong=by_hand(told_by_the_script),
        right=by_hand(told_by_the_record),
        source="Redis documentation, «Redis Lua API reference», on the conversion of types.",
    ),
    Erratum(
        number="E99",
        grade=2,
        section="8, Q7, the script",
        claim="The script decodes whatever the key holds.",
        truth="A plain token, or JSON without a progress, makes each attempt an error until the key expires. Nobody "
        "should have to look into a lock's value.",
        where="exercise q7",
        wrong=by_hand(poisoned),
        right=by_hand(never_looked_at),
    ),
    Erratum(
        number="E100",
        grade=2,
        section="8, Q7, step 2",
        claim="The holder updates the progress in the lock's value as it goes.",
        truth="A plain SET removes the expiry, and a release that compares the value of the grant finds another. The "
        "value of a lock never changes.",
        where="exercise q7",
        wrong=by_hand(changed),
        right=by_hand(unchanged),
    ),
    Erratum(
        number="E101",
        grade=3,
        section="8, Q7, the design",
        claim="One value that expires is both lock and progress, and past 80 % the work is resumed.",
        truth="Two records: a short lease, and a lasting row beside the effects. A new holder raises the epoch, then "
        "reads; each step commits effect and progress under its epoch. Always resume.",
        where="exercise q7; labkit.locks.resumable",
        wrong=played("unfinished", "once", **IN_THE_LOCK, **PAUSES),
        right=played("unfinished", "once", **OWN_RECORD, **PAUSES),
    ),
    Erratum(
        number="E102",
        grade=1,
        section="further reading",
        claim="Designing Data-Intensive Applications, chapter 8.",
        truth="Chapter 8 of the first edition. Worth adding: Junqueira on fencing, Curator's Tech Note 10, Jepsen on "
        "etcd, and the paper on Chubby.",
        where="notebook 06",
        source="Not a question for a run: a reading list. By its title the chapter is «The Trouble with Distributed "
        "Systems»; editions may count differently.",
    ),
]
