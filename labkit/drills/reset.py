"""Give an exercise back as it was, and keep what the learner made of it.

The pristine notebook comes from the package. The learner's file is first copied under a name that nobody has, and is
safely on disk there before the pristine one takes its place in a single step: interrupted at any moment, the text
stands in one of the two files, and no backup is ever overwritten. It knows nothing of a notebook that is open in
JupyterLab: that shows the old text until it is reloaded, and `told` says so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

DRILLS = Path(__file__).parent  # one folder a question, with its exercise.ipynb


def reset(question: str, folder: Path) -> Path | None:
    """Put the pristine exercise in `folder`/qN.ipynb and return the backup of what was there, None if nothing was lost.

    Raises ValueError, naming what is allowed, for a `question` that has no exercise or a `folder` that does not exist,
    and OSError when the folder cannot be written: then the learner's file is as it was.
    """
    pristine = _pristine(question)
    if not folder.is_dir():
        raise ValueError(f"There is no folder {str(folder)!r}; name the one in which {question}.ipynb is or shall be.")
    notebook = folder / f"{question}.ipynb"
    try:
        if notebook.exists() and notebook.read_bytes() == pristine:
            return None
        backup = keep(notebook) if notebook.exists() else None
        _replace(Path(os.path.realpath(notebook)), pristine)
    except OSError as error:
        raise OSError(
            f"{question} was not reset, because {folder} cannot be written ({error.strerror or error}). "
            f"{notebook.name} is as it was; make the folder writable or copy the notebook to another one."
        ) from error
    return backup


def keep(notebook: Path) -> Path:
    """Copy `notebook` to the first free NAME.backup-1.ipynb, NAME.backup-2.ipynb… beside it, and return that path.

    It is on disk when this returns. An identical backup that is there already will do. Raises OSError.
    """
    content = notebook.read_bytes()
    number = 1
    while True:
        backup = notebook.with_name(f"{notebook.stem}.backup-{number}.ipynb")
        with contextlib.suppress(FileExistsError):
            _write_new(backup, content)
            return backup
        if backup.is_file() and backup.read_bytes() == content:
            return backup
        number += 1


def told(question: str, backup: Path | None) -> str:
    """What a reset has done, in whole sentences for the learner."""
    kept = "" if backup is None else f" Your notebook is kept as {backup.name}, beside it."
    return (
        f"{question}.ipynb is as it was at the start.{kept} If it is open in JupyterLab, the tab still shows the old "
        "text: choose «File → Reload Notebook from Disk» before you save."
    )


def _pristine(question: str) -> bytes:
    known = sorted(path.parent.name for path in DRILLS.glob("q*/exercise.ipynb"))
    if question not in known:
        raise ValueError(f"There is no exercise {question!r}; it must be one of: {', '.join(known)}.")
    return (DRILLS / question / "exercise.ipynb").read_bytes()


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that did not exist, or leave none. Raises FileExistsError if the name is taken."""
    path.open("xb").close()
    try:
        _write_through(path, content)
    except BaseException:
        path.unlink()
        raise


def _replace(path: Path, content: bytes) -> None:
    """Put the new file in the place of the old in one step, with the old one's permissions."""
    draft = path.with_name(f".{path.name}.tmp")
    try:
        _write_through(draft, content)
        if path.exists():
            shutil.copymode(path, draft)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _write_through(path: Path, content: bytes) -> None:
    """Write the file and wait until it is on disk, its name included where the system can promise that."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(OSError):  # not every system opens a folder
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
