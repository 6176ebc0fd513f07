"""The keys of etcd, by revision: what range, put, deleterange and txn do to them, and what has changed since when.

Bodies and answers are those of etcd's own JSON gateway: keys and values in base64, 64-bit numbers as text, what is zero
or empty left out. Every transaction that writes makes one new revision. Where the gateway passes over a field that it
does not know, this refuses it by name: no test shall rest on a field that does nothing. Not here: reads of an old
revision, compaction, nested transactions, and the spelling of field names in camelCase.
"""

from __future__ import annotations

import base64
import binascii
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from .data import Author

NOT_FOUND, INVALID, EXISTS, TOO_LARGE, NO_CALL = 5, 3, 9, 11, 12  # codes of gRPC
TARGETS = {"VERSION": "version", "CREATE": "create_revision", "MOD": "mod_revision", "VALUE": "value", "LEASE": "lease"}
RESULTS = {"EQUAL": operator.eq, "GREATER": operator.gt, "LESS": operator.lt, "NOT_EQUAL": operator.ne}
REVISIONS = ("min_mod_revision", "max_mod_revision", "min_create_revision", "max_create_revision")

Kinds = dict[str, type]
RANGE: Kinds = {"key": bytes, "range_end": bytes, "limit": int, "sort_order": str, "sort_target": str}
RANGE |= {"keys_only": bool, "count_only": bool} | dict.fromkeys(REVISIONS, int)
PUT: Kinds = {"key": bytes, "value": bytes, "lease": int, "prev_kv": bool}
DELETE: Kinds = {"key": bytes, "range_end": bytes, "prev_kv": bool}
COMPARE: Kinds = {"key": bytes, "range_end": bytes, "target": str, "result": str}
COMPARE |= {"version": int, "create_revision": int, "mod_revision": int, "value": bytes, "lease": int}
TXN: Kinds = {"compare": list, "success": list, "failure": list}
OPERATIONS = ("range", "put", "delete_range")


class Refused(Exception):
    """What is answered in place of a result: the gateway's text and code."""

    def __init__(self, text: str, code: int = INVALID) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """A key as it stands. author: whose request created it."""

    key: bytes
    value: bytes = b""
    create_revision: int = 0
    mod_revision: int = 0
    version: int = 0
    lease: int = 0
    author: Author = ("", None)

    def told(self, keys_only: bool = False) -> dict[str, Any]:
        numbers = ("create_revision", "mod_revision", "version", "lease")
        value = {} if keys_only or not self.value else {"value": text(self.value)}
        return {"key": text(self.key)} | {n: str(getattr(self, n)) for n in numbers if getattr(self, n)} | value


Change = tuple[int, Entry, bool]  # revision, the key as it stands or stood, still there?


class Keys:
    """is_lease: whether a lease of this number is alive."""

    def __init__(self, is_lease: Callable[[int], bool]) -> None:
        self.is_lease = is_lease
        self.revision = 1  # as etcd, which counts an empty store as one
        self.entries: dict[bytes, Entry] = {}
        self.history: list[Change] = []
        self._made: list[Change] = []  # by the transaction under way

    def header(self) -> dict[str, Any]:
        return {"header": {"revision": str(self.revision + bool(self._made))}}

    def txn(self, body: dict[str, Any], author: Author) -> dict[str, Any]:
        """All comparisons, then one of the two lists of operations, at one revision."""
        asked = fields("txn", body, TXN)
        for branch in (asked.success, asked.failure):
            self._check(branch)
        succeeded = all(self._holds(fields("compare", one, COMPARE)) for one in asked.compare)
        chosen = asked.success if succeeded else asked.failure
        for _, put in puts(chosen):
            self._check_lease(fields("put", put, PUT).lease)
        before = dict(self.entries)
        try:
            answers = [self._operate(*operation(one), author) for one in chosen]
        except Refused:  # then the whole of it
            self.entries, self._made = before, []
            raise
        self.commit()
        return given(succeeded=succeeded, responses=answers) | self.header()

    def single(self, name: str, body: dict[str, Any], author: Author) -> dict[str, Any]:
        """A range, put or delete_range of its own."""
        if name == "put":
            self._check_lease(fields("put", body, PUT).lease)
        answer = self._operate(name, body, author)
        self.commit()
        return answer[f"response_{name}"]  # type: ignore[no-any-return]

    def remove(self, entry: Entry) -> None:
        """Deletes a key, within the transaction under way."""
        del self.entries[entry.key]
        revision = self.revision + 1
        self._made.append((revision, replace(entry, mod_revision=revision), False))

    def commit(self) -> None:
        """The end of a transaction: if it has changed anything, that is a new revision."""
        if self._made:
            self.revision += 1
            self.history += self._made
            self._made = []

    # -- operations --------------------------------------------------------------------------------------------

    def _operate(self, name: str, body: dict[str, Any], author: Author) -> dict[str, Any]:
        answer = {
            "range": lambda: self._range(fields(name, body, RANGE)),
            "put": lambda: self._put(fields(name, body, PUT), author),
            "delete_range": lambda: self._delete(fields(name, body, DELETE)),
        }[name]()
        return {f"response_{name}": answer | self.header()}

    def _range(self, asked: SimpleNamespace) -> dict[str, Any]:
        found = list(self._within(asked))
        kept = [entry for entry in found if _in_bounds(entry, asked)]
        target = one_of(asked.sort_target or "KEY", {"KEY": "key"} | TARGETS)
        order = one_of(asked.sort_order or "NONE", {"NONE": False, "ASCEND": False, "DESCEND": True})
        kept.sort(key=lambda entry: getattr(entry, target), reverse=order)
        more = 0 < asked.limit < len(kept)
        kept = [] if asked.count_only else kept[: asked.limit or None]
        return given(kvs=[e.told(asked.keys_only) for e in kept], more=more and not asked.count_only, count=len(found))

    def _put(self, asked: SimpleNamespace, author: Author) -> dict[str, Any]:
        if not asked.key:
            raise Refused("etcdserver: key is not provided")
        revision, before = self.revision + 1, self.entries.get(asked.key)
        fresh = Entry(asked.key, create_revision=revision, author=author)
        after = replace(before or fresh, value=asked.value, mod_revision=revision, lease=asked.lease)
        self.entries[asked.key] = after = replace(after, version=after.version + 1)
        self._made.append((revision, after, True))
        return given(prev_kv=before.told() if before and asked.prev_kv else None)

    def _delete(self, asked: SimpleNamespace) -> dict[str, Any]:
        found = list(self._within(asked))
        for entry in found:
            self.remove(entry)
        return given(deleted=len(found), prev_kvs=[entry.told() for entry in found] if asked.prev_kv else [])

    def _within(self, asked: SimpleNamespace) -> Iterator[Entry]:
        """The keys that are asked for, in the order of their names."""
        if not asked.key:
            raise Refused("etcdserver: key is not provided")
        return (self.entries[key] for key in sorted(self.entries) if covers(asked, key))

    # -- what a transaction asks first -------------------------------------------------------------------------

    def _holds(self, asked: SimpleNamespace) -> bool:
        """A comparison holds for all keys of its range; a missing one is all zeros, and equals no value, not even an
        empty one."""
        name = TARGETS[one_of(asked.target or "VERSION", {target: target for target in TARGETS})]
        compare = one_of(asked.result or "EQUAL", RESULTS)
        found = list(self._within(asked))
        if not found and name == "value":
            return False
        return all(compare(getattr(entry, name), getattr(asked, name)) for entry in found or [Entry(asked.key)])

    def _check(self, branch: list[Any]) -> None:
        """No key may be written twice in one transaction."""
        written = [fields("put", body, PUT).key for _, body in puts(branch)]
        deleted = [fields(name, body, DELETE) for name, body in map(operation, branch) if name == "delete_range"]
        if len(set(written)) < len(written) or any(covers(one, key) for one in deleted for key in written):
            raise Refused("etcdserver: duplicate key given in txn request")

    def _check_lease(self, lease: int) -> None:
        if lease and not self.is_lease(lease):
            raise Refused("etcdserver: requested lease not found", NOT_FOUND)


