"""Build each exercise from its solution: solutions/qN.ipynb is the one source, exercises/qN.ipynb is never edited.

    python tools/exercises.py [--check] [solution ...]       without names: solutions/*.ipynb

What stands between «BEGIN SOLUTION» and «END SOLUTION» becomes a stub, hidden tests, mark schemes and cells with the
tag «solution-only» go (nbgrader's preprocessors do the cutting). Of the rest only the sources and the cell ids stay:
no output, count, widget state or metadata can carry an answer along. A second build changes no byte. Every notebook is
examined before the first is written; a marker that would be misread is refused with its cell and line. Texts that
belong to the drill are taken from its folder. The cells with a solution, whole, become the model answer of the package.
It does not judge whether a stub runs, nor whether a solution is right. The file is longer than others, so that all that
is ever cut from a solution is cut in one place.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
from nbformat import NotebookNode

sys.path.append(str(Path(__file__).parent))  # last, for the venv.py beside us must not hide Python's own
from notebooks import METADATA, give_ids

ROOT = Path(__file__).resolve().parent.parent
CODE_STUB = "# Your code goes here, in place of the next line.\nnot_attempted()"
TEXT_STUB = "*Your answer goes here.*"
SOLUTION_ONLY = "solution-only"  # the tag of a cell that the exercise does not have
KEPT_METADATA: frozenset[str] = frozenset()  # of a cell; each name more is a place where an answer could hide

REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
MARKER = re.compile(f"(BEGIN|END) ({'|'.join(REGIONS)})")  # nbgrader looks for these anywhere in a line
ALONE = re.compile(rf"[\s#<!-]*{MARKER.pattern}[\s#>-]*")  # a marker and nothing but the signs of a comment
MODEL = '"""The model answer to {}, cut from its solution by tools/exercises.py; it is not edited by hand."""'
MEANT = re.compile(r"[\s#<!-]*(begin|end)[\s_-]*(solution|hidden[\s_-]*test|mark[\s_-]*scheme)s?[\s#>:.-]*", re.I)


class Refused(Exception):
    """A solution cannot be built as it is; the text names the notebook, the cell and the line, and what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Build the notebooks named in `arguments`; return 0 when all could be built (and, with --check, are), else 1."""
    options = _options(arguments)
    paths = options.solutions or sorted((ROOT / "solutions").glob("*.ipynb"))
    try:
        wanted = {target: text for path in paths for target, text in built(path).items()}
    except Refused as refusal:
        print(f"Nothing is written. {refusal}", file=sys.stderr)
        return 1
    if not wanted:
        print("There is nothing to build: solutions/ holds no notebook.", file=sys.stderr)
        return 1
    differences = {target: _difference(target, text) for target, text in wanted.items()}
    for target, difference in differences.items():
        print(f"{os.path.relpath(target)}: {difference or 'unchanged'}")
        if difference and not options.check:
            _write(target, wanted[target])
    return 1 if options.check and any(differences.values()) else 0


def built(path: Path) -> dict[Path, str]:
    """What the solution at `path` asks for: its own text, the exercise, the copy that `labkit reset` gives back, and
    the model answer that `labkit` shows.

    Raises Refused, naming the cell and the line, when nbgrader would misread it or when a text cannot be found.
    """
    path = path.resolve()
    question, root = path.stem, path.parent.parent
    if path.parent.name != "solutions" or not re.fullmatch(r"q[1-9]\d*", question):
        raise Refused(f"{path.name} in {path.parent.name}/ is no solution; it must be named like solutions/q1.ipynb.")
    solution = _read(path)
    drill = root / "labkit" / "drills" / question
    _fill(solution, path.name, drill)
    exercise = exercise_of(solution, path.name)
    return {
        path: _written(solution),
        root / "exercises" / path.name: exercise,
        drill / "exercise.ipynb": exercise,
        drill / "model.py": model_of(solution, question),
    }


def exercise_of(solution: NotebookNode, name: str) -> str:
    """The text of the exercise to a solution called `name`. Raises Refused."""
    cells = [cell for cell in solution.cells if SOLUTION_ONLY not in cell.metadata.get("tags", ())]
    regions = sum(_regions(cell, f"{name}, cell {cell.id!r}") for cell in cells)
    if not regions:
        raise Refused(f"{name} has no «BEGIN SOLUTION» in any cell of the exercise, so there would be nothing to do.")
    stripped = _stripped(cells)
    stripped.cells = [_bare(cell) for cell in stripped.cells]
    nbformat.validate(stripped)
    text = _written(stripped)
    if left := MARKER.search(text):
        raise Refused(f"{name}: «{left.group()}» would still stand in the exercise, in a cell id or an attachment.")
    return text


def model_of(solution: NotebookNode, question: str) -> str:
    """The model answer to `question` as a module: the code cells that hold a solution, without the markers, below those
    imports of the other cells that they use. Raises Refused."""
    code = [c for c in solution.cells if c.cell_type == "code" and SOLUTION_ONLY not in c.metadata.get("tags", ())]
    trees = [_parsed(cell.source, f"{question}.ipynb, cell {cell.id!r}") for cell in code if not _answers(cell)]
    blocks = [_unmarked(cell.source) for cell in code if _answers(cell)]
    used = {node.id for node in ast.walk(ast.parse("\n".join(blocks))) if isinstance(node, ast.Name)}
    imports = sorted({line for tree in trees for node in tree.body for line in _imported(node, used)})
    sections = ["\n".join(line for *_, line in group) for _, group in groupby(imports, lambda line: line[0])]
    return "\n\n\n".join(["\n\n".join([MODEL.format(question), *sections]), *blocks]) + "\n"


def _answers(cell: NotebookNode) -> bool:
    return "BEGIN SOLUTION" in cell.source


def _parsed(source: str, where: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise Refused(f"{where}, line {error.lineno} is no Python ({error.msg}), so no module can be made.") from error


def _unmarked(source: str) -> str:
    """A cell with its solution, without markers, hidden tests and mark schemes."""
    kept, region = list[str](), "SOLUTION"
    for line in source.split("\n"):
        if marker := MARKER.search(line):
            region = marker[2] if marker[1] == "BEGIN" else "SOLUTION"
        elif region == "SOLUTION":
            kept.append(line)
    return "\n".join(kept)


def _imported(node: ast.stmt, used: set[str]) -> Iterator[tuple[int, bool, str, str]]:
    """The import at the top of a cell, with what sorts it, if one of the names `used` comes from it."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    names = [each for each in node.names if (each.asname or each.name.partition(".")[0]) in used]
    if isinstance(node, ast.ImportFrom) and names:
        module = str(node.module)
        yield _section(module), True, module, ast.unparse(ast.ImportFrom(module, names, 0))
    for each in names if isinstance(node, ast.Import) else ():
        yield _section(each.name), False, each.name, ast.unparse(ast.Import([each]))


