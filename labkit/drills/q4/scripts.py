"""What happens in the plays of `guarded` in which one call follows the other: who registers, who writes what, when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .bench import Pair, Statement, adds, adds_and_changes, books, pays
from .cast import Cast, shown_pair

NONE_YET = "UPDATE item SET number = number + 1 WHERE id = ?", (99_999,)  # there is no such item
TWICE = "INSERT INTO orders VALUES (?, ?)", (7, "UNPAID")
NO_TABLE = "INSERT INTO no_such_table VALUES (?)", (1,)
TOO_BIG = "INSERT INTO item (id, order_id, number) VALUES (?, ?, ?)", (99_998, 7, 2**70)
RAISES = {  # the second of two names is what PyMySQL raises
    TWICE[0]: ("IntegrityError",),
    NO_TABLE[0]: ("OperationalError", "ProgrammingError"),
    TOO_BIG[0]: ("OverflowError", "DataError"),  # Python's own: no error of the database
}


@dataclass(frozen=True)
class Case:
    """A call, and what came before it. about: the story.  sets: what others have registered since the last call."""

    about: str
    resource: str
    pair: Pair
    statements: list[Statement]
    sets: Mapping[str, Pair] = field(default_factory=dict)


Script = tuple[Mapping[str, Pair], list[Case]]  # the guard at first, and the calls


def own_second_write(cast: Cast) -> Script:
    draw = cast.draw
    (a,) = cast.rising(1)
    (mine,) = cast.resources(1)
    again = books(draw)
    held = "It is the one who has registered"
    return {mine: a}, [
        Case(held, mine, a, [pays(draw), again]),
        Case("It writes a second time", mine, a, [books(draw, 72)]),
        Case("It writes once more, a statement that changes no row", mine, a, [NONE_YET]),
        Case("It writes what is there already", mine, a, [books(draw, 81), adds(draw), again]),
        Case("It adds a row, and changes it in the next statement", mine, a, adds_and_changes(draw)),
        Case("It has nothing to write", mine, a, []),
        Case("It writes for the seventh time", mine, a, [pays(draw)]),
    ]


def late_writer(cast: Cast) -> Script:
    draw = cast.draw
    a, b = cast.rising(2)
    twin = (b[0], cast.owner("T"))
    (mine,) = cast.resources(1)
    after, repeated = f"{shown_pair(b)} has registered", "a failover repeated the number of its token"
    return {mine: a}, [
        Case("It is the one who has registered", mine, a, [pays(draw)]),
        Case(f"{after}, and has written nothing yet", mine, a, [books(draw)], {mine: b}),
        Case("It has registered last", mine, b, [books(draw), pays(draw)]),
        Case(f"{after}, and has written", mine, a, [books(draw, 72)]),
        Case(f"{after}, and {repeated}", mine, twin, [pays(draw)]),
        Case(f"{after}, and there is nothing to write", mine, a, []),
        Case(f"{after}, and there is such a row already", mine, a, [TWICE, pays(draw)]),
        Case("It has registered last", mine, b, [pays(draw, 8)]),
    ]


def late_in_its_own_process(cast: Cast) -> Script:
    """One owner is granted the lock twice: what began under the first grant is late, though it bears the same name."""
    draw = cast.draw
    (a,) = cast.rising(1)
    again = cast.later(a)
    (mine,) = cast.resources(1)
    after = f"{shown_pair(again)} has registered, the same owner in a later grant"
    return {mine: a}, [
        Case("It is the one who has registered", mine, a, [pays(draw)]),
        Case(after, mine, a, [books(draw)], {mine: again}),
        Case("It has registered last", mine, again, [books(draw), pays(draw)]),
        Case(f"{after}, and has written", mine, a, [pays(draw, 8)]),
    ]


def registered_first(cast: Cast) -> Script:
    draw = cast.draw
    a, b, c = cast.rising(3)
    (mine,) = cast.resources(1)
    never = "It has the highest token, and has not registered"
    return {mine: a}, [
        Case(never, mine, b, [pays(draw)]),
        Case("It is the one who has registered", mine, a, [pays(draw), books(draw)]),
        Case(never, mine, (c[0] * 10, c[1]), [books(draw), adds(draw)]),
        Case("It is still the one who has registered", mine, a, [books(draw, 72)]),
        Case(f"This owner has registered with {a[0]}, and not with its later grant", mine, cast.later(a), [pays(draw)]),
    ]


def missing_guard_row(cast: Cast) -> Script:
    draw = cast.draw
    a, b = cast.rising(2)
    mine, other = cast.resources(2)
    return {other: b}, [
        Case("Nobody has registered for this resource", mine, a, [pays(draw), books(draw)]),
        Case("Still nobody has registered for it", mine, (b[0] + 1, a[1]), [books(draw)]),
        Case("Now it has registered", mine, a, [pays(draw)], {mine: a}),
    ]


def rows_of_one_guard(cast: Cast) -> Script:
    """B touches the order, A comes late to what B has not touched."""
    draw = cast.draw
    a, b = cast.rising(2)
    (mine,) = cast.resources(1)
    after = f"{shown_pair(b)} has registered, and written to order 7 only"
    return {mine: a}, [
        Case("It is the one who has registered", mine, a, [pays(draw), books(draw, 71)]),
        Case("It has registered last", mine, b, [pays(draw)], {mine: b}),
        Case(after, mine, a, [books(draw, 71)]),
        Case(after, mine, a, [books(draw, 81), adds(draw)]),
        Case(after, mine, a, [pays(draw, 8)]),
        Case("It has registered last", mine, b, [pays(draw), books(draw, 71), books(draw, 72), pays(draw, 8)]),
        Case("It has registered last", mine, b, [adds(draw)]),
    ]


def other_guards(cast: Cast) -> Script:
    """Each resource has its own: one holder's token is the higher, and that says nothing."""
    draw = cast.draw
    a, b = cast.rising(2)
    one, two = cast.resources(2, quoted=True)
    return {one: a, two: b}, [
        Case("It is the one who has registered", one, a, [pays(draw)]),
        Case("It is the one who has registered", two, b, [pays(draw, 8)]),
        Case(f"It has registered for {one!r}, and {shown_pair(b)} for this", two, a, [books(draw, 81)]),
        Case(f"It has registered for {two!r}, and {shown_pair(a)} for this", one, b, [books(draw)]),
        Case("It is the one who has registered", one, a, [books(draw)]),
    ]


