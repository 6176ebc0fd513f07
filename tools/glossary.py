"""Write docs/glossary.md: the words of the course, gathered from the tables at the head of its notebooks.

    python tools/glossary.py [--check]

A notebook explains its words where they are first needed; the page only puts them side by side. With --check nothing is
written, and the exit status is 1 when the page would change.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "glossary.md"
HEAD, RULE = "| word | 中文 | here it is |", "| --- | --- | --- |"
TOP = """# The words of the course

One word for one thing, in the notebooks, in the code and in the messages; the Chinese term is the usual one. A word
stands here as the notebook explains it that needs it first.

| word | 中文 | what it means | from |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Word:
    """One row of a notebook's table."""

    word: str
    chinese: str
    means: str
    notebook: str


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="glossary.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page would change")
    check = parser.parse_args(arguments).check
    text = page(words())
    changed = not PAGE.exists() or PAGE.read_bytes() != text.encode()
    if changed and not check:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    print(f"docs/glossary.md: {'changed' if changed else 'unchanged'}.")
    return 1 if changed and check else 0


def words() -> list[Word]:
    """Every word of every notebook, in the order of the course; a word that comes again, only the first time."""
    found: dict[str, Word] = {}
    for notebook in sorted((ROOT / "notebooks").glob("0*.ipynb")):
        for word in table(notebook):
            found.setdefault(word.word, word)
    return list(found.values())


def table(notebook: Path) -> list[Word]:
    """The rows of a notebook's table of words."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    lines = [line for cell in cells if cell["cell_type"] == "markdown" for line in "".join(cell["source"]).splitlines()]
    rows = []
    for line in lines[lines.index(HEAD) + 2 :] if HEAD in lines else []:
        if not line.startswith("|"):
            break
        word, chinese, means = (part.strip() for part in line.strip().strip("|").split("|"))
        rows.append(Word(word, chinese, means, notebook.name))
    return rows


def page(found: list[Word]) -> str:
    """The page, in the order of the alphabet."""
    lines = [
        f"| {w.word} | {w.chinese} | {w.means} | [{w.notebook[:2]}](../notebooks/{w.notebook}) |"
        for w in sorted(found, key=lambda w: w.word.lower())
    ]
    return TOP + "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
