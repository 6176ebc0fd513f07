"""labkit/drills/cells.py: of a notebook runs what an answer needs, and nothing else."""

import ast
from textwrap import dedent

import pytest

from labkit.drills.cells import needed


def kept(text, *wanted):
    """The lines that are run, for functions of these names."""
    chosen = needed(ast.parse(dedent(text)).body, wanted)
    return [ast.unparse(statement).splitlines()[0] for statement in chosen]


FUNCTION = "def f(n):\n    return n"


def test_a_function_is_kept_and_what_stands_beside_it_is_not():
    assert kept(f"{FUNCTION}\nrun = play()\ntimeline = f(3)\nprint(run)", "f") == ["def f(n):"]


@pytest.mark.parametrize(
    "line",
    [
        "import g",
        "from x import g",
        "import x as g",
        "g = 2",
        "g: int = 2",
        "a, g = 1, 2",
        "(a, [g]) = x",
        "g, h = x, y",
    ]
    + ["def g():\n    pass", "class g:\n    pass", "g = lambda: 1", "import g.h", "a = g = 2"],
)
def test_what_a_function_refers_to_is_kept(line):
    as_it_is_shown = ast.unparse(ast.parse(line)).splitlines()[0]
    assert kept(f"{line}\ndef f(n):\n    return g", "f") == [as_it_is_shown, "def f(n):"]


def test_what_is_needed_by_what_is_needed_is_kept():
    text = "a = 1\nb = a\nc = 3\ndef g():\n    return b\ndef f(n):\n    return g()"
    assert kept(text, "f") == ["a = 1", "b = a", "def g():", "def f(n):"]


def test_a_name_of_its_own_is_not_taken_for_one_of_the_notebook():
    assert kept("misses = play()\ndef f(misses):\n    return misses", "f") == ["def f(misses):"]


def test_names_in_inner_functions_methods_decorators_defaults_and_annotations_count():
    text = """
    a, b, c, d, e = 1, 2, 3, 4, 5
    z = 6
    @a
    def f(n: d = b):
        def inner():
            return c
        class Inner:
            def method(self):
                return e
        return inner
    """
    assert kept(text, "f") == ["a, b, c, d, e = (1, 2, 3, 4, 5)", "@a"]
    assert "z = 6" not in kept(text, "f")


def test_every_definition_of_a_name_is_kept_in_order():
    assert kept(f"{FUNCTION}\nx = 1\ndef f(m):\n    return m", "f") == ["def f(n):", "def f(m):"]


def test_what_changes_a_name_is_kept_with_it():
    text = """
    table = {}
    table[1] = 2
    for k in range(3):
        table[k] = k
    count = 0
    count += 1
    def f(n):
        return table
    """
    assert kept(text, "f") == ["table = {}", "table[1] = 2", "for k in range(3):", "def f(n):"]


@pytest.mark.parametrize("block", ["if x:", "try:", "with x:"])
def test_a_block_is_kept_whole_if_it_makes_a_needed_name(block):
    end = "\nexcept E:\n    pass" if block == "try:" else ""
    assert kept(f"{block}\n    from x import g{end}\ndef f(n):\n    return g", "f")[0] == block
    assert kept(f"{block}\n    from x import h{end}\ndef f(n):\n    return g", "f") == ["def f(n):"]


def test_an_import_of_everything_is_kept():
    assert kept(f"from redis.exceptions import *\n{FUNCTION}", "f") == ["from redis.exceptions import *", "def f(n):"]


@pytest.mark.parametrize(
    "line",
    ["f = lambda n: n", "f = partial(g, 2)", "f = Keeper()", "f = Keeper.method", "f = make()", "f: object = make()"],
)
def test_a_wanted_name_may_be_made_by_any_assignment(line):
    assert kept(line, "f") == [line]


def test_where_a_name_is_missing_all_functions_are_taken_and_no_run():
    text = """
    run = play()
    mine = lambda n: n
    other = functools.partial(mine, 2)
    def my_f(n):
        return n
    x = [my_f(1)]
    """
    assert kept(text, "f") == ["mine = lambda n: n", "other = functools.partial(mine, 2)", "def my_f(n):"]
