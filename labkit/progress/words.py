"""How progress is said: a sentence, a table, and how they show themselves in a notebook and in a shell."""

from collections.abc import Sequence


class Sentence(str):
    """A string that shows itself as it is at the end of a cell, without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Table(Sentence):
    """A Markdown table: drawn in a notebook, readable as it stands in a shell."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def markdown(rows: Sequence[Sequence[object]]) -> str:
    """A table whose first row is its heading; no cell can break it."""
    head, *body = [_line(row) for row in rows]
    return "\n".join([head, _line(["---"] * len(rows[0])), *body])


def _line(cells: Sequence[object]) -> str:
    escaped = [str(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(" ".join(cell.split()) for cell in escaped) + " |"


def count(number: int, thing: str, things: str = "") -> str:
    """1 hint, 2 hints; `things` is for a plural that is no `thing` with an s."""
    return f"{number} {thing if number == 1 else things or f'{thing}s'}"