def _section(module: str) -> int:
    """Where imports of this module stand in a file: Python's own first, ours last."""
    root = module.partition(".")[0]
    return 0 if root in sys.stdlib_module_names else 2 if root == "labkit" else 1


def _read(path: Path) -> NotebookNode:
    """The notebook with an id for each cell, so that a message can name it."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        give_ids(raw["cells"])
        notebook = nbformat.reads(json.dumps(raw | {"nbformat_minor": 5}), as_version=4)
        nbformat.validate(notebook)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, nbformat.ValidationError) as error:
        raise Refused(f"{path.name} cannot be read as a notebook ({type(error).__name__}: {error}).") from error
    return NotebookNode(notebook)


def _fill(notebook: NotebookNode, name: str, folder: Path) -> None:
    """Give each cell with the metadata {"labkit": {"from": FILE}} the text of that file in the drill's folder."""
    for cell in notebook.cells:
        file = cell.metadata.get("labkit", {}).get("from")
        if file is None:
            continue
        where = f"{name}, cell {cell.id!r}"
        if cell.cell_type != "markdown" or not re.fullmatch(r"[\w-]+\.md", str(file)):
            raise Refused(
                f"{where} is to come from {file!r}; only a Markdown cell can, from a file like 'question.md'."
            )
        if not (folder / file).is_file():
            raise Refused(
                f"{where} is to come from {file}, and labkit/drills/{folder.name}/ has no such file: write it."
            )
        cell.source = (folder / file).read_text(encoding="utf-8").strip()


def _regions(cell: NotebookNode, where: str) -> int:
    """How many solutions stand between markers in this cell. Raises Refused where nbgrader would cut amiss."""
    opened, count = "", 0
    for number, line in enumerate(cell.source.split("\n"), 1):
        _examine(line, f"{where}, line {number}")
        if not (marker := MARKER.search(line)):
            continue
        edge, region = marker.groups()
        if opened != (region if edge == "END" else ""):
            state = f"inside {opened}" if opened else "outside of any region"
            raise Refused(f"{where}, line {number}: «{edge} {region}» stands {state}; each BEGIN needs its own END.")
        opened = region if edge == "BEGIN" else ""
        count += opened == "SOLUTION"
    if opened:
        raise Refused(f"{where}: «BEGIN {opened}» has no «END {opened}» in the same cell.")
    if cell.metadata.get("nbgrader", {}).get("solution") and not count:
        raise Refused(f"{where} is marked as a solution by nbgrader and has no region, so it would go whole: mark one.")
    return count


