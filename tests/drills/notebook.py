"""A notebook to check in: a namespace that runs code as `__main__`, as a kernel does."""

from textwrap import dedent

from labkit.drills import check, not_attempted

SUMS = """
def tolerated_misses(n):
    if n < 2:
        raise ValueError(n)
    return n - 2
"""


class Notebook(dict):
    """Cells are run in it one after the other; `nb["name"]` is what they have made."""

    def __init__(self, *cells):
        super().__init__(__name__="__main__", check=check, not_attempted=not_attempted)
        self.run(*cells)

    def run(self, *cells):
        for cell in cells:
            exec(compile(dedent(cell), "<cell>", "exec"), self)
        return self

    def check(self, arguments='"q1"'):
        """The verdict of a cell that calls check."""
        return self.run(f"report = check({arguments})")["report"]
