"""Who may import whom. The rooms of labkit and the arrows between them, read off the source of every file.

An import counts wherever it stands: at the top, in a function, relative or not, and also where only a type checker
sees it. A room may import itself; what it may import besides stands in the table.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VALUES = ("timeline", "verdict", "story")
ROOMS = {  # a room: its files and folders, and the rooms it may import
    # the values that cross every room, and what is said of them: no other room may be needed to read a run
    "timeline": (("timeline.py", "derived.py", "telling.py", "overlap.py", "wording.py"), ()),
    "verdict": (("verdict.py",), ()),
    "story": (("story.py",), ()),
    "recording": (("recording.py",), ()),
    # guests of whatever environment they run in: they know nothing of us
    "locks": (("locks",), ()),
    "stores": (("stores",), ()),
    # the world, and what befalls it
    "sim": (("sim",), ("timeline", "recording")),
    "faults": (("faults",), ("sim",)),
    # judges and painters see a finished run and nothing of how it came about
    "checks": (("checks",), ("timeline", "verdict")),
    "viz": (("viz",), ("timeline", "verdict")),
    # the course
    "stories": (("stories",), (*VALUES, "locks", "stores", "sim", "faults")),
    "explore": (("explore",), (*VALUES, "locks", "stores", "sim", "faults", "checks", "stories")),
    "errata": (("errata",), (*VALUES, "locks", "stores", "sim", "faults", "checks", "stories", "explore")),
    "choosing": (("choosing",), ("explore",)),
    "live": (("live",), ("story", "timeline", "recording", "locks", "stores", "stories")),
    "progress": (("progress",), ()),
    "panels": (("panels",), (*VALUES, "stories", "checks", "viz", "explore", "choosing", "interview", "progress")),
    "drills": (
        ("drills",),
        (
            *(*VALUES, "recording", "locks", "stores", "sim", "faults", "checks", "viz", "stories", "explore", "live"),
            "progress",
        ),
    ),
    "interview": (("interview",), (*VALUES, "stories", "checks", "viz", "drills", "progress")),
    "cli": (("cli.py", "doctor.py"), ("drills", "live", "explore", "progress", "errata", "choosing", "interview")),
}
FACADE = "__init__.py"  # `labkit` itself: it names all rooms to the type checker and loads each at its first use
ONLY_IN = {  # what one file alone may load
    "fakeredis": "sim/redisserver.py",
    "greenlet": "sim/task.py",
    "matplotlib": "viz/painter.py",
    "anywidget": "viz/stepper.py",
    "fsrs": "interview/schedule.py",
    "genanki": "interview/deck.py",
}
GUESTS = ("locks", "stores")
ERRORS = ("redis.exceptions", "kazoo.exceptions")  # of the clients that guests are handed
HEAVY = ("fakeredis", "kazoo", "lupa", "matplotlib", "ipywidgets", "redis", "greenlet", "IPython", "numpy")

Import = tuple[str, bool]  # dotted name, and whether only a type checker sees it


def files(root: Path) -> list[Path]:
    return sorted((root / "labkit").rglob("*.py"))


def imports(path: Path, root: Path) -> Iterator[Import]:
    """Every module that a file imports; of `from package import name`, package.name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unseen = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    folder = path.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in unseen) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", node in unseen) for alias in node.names)


def room_of(path: Path, root: Path) -> str:
    """The room of a file. A file without a room is a mistake: whoever adds one says where it belongs."""
    parts = path.relative_to(root / "labkit").parts
    return next((room for room, (places, _) in ROOMS.items() if parts[0] in places), "")


def room_named(dotted: str) -> str:
    """The room that a dotted name of labkit leads to; the facade's own names lead nowhere a room may go."""
    second = dotted.split(".")[1] if "." in dotted else ""
    return next((room for room, (places, _) in ROOMS.items() if second in [p.removesuffix(".py") for p in places]), "")


def crossings(root: Path) -> list[str]:
    """Each import against the arrows."""
    found = []
    for path in files(root):
        name = path.relative_to(root / "labkit").as_posix()
        if name == FACADE or path.match("drills/q*/model.py"):  # a model answer imports what a learner would
            continue
        room = room_of(path, root)
        if not room:
            found.append(f"{name} belongs to no room")
            continue
        for dotted, _ in imports(path, root):
            other = room_named(dotted)
            if dotted.split(".")[0] == "labkit" and other != room and other not in ROOMS[room][1]:
                found.append(f"{name} ({room}) imports {dotted} ({other or 'the facade'})")
    return found


def strangers(root: Path) -> list[str]:
    """Each package that is loaded in another file than the one that may."""
    return [
        f"{path.relative_to(root / 'labkit').as_posix()} imports {dotted}"
        for path in files(root)
        for dotted, typing_only in imports(path, root)
        if not typing_only
        and ONLY_IN.get(dotted.split(".")[0], "") not in ("", path.relative_to(root / "labkit").as_posix())
    ]