def _examine(line: str, where: str) -> None:
    """A line that holds a marker holds one marker, spelt as nbgrader knows it, and nothing else."""
    if len(MARKER.findall(line)) > 1:
        raise Refused(f"{where} names two markers; give each a line of its own.")
    if MARKER.search(line) and not ALONE.fullmatch(line):
        raise Refused(f"{where} has text beside a marker, which would be lost; give the marker a line of its own.")
    if MEANT.fullmatch(line) and not MARKER.search(line):
        known = ", ".join(REGIONS)
        raise Refused(f"{where}: {line.strip()!r} is not taken for a marker; write BEGIN or END and one of: {known}.")


def _stripped(cells: list[NotebookNode]) -> NotebookNode:
    """A notebook of these cells as nbgrader leaves them. It takes seconds to load, hence the imports here."""
    from nbconvert import NotebookExporter
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearOutput, ClearSolutions
    from traitlets.config import Config

    config = Config()
    for each in (config.ClearSolutions, config.ClearHiddenTests, config.ClearMarkScheme):
        each.enforce_metadata = False  # the markers are enough: our cells carry no metadata of nbgrader
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    config.ClearMarkScheme.check_attachment_leakage = False  # what no text shows any more is dropped by _bare
    steps = [ClearSolutions, ClearHiddenTests, ClearMarkScheme, ClearOutput]
    make: Any = NotebookExporter  # its own annotations are incomplete
    exporter = make(config=config, preprocessors=steps, default_preprocessors=[])
    text, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(metadata=NotebookNode(METADATA), cells=cells))
    stripped: NotebookNode = nbformat.reads(text, as_version=4)
    return stripped


def _bare(cell: NotebookNode) -> NotebookNode:
    """A new cell of what may be known: by naming what stays, nothing else can slip through."""
    metadata = {name: value for name, value in cell.metadata.items() if name in KEPT_METADATA}
    bare: dict[str, Any] = {"id": cell.id, "cell_type": cell.cell_type, "metadata": metadata, "source": cell.source}
    if cell.cell_type == "code":
        return NotebookNode(bare | {"outputs": [], "execution_count": None})
    shown = unquote(cell.source)
    used = {name: data for name, data in cell.get("attachments", {}).items() if f"attachment:{name}" in shown}
    return NotebookNode(bare | ({"attachments": used} if used else {}))


def _written(notebook: NotebookNode) -> str:
    return str(nbformat.v4.writes(notebook)).rstrip("\n") + "\n"


def _difference(target: Path, text: str) -> str:
    """How `target` differs from `text`, in words; empty when it does not."""
    if not target.exists() or target.read_bytes() == text.encode():
        return "" if target.exists() else "new"
    if target.suffix == ".py":
        lines = zip_longest(target.read_text(encoding="utf-8").splitlines(), text.splitlines())
        return f"changed, first in line {next((n for n, (a, b) in enumerate(lines, 1) if a != b), 1)}"
    try:
        old, new = (json.loads(each)["cells"] for each in (target.read_bytes(), text))
        pairs = enumerate(zip_longest(old, new), 1)
        unlike = [
            f"first in cell {number} ({(one or other)['id']!r})" for number, (one, other) in pairs if one != other
        ]
        return f"changed, {unlike[0] if unlike else 'not in a cell but in the rest of the file'}"
    except (ValueError, TypeError, KeyError):
        return "changed, and was no notebook"


def _write(target: Path, text: str) -> None:
    """Write whole or not at all. An exercise that somebody has worked in is kept beside the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if _edited(target):
        from labkit.drills.reset import keep

        print(f"  It was edited by hand; that is kept as {keep(target).name}.")
    draft = target.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(target)


def _edited(target: Path) -> bool:
    """Whether `target` is an exercise that is not what the last build made of it: the package's copy would tell."""
    copy = target.parent.parent / "labkit" / "drills" / target.stem / "exercise.ipynb"
    if target.parent.name != "exercises" or not target.exists():
        return False
    return not copy.exists() or copy.read_bytes() != target.read_bytes()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="exercises.py", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file would change")
    parser.add_argument(
        "solutions", nargs="*", type=_existing, help="solutions to build; all of solutions/ without any"
    )
    return parser.parse_args(arguments)


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise argparse.ArgumentTypeError(f"there is no solution {name!r}")
    return Path(name)


if __name__ == "__main__":
    sys.exit(main())
