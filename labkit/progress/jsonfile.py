"""One JSON document on disk that neither a crash nor a second process tears.

`change` reads the document, lets a function alter it and replaces the file whole, under a lock, and only when something
is different; `read` looks. A file that cannot be understood is put aside under a free name and said, never overwritten;
where nothing can be written, that is said once and the document lives in memory until the file can take it, at most
until this Python ends. `load` looks at anybody's file and touches nothing; `join` adds one document to another. `blank`
is what a missing file stands for: where it has a list, every file must have one; what a file holds besides is kept. It
keeps no history, and what it says calls the document your progress.
"""

import contextlib
import copy
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


Document = dict[str, Any]
T = TypeVar("T")

PATIENCE = 5.0  # seconds to wait for another process that writes; a write takes milliseconds
LATER = 0.5  # seconds to wait for it at each try after that

_in_memory: dict[Path, Document] = {}  # the documents that could not be written yet


def change(path: Path, blank: Mapping[str, Any], alter: Callable[[Document], T]) -> T:
    """Read the file, `alter` its document in place and replace it, all under its lock; returns what `alter` returns.

    An OSError does not get out: it is said on stderr, and the document of this path lives in memory until a later call
    finds that the file can be written; then what memory holds is joined to it.
    """
    try:
        with _locked(path):
            return _change_file(path, blank, alter)
    except OSError as error:
        if path not in _in_memory:
            _say(
                f"Your progress cannot be saved to {path} ({error.strerror or error}), so it is kept in memory until "
                "it can be, or this Python ends; set LABKIT_HOME to a folder that can be written."
            )
            _in_memory[path] = _last_known(path, blank)
    return alter(_in_memory[path])


def read(path: Path, blank: Mapping[str, Any]) -> Document:
    """The document as `change` would find it, to look at only. No folder is made for a file that is not there."""
    if path not in _in_memory and not os.path.exists(path):
        return _fresh(blank)
    return change(path, blank, lambda document: document)


def load(path: Path, blank: Mapping[str, Any]) -> Document | None:
    """The document as it lies there: no lock, no repair, no word. None where there is no file.

    Raises ValueError, saying why, for a file that cannot be understood, and OSError for one that cannot be read.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:  # any other trouble must not end in an empty file over a full one
        return None
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as JSON ({error}).") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path} holds JSON, but not an object with names.")
    for name, value in blank.items():
        if isinstance(value, list) and not isinstance(document.setdefault(name, []), list):
            raise ValueError(f"{path} holds {name!r}, which is not a list.")
    return document


def list_in(document: Document, name: str) -> list[Any]:
    """A list of the document, to add to. Something else in its place becomes its first entry, so that it is kept."""
    value = document.setdefault(name, [])
    if not isinstance(value, list):
        document[name] = value = [value]
    return value


def join(mine: Document, theirs: Document) -> Document:
    """Add to `mine` what `theirs` has besides, and return it; of what is no list, mine stays.

    Lists come out by their entries' `at`. An entry is left out only where another says the same and more.
    """
    for name, value in theirs.items():
        if isinstance(value, list):
            mine[name] = _joined(list_in(mine, name), value)
        else:
            mine.setdefault(name, value)
    return mine


def _joined(mine: list[Any], theirs: list[Any]) -> list[Any]:
    known = {json.dumps(entry, sort_keys=True) for entry in mine}
    entries = mine + [entry for entry in theirs if json.dumps(entry, sort_keys=True) not in known]
    return sorted((one for one in entries if not any(_says_more(other, one) for other in entries)), key=_moment)


def _says_more(one: Any, other: Any) -> bool:
    """Whether `one` is `other` with something put where that had None, as when one file saw how it ended."""
    if not (isinstance(one, dict) and isinstance(other, dict)) or one == other or one.keys() != other.keys():
        return False
    return all(value is None or one[name] == value for name, value in other.items())


def _moment(entry: Any) -> tuple[str, str]:
    """When an entry was made, and when it was settled: of two endings of one entry the later comes last."""
    times = entry if isinstance(entry, dict) else {}
    return str(times.get("at") or ""), str(times.get("settled") or "")


# --- the file


def _fresh(blank: Mapping[str, Any]) -> Document:
    return copy.deepcopy(dict(blank))


def _last_known(path: Path, blank: Mapping[str, Any]) -> Document:
    """What memory begins with: the file, where it can still be read."""
    with contextlib.suppress(OSError, ValueError):
        return load(path, blank) or _fresh(blank)
    return _fresh(blank)


def _change_file(path: Path, blank: Mapping[str, Any], alter: Callable[[Document], T]) -> T:
    try:
        document = load(path, blank)
    except ValueError:
        _put_aside(path)
        document = None
    document = join(document or _fresh(blank), copy.deepcopy(_in_memory.get(path, {})))
    result = alter(document)
    if document != (load(path, blank) or _fresh(blank)):  # to look at it is no reason to rewrite it
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        _replace(Path(os.path.realpath(path)), text.encode("utf-8", "backslashreplace"))
    if _in_memory.pop(path, None) is not None:
        _say(f"Your progress is saved to {path} again.")
    return result


def _put_aside(path: Path) -> None:
    """Keep a file that cannot be read, under the first free name: somebody may still repair it by hand."""
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    path.rename(aside)
    _say(f"Your progress in {path} could not be read, so it is kept as {aside.name} and a new file is begun.")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _replace(path: Path, content: bytes) -> None:
    """Put the new file in the place of the old in one step, once it is safely on disk."""
    handle, name = tempfile.mkstemp(prefix=".progress-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time; the system takes the lock from a process that dies, so that none is ever stale."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path.with_name(".progress.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(file, LATER if path in _in_memory else PATIENCE)
        yield
    finally:
        os.close(file)


def _wait_for(file: int, patience: float) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            return _try_lock(file)
        except (BlockingIOError, PermissionError):
            if time.monotonic() > end:
                raise TimeoutError(f"another process has been writing there for {patience:g} seconds") from None
        except OSError:
            return None  # a file system without locks: that the file is replaced whole must do
        time.sleep(0.01)