def luggage(root: Path) -> list[str]:
    """What locks and stores bring along besides the standard library and their clients' exceptions."""
    return [
        f"{path.relative_to(root / 'labkit').as_posix()} imports {dotted}"
        for path in files(root)
        if room_of(path, root) in GUESTS
        for dotted, _ in imports(path, root)
        if dotted.split(".")[0] not in (*sys.stdlib_module_names, "labkit") and not dotted.startswith(ERRORS)
    ]


def loaded_by_the_facade(root: Path) -> list[str]:
    """What `import labkit` itself would load."""
    seen = imports(root / "labkit" / FACADE, root)
    return [dotted for dotted, typing_only in seen if not typing_only and dotted.split(".")[0] == "labkit"]


# -- the arrows hold ----------------------------------------------------------------------------------------------


def test_every_import_goes_along_an_arrow() -> None:
    assert crossings(ROOT) == []


def test_one_file_alone_imports_what_is_behind_it() -> None:
    assert strangers(ROOT) == []


def test_locks_and_stores_travel_light() -> None:
    assert luggage(ROOT) == []


def test_the_facade_loads_no_room() -> None:
    assert loaded_by_the_facade(ROOT) == []


def test_importing_labkit_loads_nothing_heavy() -> None:
    code = f"import sys, labkit; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("room", ["timeline", "verdict", "story", "checks", "progress"])
def test_what_reads_a_run_needs_no_world(room: str) -> None:
    code = f"import sys, labkit.{room}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


# -- and each of these tests can fail -----------------------------------------------------------------------------


def planted(tmp_path: Path, name: str, source: str) -> Path:
    """A tree of one file."""
    path = tmp_path / "labkit" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return tmp_path


FORBIDDEN = [(room, other) for room, (_, arrows) in ROOMS.items() for other in ROOMS if other not in (room, *arrows)]


@pytest.mark.parametrize(("room", "other"), FORBIDDEN)
def test_an_import_against_an_arrow_is_found(tmp_path: Path, room: str, other: str) -> None:
    place = ROOMS[room][0][0]
    name = place if place.endswith(".py") else f"{place}/planted.py"
    target = ROOMS[other][0][0].removesuffix(".py")
    root = planted(tmp_path, name, f"from labkit.{target} import something\n")
    assert crossings(root) == [f"{name} ({room}) imports labkit.{target}.something ({other})"]


@pytest.mark.parametrize(
    "source",
    [
        "from ..sim import World",
        "from .. import sim",
        "import labkit.sim.world",
        "from labkit import sim",
        "from labkit.sim.world import World as W",
        "def f():\n    from ..sim import World",
        "if TYPE_CHECKING:\n    from ..sim import World",
        "class C:\n    try:\n        import labkit.sim\n    except ImportError:\n        pass",
    ],
)
def test_an_import_is_found_wherever_it_stands(tmp_path: Path, source: str) -> None:
    (found,) = crossings(planted(tmp_path, "checks/planted.py", source))
    assert found.startswith("checks/planted.py (checks) imports labkit.sim")


def test_a_room_does_not_go_through_the_facade(tmp_path: Path) -> None:
    root = planted(tmp_path, "checks/planted.py", "from labkit import play")
    assert crossings(root) == ["checks/planted.py (checks) imports labkit.play (the facade)"]


def test_a_file_without_a_room_is_found(tmp_path: Path) -> None:
    assert crossings(planted(tmp_path, "attic.py", "")) == ["attic.py belongs to no room"]


def test_a_deeper_folder_belongs_to_its_room(tmp_path: Path) -> None:
    assert crossings(
        planted(tmp_path, "locks/broken/planted.py", "from ..lease import Lease\nfrom ...sim import World")
    ) == ["locks/broken/planted.py (locks) imports labkit.sim.World (sim)"]


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_second_file_that_imports_it_is_found(tmp_path: Path, package: str) -> None:
    root = planted(tmp_path, "stories/planted.py", f"def f():\n    import {package}.inner")
    assert strangers(root) == [f"stories/planted.py imports {package}.inner"]


@pytest.mark.parametrize("source", ["import redis", "from redis import Redis", "import numpy.random"])
def test_luggage_is_found(tmp_path: Path, source: str) -> None:
    assert len(luggage(planted(tmp_path, "locks/planted.py", source))) == 1


def test_the_allowed_luggage_is_let_through(tmp_path: Path) -> None:
    assert (
        luggage(planted(tmp_path, "stores/planted.py", "import time\nfrom redis.exceptions import ResponseError")) == []
    )


def test_a_facade_that_loads_a_room_is_found(tmp_path: Path) -> None:
    root = planted(tmp_path, FACADE, "from .sim import World\nif TYPE_CHECKING:\n    from .viz import save")
    assert loaded_by_the_facade(root) == ["labkit.sim.World"]
