"""An answer: the functions of a learner, wherever they stand, ready to be sent into another process.

From a notebook come the functions themselves (by cloudpickle), from a file its text; a notebook file is read cell by
cell, and what only shows or checks something is left out. Which of the functions answers to which name of the contract
is decided by `find`: by its name, else by a name like it, else by its number of arguments.
Nothing here calls an answer; the one thing that runs is the code around the functions of a file, in `unpack`.
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from ..recording import sentence
from .cells import needed
from .packing import pack
from .stub import is_stub
from .where import Source, know, line_of_answer

MODULE = "answer"  # what the module of a file is called while it is under test
MOST = 2_000_000  # bytes of a file: an answer is a page or two


class Unreadable(Exception):
    """An answer that cannot be put to the test at all; the text says why and what would help."""


@dataclass(frozen=True)
class Answer:
    """label: where it stands.  packed: pickled functions by name.  cells: the parts of a file, each a label and its
    text.  whole: whether they run as one, as a module does.  sources: the files that the functions come from."""

    label: str
    packed: bytes = b""
    cells: tuple[Source, ...] = ()
    whole: bool = False
    sources: Mapping[str, Source] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The function that answers to `name`. stub: untouched.  problem: why it cannot be called, if so."""

    name: str
    actual: str
    stub: bool = False
    problem: str = ""


# -- from a notebook -------------------------------------------------------------------------------------------------


def from_functions(functions: Mapping[str, Any], label: str = "your notebook") -> Answer:
    """Raises Unreadable, naming the function, if one carries something that cannot leave this process."""
    for name, function in functions.items():
        try:
            pack(function)
        except Exception as error:
            raise Unreadable(
                f"{name} cannot be sent to the process in which it is tested: {type(error).__name__}: {error}. It uses "
                "something of your notebook that lives only there, such as a lock, a connection or an open file: make "
                "that inside the function."
            ) from None
    return Answer(label, pack(dict(functions)), sources=_sources(functions.values()))


def _sources(functions: Any) -> dict[str, Source]:
    """The text of the files that hold the functions, with the number of its cell for what comes from a notebook."""
    codes = {code.co_filename for function in functions if (code := getattr(function, "__code__", None))}
    return {name: Source(_label(name), "".join(linecache.getlines(name))) for name in sorted(codes)}


def _label(name: str) -> str:
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    try:
        return str(shell.compile.format_code_name(name)[1])  # In [3]
    except Exception:
        return Path(name).name


# -- from a file -----------------------------------------------------------------------------------------------------