def covers(asked: SimpleNamespace, key: bytes) -> bool:
    """Whether `key` is in the range: the one key; from it up to range_end; or, with a zero byte there, all from it."""
    if not asked.range_end:
        return bool(key == asked.key)
    return bool(asked.key <= key and (asked.range_end == b"\0" or key < asked.range_end))


def _in_bounds(entry: Entry, asked: SimpleNamespace) -> bool:
    bounds = (
        entry.mod_revision >= asked.min_mod_revision,
        not asked.max_mod_revision or entry.mod_revision <= asked.max_mod_revision,
        entry.create_revision >= asked.min_create_revision,
        not asked.max_create_revision or entry.create_revision <= asked.max_create_revision,
    )
    return all(bounds)


# -- JSON ------------------------------------------------------------------------------------------------------------


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def given(**answer: Any) -> dict[str, Any]:
    """An answer as the gateway writes it: numbers as text, and nothing that is zero or empty."""
    return {n: str(v) if type(v) is int else v for n, v in answer.items() if v or isinstance(v, dict)}


def operation(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the body of an operation of a transaction."""
    name = next(iter(body), "").removeprefix("request_")
    if len(body) != 1 or name not in OPERATIONS:
        raise Refused(f"A transaction here has request_{', request_'.join(OPERATIONS)}, not {', '.join(body)!r}.")
    return name, next(iter(body.values()))


def puts(branch: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    return [found for found in map(operation, branch) if found[0] == "put"]


def one_of(value: Any, known: dict[str, Any]) -> Any:
    if value not in known:
        raise Refused(f"{value!r} is not one of {', '.join(known)}.")
    return known[value]


def fields(what: str, body: Any, kinds: Kinds) -> SimpleNamespace:
    """The fields of a message, those left out as zeros. Raises Refused for one that the model does not have."""
    if not isinstance(body, dict) or set(body) - set(kinds):
        strange = sorted(set(body) - set(kinds))[0] if isinstance(body, dict) else body
        raise Refused(f"This model of etcd has no field {strange!r} in a {what}; it has {', '.join(kinds)}.")
    return SimpleNamespace(**{name: _read(name, body[name], k) if name in body else k() for name, k in kinds.items()})


def _read(name: str, value: Any, kind: type) -> Any:
    try:
        if kind is bytes and isinstance(value, str):
            return base64.b64decode(value, validate=True)
        if kind is int and isinstance(value, (int, str)) and not isinstance(value, bool):
            return int(value)
    except (binascii.Error, ValueError):
        raise Refused(f"{name}={value!r} cannot be read as {'base64' if kind is bytes else 'a number'}.") from None
    if kind in (str, bool, list, dict) and isinstance(value, kind):
        return value
    raise Refused(f"{name}={value!r} is no {kind.__name__}.")
