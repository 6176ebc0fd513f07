"""Question four of the article: fencing tokens in MySQL, by its three schemes.

The article's statements are run on SQLite, which has no FOR UPDATE and needs none: one connection writes at a time.
"""

from __future__ import annotations

import sqlite3

from ..stores import SqlFencedRegister
from ..stores.interleavings import Holder
from ..stores.sql import create_tables
from ..wording import listed
from .erratum import Erratum, Shown, compared, played

SCHEME_ONE = "UPDATE orders SET status = ?, fencing_token = ? WHERE order_id = ? AND fencing_token < ?"
UPDATE = "UPDATE orders SET status = ? WHERE order_id = ?"
SHIP = "UPDATE orders SET status = 'SHIPPED' WHERE order_id = ? AND status = 'PAID'"
A, B, TWIN = Holder("A", 5), Holder("B", 6), Holder("C", 5)


def orders() -> sqlite3.Connection:
    """Order 1, unpaid; and the tables of the fenced store."""
    db = sqlite3.connect(":memory:")
    create_tables(db)
    db.execute("CREATE TABLE orders (order_id INTEGER PRIMARY KEY, status TEXT, fencing_token INTEGER)")
    db.execute("INSERT INTO orders VALUES (1, 'UNPAID', 0)")
    db.commit()
    return db


def rows(db: sqlite3.Connection, status: str, token: int, order: int = 1) -> int:
    """How many rows the article's first scheme changes."""
    with db:
        return db.execute(SCHEME_ONE, (status, token, order, token)).rowcount


# -- the holder's own second write -------------------------------------------------------------------------------------


def strictly_lower() -> Shown:
    db = orders()
    first, second = rows(db, "PAID", 5), rows(db, "SHIPPED", 5)
    why = f"One holder, token 5: PAID changes {first} row, its own SHIPPED afterwards {second}."
    return compared(first == second == 1, why)


def scheme_two(db: sqlite3.Connection, token: int) -> bool:
    """A transaction of the article's second scheme; False where it rolls back."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        (highest,) = db.execute("SELECT max_token FROM fencing_tokens WHERE resource_id = 'order-1'").fetchone()
        if token <= highest:
            return False
        db.execute("UPDATE fencing_tokens SET max_token = ? WHERE resource_id = 'order-1'", (token,))
        return True


def not_higher() -> Shown:
    db = orders()
    db.execute("CREATE TABLE fencing_tokens (resource_id VARCHAR(128) PRIMARY KEY, max_token BIGINT NOT NULL)")
    db.execute("INSERT INTO fencing_tokens VALUES ('order-1', 0)")
    db.commit()
    taken = [scheme_two(db, 5) for _ in range(2)]
    return compared(all(taken), f"Of two transactions of one holder, token 5, {sum(taken)} is accepted.")


def by_the_contract() -> Shown:
    """Two transactions of the holder, another one of the same token, and one of the first that comes after the next."""
    store = SqlFencedRegister(orders(), "order-1")
    store.register(A)
    own = [store.run([(UPDATE, (status, 1))], A) for status in ("PAID", "SHIPPED")]
    twin = store.register(TWIN)
    store.register(B)
    late = store.run([(UPDATE, ("PAID", 1))], A)
    said = {True: "accepted", False: "refused"}
    why = f"Of two writes of the holder that has registered, token 5, {sum(own)} are accepted; another holder of it is "
    why += f"{said[twin]}, and the first one's write after the next has registered is {said[late]}."
    return compared(all(own) and not twin and not late, why)


# -- what no row means -------------------------------------------------------------------------------------------------

CAUSES = ("the row is missing", "the status does not fit", "a higher token has written")


def one_number() -> Shown:
    """Three causes, and what the count of rows shows of each."""
    db = orders()
    missing = rows(db, "PAID", 5, order=2)
    unfit = db.execute(SHIP, (1,)).rowcount
    rows(db, "CANCELLED", 6)
    counts = [missing, unfit, rows(db, "PAID", 5)]
    why = f"Rows changed where {listed(CAUSES)}: {listed(tuple(map(str, counts)))}."
    return compared(len(set(counts)) == len(counts), f"{why} One number, {len(CAUSES)} causes.")


def read_again() -> Shown:
    """The same causes, where the guard says whose it is and the row is read again in the same transaction."""
    db = orders()
    store, told = SqlFencedRegister(db, "order-1"), list[str]()
    store.register(A)
    for order in (2, 1):
        accepted = store.run([(SHIP, (order,))], A)
        found = db.execute("SELECT status FROM orders WHERE order_id = ?", (order,)).fetchone()
        told.append("a newer holder" if not accepted else "no such row" if found is None else f"it is {found[0]}")
    store.register(B)
    told.append("a newer holder" if not store.run([(SHIP, (1,))], A) else "accepted")
    why = f"Where {listed(CAUSES)}, the guard and the row read again say: {listed(tuple(told))}."
    return compared(len(set(told)) == len(CAUSES) and told[-1] == "a newer holder", why)


# -- the table ---------------------------------------------------------------------------------------------------------

ERRATA = [
    Erratum(
        number="E76",
        grade=3,
        section="8, Q4, scheme one",
        claim="UPDATE … WHERE fencing_token < ? accepts whoever still holds the lock.",
        truth="It refuses the holder's own second write, whose token is equal. Accept an equal token from the same "
        "owner.",
        where="notebook 04, “4 · Higher, or not lower?”; exercise q4",
        wrong=strictly_lower,
        right=by_the_contract,
    ),
    Erratum(
        number="E77",
        grade=2,
        section="8, Q4, scheme one",
        claim="No affected row means that a higher token has been there.",
        truth="Also that the row is missing or its status does not fit; and a driver may count rows changed, not "
        "found. Read who holds the guard.",
        where="exercise q4",
        wrong=one_number,
        right=read_again,
        source="Not run: MySQL counts changed rows by default, Connector/J found ones unless useAffectedRows is set "
        "(their manuals).",
    ),
    Erratum(
        number="E78",
        grade=3,
        section="8, Q4, scheme one",
        claim="Each row carries a fencing token of its own.",
        truth="A row that the new holder has not touched knows nothing of it. One guard for all that the lock "
        "protects, checked in the transaction that writes.",
        where="notebook 04, “7 · One guard for what the lock protects”; exercise q4",
        wrong=played("two-rows", "no_stale_write", guards="one a row"),
        right=played("two-rows", "no_stale_write", guards="one"),
    ),
    Erratum(
        number="E79",
        grade=2,
        section="8, Q4, scheme two",
        claim="Lock the token's row by FOR UPDATE and refuse a token that is not higher than the highest.",
        truth="It refuses the holder's second transaction. Make the row first, or there is nothing to lock; and the "
        "row's lock alone already lets one writer in at a time.",
        where="exercise q4",
        wrong=not_higher,
        right=by_the_contract,
        source="Not run: a missing row gives InnoDB gap locks, which two holders can both have, so that their inserts "
        "deadlock (MySQL manual, «InnoDB Locking»).",
    ),
    Erratum(
        number="E80",
        grade=3,
        section="8, Q4, scheme three",
        claim="Draw the token by INCR when you write.",
        truth="Then it says who came to the counter last, not who holds the lock: the late holder gets the highest. "
        "The token comes with the grant.",
        where="notebook 04, “8 · Where the number is drawn”; exercise q4",
        wrong=played("late-token", "no_stale_write", lock="incr-outside"),
        right=played("late-token", "no_stale_write", lock="fenced"),
        source="Redisson's RFencedLock.getToken() has the same trap: it returns the counter as it stands (its source).",
    ),
]