def all_or_nothing(cast: Cast) -> Script:
    draw = cast.draw
    (a,) = cast.rising(1)
    (mine,) = cast.resources(1)
    bad = [TWICE, NO_TABLE]
    draw.shuffle(bad)
    return {mine: a}, [
        Case("Its last statement raises", mine, a, [pays(draw), books(draw), bad[0]]),
        Case("Its second statement raises", mine, a, [books(draw), bad[1], pays(draw)]),
        Case("After that all its statements are sound", mine, a, [pays(draw), books(draw), adds(draw)]),
        Case("Its first statement raises", mine, a, [bad[0], pays(draw)]),
        Case("Its last statement has a number that the database cannot store", mine, a, [books(draw), TOO_BIG]),
    ]


def every_way_out(cast: Cast) -> Script:
    draw = cast.draw
    a, b = cast.rising(2)
    mine, other = cast.resources(2)
    return {mine: a}, [
        Case("It is the one who has registered", mine, a, [pays(draw), books(draw)]),
        Case("It has the highest token, and has not registered", mine, b, [pays(draw)]),
        Case("Nobody has registered for this resource", other, b, [pays(draw)]),
        Case("Its second statement raises", mine, a, [books(draw), TWICE]),
        Case("Its last statement has a number that the database cannot store", mine, a, [pays(draw), TOO_BIG]),
        Case(f"{shown_pair(b)} has registered", mine, a, [pays(draw)], {mine: b}),
        Case("It has registered last", mine, b, [pays(draw)]),
    ]


SCRIPTS: Mapping[tuple[str, str], Callable[[Cast], Script]] = {
    ("own second write", "plain"): own_second_write,
    ("late writer", "plain"): late_writer,
    ("late writer", "one owner"): late_in_its_own_process,
    ("registered first", "plain"): registered_first,
    ("missing guard row", "plain"): missing_guard_row,
    ("one guard", "rows"): rows_of_one_guard,
    ("one guard", "resources"): other_guards,
    ("all or nothing", "raises"): all_or_nothing,
    ("transaction closed", "plain"): every_way_out,
}