def from_file(path: Path) -> Answer:
    """Reads an answer from a .py or .ipynb file. Raises Unreadable, naming the file, for any other."""
    if path.suffix not in (".py", ".ipynb"):
        raise Unreadable(f"{path} is neither a Python file (.py) nor a notebook (.ipynb).")
    try:
        if path.stat().st_size > MOST:
            raise Unreadable(f"{path} has {path.stat().st_size:,} bytes; an answer has at most {MOST:,}.")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise Unreadable(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.") from None
    cells = (Source(path.name, text),) if path.suffix == ".py" else tuple(_cells(path, text))
    return Answer(str(path), cells=cells, whole=path.suffix == ".py")


def _cells(path: Path, text: str) -> Iterator[Source]:
    try:
        cells = json.loads(text)["cells"]
        sources = [(n, "".join(cell["source"])) for n, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{path} is no notebook: {type(error).__name__}: {error}.") from None
    from IPython.core.inputtransformer2 import TransformerManager  # it turns %magics and !commands into calls

    for number, source in sources:
        yield Source(f"cell {number}", TransformerManager().transform_cell(source))


# -- in the process of the test --------------------------------------------------------------------------------------


def unpack(answer: Answer, wanted: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """The names that an answer defines, and what went wrong in between. Runs the code of a file; of a notebook what the
    functions of `wanted` need. Call it while the stand-ins are in place, so that `from time import monotonic` and
    defaults like `now=time.monotonic` bind to them. Raises Unreadable for a file whose code does not run."""
    know(answer.sources)
    if answer.packed:
        return cloudpickle.loads(answer.packed), []
    module = sys.modules[MODULE] = ModuleType(MODULE)  # in its place before it runs: dataclasses look it up
    place = Path(answer.label).resolve()
    module.__file__ = str(place)
    sys.path.insert(0, str(place.parent))  # what lies beside a file can be imported, as where it is run
    troubles: list[str] = []
    for source, part in _parts(answer, wanted, troubles):
        try:
            exec(compile(part, source.label, "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as error:  # in a notebook one bad line does not take the next function with it
            troubles.append(_trouble(source, error))
        if answer.whole and troubles:
            raise Unreadable(troubles[-1])
    return vars(module), troubles


def _parts(answer: Answer, wanted: Collection[str], troubles: list[str]) -> Iterator[tuple[Source, ast.Module]]:
    """What is to be run, piece by piece: a file as it is, of a notebook statement after statement."""
    trees: list[tuple[Source, ast.Module]] = []
    for source in answer.cells:
        know({source.label: source})
        try:
            trees.append((source, ast.parse(source.text, source.label)))
        except (SyntaxError, ValueError) as error:
            troubles.append(_trouble(source, error))
            if answer.whole:
                raise Unreadable(troubles[-1]) from None
    if answer.whole:
        yield from trees
        return
    cell_of = {statement: source for source, tree in trees for statement in tree.body}
    for statement in needed(list(cell_of), wanted):
        yield cell_of[statement], ast.Module([statement], [])


def _trouble(source: Source, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{source.label} line {error.lineno} is no Python: {error.msg}."
    return f"{source.label} stops with {sentence(error)}, at {line_of_answer(error)}."


# -- whose name is whose ---------------------------------------------------------------------------------------------


def find(names: Mapping[str, Any], wanted: Mapping[str, int], chosen: bool = False) -> dict[str, Found]:
    """For each name of the contract (with its number of arguments) what answers to it, if anything does. chosen: the
    names are no notebook's, but functions given one by one, so each of them is meant."""
    found = {name: name for name in wanted if callable(names.get(name))}
    spare = [n for n, v in names.items() if n not in found and (chosen or _is_own(n, v))]
    for choose in (_by_name, _by_arguments):
        for name in wanted:
            if name not in found and (actual := choose(name, wanted, spare, names)):
                found[name] = actual
                spare.remove(actual)
    return {name: _examined(name, actual, names[actual], wanted[name]) for name, actual in found.items()}


def _is_own(name: str, value: Any) -> bool:
    mine = (MODULE, "__main__")
    return callable(value) and not name.startswith("__") and getattr(value, "__module__", None) in mine


def _by_name(name: str, wanted: Mapping[str, int], spare: list[str], names: Mapping[str, Any]) -> str | None:
    fits = [s for s in spare if _takes(names[s], wanted[name])]
    close = [s for s in fits if name in s] or get_close_matches(name, fits, n=1, cutoff=0.75)
    return close[0] if len(close) == 1 else None


def _by_arguments(name: str, wanted: Mapping[str, int], spare: list[str], names: Mapping[str, Any]) -> str | None:
    count = wanted[name]
    fits = [s for s in spare if _takes(names[s], count) and not inspect.isclass(names[s])]
    alone = list(wanted.values()).count(count) == 1
    return fits[0] if alone and len(fits) == 1 and _requires(names[fits[0]], count) else None


def _requires(function: Any, count: int) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return (
        sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        == count
    )


def _takes(function: Any, count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def _examined(name: str, actual: str, function: Any, count: int) -> Found:
    problem = ""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        problem = f"{actual} is «async def»: write ordinary blocking Python, without asyncio."
    elif inspect.isgeneratorfunction(function):
        problem = f"{actual} contains «yield», so a call only makes a generator and runs nothing of it."
    elif not _takes(function, count):
        problem = f"{actual}{_signature(function)} cannot be called with {count} positional argument(s)."
    return Found(name, actual, is_stub(function), problem)


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(…)"
