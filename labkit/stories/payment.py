"""A customer is charged by a bank, and whoever does it may die at any command. How often is the customer charged?

Under a lock alone the order of two steps decides between twice (charge, then record) and never (record, then charge).
An **outbox** makes it at least once: what is to be sent stands in a table, written in the same transaction as the data,
and is sent until it is confirmed. An **idempotency key** makes it at most once: the receiver knows what came before.
Together they are once. The bank and the database themselves do not fail here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..faults import Crash
from ..stores import Gateway
from ..story import Param, Story
from ._actors import LOCK, TTL, lock_of
from ._database import RemoteDatabase, serve
from .fencing import leave

ORDER = "order-7"
RECEIPT = 3.0  # seconds between the two steps: a receipt is printed


class Transaction:
    """At the database: statements that are committed together, at one moment."""

    def __init__(self, database: Any) -> None:
        self.connection = database.connection

    def __call__(self, words: list[bytes]) -> int:
        self.connection.execute("BEGIN")
        for statement, values in json.loads(words[1]):
            self.connection.execute(statement, values)
        self.connection.execute("COMMIT")
        return 1


class Order:
    """An order, and beside it the outbox: what is to be sent, under its key, and whether it has been."""

    name = ORDER

    def __init__(self, me: Any, outbox: bool) -> None:
        serve(me, "db")
        handlers = me.world.server("db").handlers
        handlers.setdefault("TX", Transaction(handlers["SQL"]))
        self.client, self.outbox = me.redis("db"), outbox
        self.db = RemoteDatabase(self.client)
        self.db.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, state)")
        self.db.execute("CREATE TABLE IF NOT EXISTS outbox (key TEXT PRIMARY KEY, sent)")
        self.db.execute("INSERT OR IGNORE INTO orders VALUES (?, 'UNPAID')", (ORDER,))

    def read(self) -> Any:
        return self.db.execute("SELECT state FROM orders WHERE id = ?", (ORDER,)).fetchone()[0]

    def write(self, state: str) -> None:
        """The new state, and with an outbox, in the same transaction, what the bank is to be told."""
        statements: list[tuple[str, tuple[str, ...]]] = [("UPDATE orders SET state = ? WHERE id = ?", (state, ORDER))]
        if self.outbox:
            statements.append(("INSERT OR IGNORE INTO outbox VALUES (?, 0)", (f"charge {ORDER}",)))
        self.client.execute_command("TX", json.dumps(statements))

    def unsent(self) -> list[str]:
        return [key for (key,) in self.db.execute("SELECT key FROM outbox WHERE sent = 0").rows]

    def confirmed(self, key: str) -> None:
        self.db.execute("UPDATE outbox SET sent = 1 WHERE key = ?", (key,))


class KeyedGateway:
    """A gateway that knows an idempotency key: what has come under a key before is not done again."""

    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    def do(self, key: str) -> bool:
        """Whether it was done now. To remember the key and to do it is one step."""
        return bool(self.client.hsetnx(self.name, key, "done"))


def charges_first(order: Any, bank: Any) -> None:
    if order.read() == "UNPAID":
        bank.do(f"charge {ORDER}")
        time.sleep(RECEIPT)
        order.write("PAID")


def records_first(order: Any, bank: Any) -> None:
    if order.read() == "UNPAID":
        order.write("PAID")
        time.sleep(RECEIPT)
        bank.do(f"charge {ORDER}")


def by_outbox(order: Any, bank: Any) -> None:
    """Records what is to be sent, then sends whatever is not confirmed, also what somebody else has left there."""
    if order.read() == "UNPAID":
        order.write("PAID")
    for key in order.unsent():
        bank.do(key)
        time.sleep(RECEIPT)
        order.confirmed(key)


WAYS: dict[str, tuple[Callable[[Any, Any], None], Callable[[Any, str], Any]]] = {
    "charge-first": (charges_first, Gateway),
    "record-first": (records_first, Gateway),
    "outbox": (by_outbox, Gateway),
    "outbox-and-key": (by_outbox, KeyedGateway),
}


def pays(comes: float) -> Callable[..., None]:
    """A worker that has the order paid, under the lock."""

    def actor(me: Any, p: SimpleNamespace) -> None:
        way, gateway = WAYS[p.by]
        order = me.store(Order(me, outbox=way is by_outbox))
        bank = me.store(gateway(me.redis("bank"), "bank"))
        time.sleep(comes)
        lock = lock_of(me, p, "paying")
        lease = lock.acquire(6 * p.ttl)
        if lease is not None:
            way(order, bank)
            leave(me, lock, lease)

    return actor


payment = Story(
    name="payment",
    claim="A worker dies while it has an order paid; another takes over. How often is the customer charged?",
    params={
        "by": Param("charge-first", choices=tuple(WAYS), unit="", label="how"),
        "lock": LOCK,
        "ttl": TTL,
        "dies": Param(2.0, 0.0, 20.0, 0.5, label="A dies at (0: never)"),
    },
    actors={"A": pays(0.0), "B": pays(0.5)},
    faults=lambda p: [Crash("A", at=p.dies)] if p.dies else [],
    servers=("redis", "db", "bank"),
    durable=("db", "bank"),
)
