"""Write docs/errata.md: each erratum of the article with what its two runs show, played now.

    python tools/errata.py [--check]

Nothing on the page is written by hand: the texts are those of labkit/errata, the sentences those of the runs. The page
is written also where an erratum is not as it should be, and says so; then, as with --check when it would change, the
exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the labkit beside us, installed or not

from labkit.errata import ERRATA  # noqa: E402
from labkit.errata.report import Row, markdown, run, summary  # noqa: E402

PAGE = ROOT / "docs" / "errata.md"
HEAD = """# The article's errata

What the article says, what a run shows, and what the same mishap does once it is repaired. The numbers are the course's
own. `labkit errata` plays all of this anew, `labkit errata E04` one with all that is known of it; `labkit.replay("…")`
plays a single run again. This page is made by `python tools/errata.py`.

"""


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with --check only compare; return 0 if all is as it should be and a check finds no change."""
    parser = argparse.ArgumentParser(prog="errata.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page would change")
    check = parser.parse_args(arguments).check
    rows = [run(erratum) for erratum in ERRATA.values()]
    text = page(rows)
    changed = not PAGE.exists() or PAGE.read_bytes() != text.encode()
    print(f"{os.path.relpath(PAGE)}: {'changed' if changed else 'unchanged'}. {summary(rows)}")
    if changed and not check:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    return 0 if all(row.as_it_should_be for row in rows) and not (check and changed) else 1


def page(rows: list[Row]) -> str:
    """The whole page."""
    return HEAD + markdown(rows)


if __name__ == "__main__":
    sys.exit(main())
