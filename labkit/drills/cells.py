"""Which statements of a notebook an answer needs: those that make its functions, and whatever these refer to.

A notebook also plays stories, draws and checks. None of that is run again to put one function to the test: it may take
long, and a mistake in it is no mistake of the answer. What is needed is read off the names; a name that is only made
up while the code runs (`globals()["x"] = 1`) is not seen.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator, Sequence

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.If, ast.Try, ast.With, ast.For)
MAKERS = (*DEFINITIONS, *BLOCKS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign)
ANY = "*"  # from redis.exceptions import *


def needed(statements: Sequence[ast.stmt], wanted: Collection[str]) -> list[ast.stmt]:
    """The statements that make the names of `wanted`, with all that these use, in their order. Where one of the names
    is not made at all, every function of the notebook is taken: the answer may have another name."""
    makers = [(statement, set(_made(statement))) for statement in statements if isinstance(statement, MAKERS)]
    names = {ANY, *wanted}
    if not set(wanted) <= set().union(*(made for _, made in makers)):
        names.update(*(made for statement, made in makers if _is_definition(statement)))
    chosen: set[int] = set()
    while more := {n for n, (_, made) in enumerate(makers) if n not in chosen and made & names}:
        chosen |= more
        names.update(*(_used(makers[n][0]) for n in more))
    return [makers[n][0] for n in sorted(chosen)]


def _is_definition(statement: ast.stmt) -> bool:
    """A function or a class, or a name for something that can be called: a lambda, a partial, another's method."""
    if not isinstance(statement, ast.Assign):
        return isinstance(statement, DEFINITIONS)
    value = statement.value
    partial = isinstance(value, ast.Call) and ast.unparse(value.func).endswith("partial")
    return partial or isinstance(value, (ast.Lambda, ast.Name, ast.Attribute))


def _made(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement makes or changes."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, BLOCKS):
        for child in ast.walk(statement):
            if child is not statement and isinstance(child, MAKERS) and not isinstance(child, BLOCKS):
                yield from _made(child)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def _used(statement: ast.stmt) -> set[str]:
    """The names of the notebook that a statement refers to, those inside its functions included."""
    return set(_referred(symtable.symtable(ast.unparse(statement), "cell", "exec")))


def _referred(table: symtable.SymbolTable) -> Iterator[str]:
    outside = table.get_type() == "module"
    yield from (s.get_name() for s in table.get_symbols() if s.is_referenced() and (outside or s.is_global()))
    for inner in table.get_children():
        yield from _referred(inner)
