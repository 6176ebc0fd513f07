"""Run the notebooks anew and save them in a form that depends on their source alone.

    python tools/notebooks.py [--check] [notebook ...]       without names: notebooks/*.ipynb

Each notebook runs from its first cell to its last in a fresh kernel, with a progress file of its own. What is saved
keeps the sources and the outputs, and drops what changes from run to run or from machine to machine: times, versions,
widget views and their state, random cell ids. So a second run changes no byte, and a diff shows what a reader would
see. A cell that fails stops the work, is shown, and leaves its file as it was. It judges no output: nbval does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
CELL_SECONDS = 60  # the limit that `make test` sets too
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FLEETING = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "vscode")  # metadata of a cell
VIEW = "application/vnd.jupyter.widget-view+json"  # without a kernel it shows as «model not found»


class CellFailed(Exception):
    """A cell raised, took too long or lost its kernel; the text shows the cell and what happened."""


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks named in `arguments`; return 0 when all ran (and, with --check, none changed), else 1."""
    options = _options(arguments)
    changed = []
    for path in options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb")):
        try:
            before, after = path.read_text(encoding="utf-8"), rendered(path)
        except CellFailed as failure:
            print(f"{os.path.relpath(path)}: {failure}", file=sys.stderr)
            return 1
        print(f"{os.path.relpath(path)}: {'unchanged' if before == after else 'changed'}")
        if before != after:
            changed.append(path)
            if not options.check:
                _replace(path, after)
    return 1 if options.check and changed else 0


def rendered(path: Path, run: Callable[[NotebookNode, Path], None] | None = None) -> str:
    """The text of the notebook at `path`, run anew and normalised. Raises CellFailed when a cell fails."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    give_ids(raw["cells"])
    notebook = nbformat.reads(json.dumps(raw | {"nbformat_minor": 5}), as_version=4)
    (run or execute)(notebook, path.parent)
    normalise(notebook)
    nbformat.validate(notebook)
    return str(nbformat.v4.writes(notebook)).rstrip("\n") + "\n"


def give_ids(cells: list[dict[str, Any]]) -> None:
    """Give each cell without an id of its own one that follows from its text; an id that is there is kept."""
    taken: set[str] = set()
    for cell in cells:
        source = "".join(cell["source"])
        wanted = cell.get("id") or hashlib.sha256(source.encode()).hexdigest()[:8]
        copies = (f"{wanted}-{number}" for number in range(2, len(cells) + 2))
        cell["id"] = wanted if wanted not in taken else next(name for name in copies if name not in taken)
        taken.add(cell["id"])


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel in `folder`, in place of the outputs that are there. Raises CellFailed."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    with _own_home():
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise CellFailed(_shown(notebook, error)) from error


def normalise(notebook: NotebookNode) -> None:
    """Drop what depends on the moment or the machine; number the cells that ran 1, 2, 3…"""
    notebook.metadata = NotebookNode(METADATA)
    number = 0
    for cell in notebook.cells:
        for name in FLEETING:
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            number += bool(cell.source.strip())
            cell.execution_count = number if cell.source.strip() else None
            cell.outputs = [output for output in cell.outputs if _keep(output, number)]


def _keep(output: NotebookNode, number: int) -> bool:
    """Normalise one output; False when nothing is left of it."""
    if output.output_type == "execute_result":
        output.execution_count = number
    if "data" not in output:
        return True
    output.metadata.pop(VIEW, None)
    output.data.pop(VIEW, None)
    return bool(output.data)


def _shown(notebook: NotebookNode, error: Exception) -> str:
    """The cell that failed, its number among all cells, and the error as the notebook would show it."""
    failed = [number for number, cell in enumerate(notebook.cells, 1) if _has_error(cell)]
    return f"cell {failed[0]} failed.\n\n{error}" if failed else f"{type(error).__name__}: {error}"


def _has_error(cell: NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.get("outputs", ()))


@contextmanager
def _own_home() -> Iterator[None]:
    """Keep the reader's own progress out of the run, and the run out of it."""
    with tempfile.TemporaryDirectory() as home:
        before = dict(os.environ)
        os.environ.update(LABKIT_HOME=home, PYTHONHASHSEED="0")
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _replace(path: Path, text: str) -> None:
    """Write whole or not at all: an interrupted save must not cost a notebook."""
    draft = path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="notebooks.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="save nothing; exit 1 when a notebook would change")
    parser.add_argument("notebooks", nargs="*", type=_existing, help="notebooks to run; all of notebooks/ without any")
    return parser.parse_args(arguments)


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise argparse.ArgumentTypeError(f"there is no notebook {name!r}")
    return Path(name)


if __name__ == "__main__":
    sys.exit(main())
