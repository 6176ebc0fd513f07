"""Search the safety matrix anew and write docs/matrix.json and docs/matrix.md.

    python tools/matrix.py [--rows R8,R9] [--page]

Without rows: all, those of other people's locks too, which takes some minutes. With rows: these; the others stay as
they are recorded. --page writes the page only, from what is recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the labkit beside us, installed or not

from labkit.explore.matrix import ALL, COLUMNS, Cell, searched  # noqa: E402
from labkit.explore.report import markdown  # noqa: E402

RECORD, PAGE = ROOT / "docs" / "matrix.json", ROOT / "docs" / "matrix.md"
PEERS = ("redis", "python-redis-lock", "pottery", "redlock-py")
HEAD = """# The safety matrix

Each letter is the outcome of a search over the story `increment`: two clients add one under a lock, or let a
gateway charge a customer. `labkit matrix --json` takes it anew; `labkit.replay("…")` plays a break again. Rows R1
to R10 are the course's; the others are other people's locks, unmodified, with the defaults that their documentation
shows ({peers}). What is U for them is U for every lock of their kind: a store that takes any write cannot be
protected from outside. S and D speak of the bounds below and of this story, of nothing more. `labkit matrix` takes
the course's rows, `--rows redis-py` and so on the others. This page is made by `python tools/matrix.py`.

How the story is played: under F7 and F8 the work takes 12 s, the lease 10 s; a U whose string ends in `#0 .` needs
no mishap at all, for nobody renews. Under F5 and F6 two of five servers are out of A's reach, so that it has a bare
majority; a lock on several machines meets one mishap (under F8, two), the others one more. R8 and R9 are played
with one server that stands for the ensemble: what it has acknowledged is on a quorum's disks, so a member that
restarts keeps its log, and a failover is half a second without a leader. Wiping those disks is not among the
mishaps; it would void F6. Nobody looks at the lease once more before the write: with `looks=1` R8 and R9 are D
under F7 without a token too, as long as nobody stands still. R10's database keeps its data over a restart and
commits on its replica too. The spans: a pause and a delay of 1.05 TTL, a clock that jumps by 1.5 TTL. redlock-py
raises an error whenever a node does not answer, even with a quorum, so under F5 and F6 its client A never comes to
the point.

"""


def main(arguments: list[str] | None = None) -> int:
    """Search and write; return 0. Raises ValueError for a row that does not exist."""
    parser = argparse.ArgumentParser(prog="matrix.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rows", default=",".join(ALL), help="rows to be searched anew, as in R8,R9")
    parser.add_argument("--page", action="store_true", help="search nothing: write the page from the record")
    chosen = parser.parse_args(arguments)
    if not chosen.page:
        search(tuple(chosen.rows.split(",")))
    cells = recorded()
    peers = ", ".join(f"{peer} {version(peer)}" for peer in PEERS)
    PAGE.write_text(f"{HEAD.format(peers=peers)}{markdown(cells)}\n", encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(cells)} cells.")
    return 0


def recorded() -> list[Cell]:
    """The cells on record, in the order of rows and columns."""
    cells = [Cell(**each) for each in json.loads(RECORD.read_text(encoding="utf-8"))]
    return sorted(cells, key=lambda cell: (list(ALL).index(cell.row), list(COLUMNS).index(cell.column)))


def search(rows: tuple[str, ...]) -> None:
    """Searches these rows and puts them in their place on record."""
    found = searched(rows, tuple(COLUMNS), tick=lambda cell: print(cell, file=sys.stderr))
    kept = [cell for cell in recorded() if cell.row not in rows]
    RECORD.write_text(text([*kept, *found]), encoding="utf-8")
    RECORD.write_text(text(recorded()), encoding="utf-8")


def text(cells: list[Cell]) -> str:
    return json.dumps([asdict(cell) for cell in cells], indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
