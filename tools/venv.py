"""Bring `.venv` to the state that one lock file names, and do nothing when it is there already.

    python3 tools/venv.py learner      what the notebooks need              (requirements.lock)
    python3 tools/venv.py developer    the same versions, and the test tools (requirements-dev.lock)

Idea: a stamp file in `.venv` holds the digest of all that the install depended on (lock file, pyproject.toml, Python),
so that a second call compares one line. The developer's lock repeats every pin of the learner's: its stamp stands for
both, and no order of calls takes a version back. An install that was interrupted leaves a mark, and the next call
starts afresh; so it does in a folder that was moved. It uses the standard library only, and a syntax that an old Python
can read, so that it can say that it is too old. It does not choose versions: `make lock` does.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from typing import List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (3, 11)
LOCKS = {"learner": "requirements.lock", "developer": "requirements-dev.lock"}


class Refusal(Exception):
    """The environment cannot be made here; the text says why and what to do."""


def main(arguments: List[str]) -> int:
    """Make or repair `.venv` for `arguments[0]`, a role of LOCKS; return the exit status of the process."""
    if len(arguments) != 1 or arguments[0] not in LOCKS:
        print("usage: python3 tools/venv.py {}".format("|".join(LOCKS)), file=sys.stderr)
        return 2
    try:
        ensure(ROOT, arguments[0])
    except Refusal as refusal:
        print("\n{}\n".format(refusal), file=sys.stderr)
        return 1
    return 0


def ensure(root: str, role: str) -> None:
    """Leave `root/.venv` holding what `role` needs. Raises Refusal where that cannot be."""
    if is_ready(root, role):
        return
    if not is_sound(root):
        create(root)
    install(root, role)


def is_ready(root: str, role: str) -> bool:
    """True when a finished install for this role, from these very files and in this very folder, is in place."""
    if not is_sound(root):
        return False
    return any(_read(_stamp(root, name)) == digest(root, name) for name in ("developer", role))


def is_sound(root: str) -> bool:
    """True when `.venv` was made here, its Python is still there, and no install in it was cut short."""
    whole = not os.path.exists(_unfinished(root)) and os.path.exists(python_in(root))
    return whole and _read(os.path.join(root, ".venv", ".folder")) == root


def create(root: str) -> None:
    """Make an empty `.venv` with the Python that runs this, in place of whatever was there."""
    refuse_unfit_python(sys.version_info[:3], bool(importlib.util.find_spec("ensurepip")))
    venv = os.path.join(root, ".venv")
    _say("making .venv with Python {}.{}.{} ({})".format(*sys.version_info[:3], sys.executable))
    shutil.rmtree(venv, ignore_errors=True)
    if subprocess.call([sys.executable, "-m", "venv", venv]) != 0:
        raise Refusal(_WITHOUT_VENV.format(*sys.version_info[:2]))
    _write(os.path.join(venv, ".folder"), root)


def install(root: str, role: str) -> None:
    """Install the pins of the role's lock file, then labkit itself, editable; then write the stamp."""
    lock = LOCKS[role]
    _say("installing {}; the first time takes a minute or two".format(lock))
    _write(_unfinished(root), lock)
    pip(root, "install", "--require-hashes", "-r", lock)
    pip(root, "install", "--no-deps", "--no-build-isolation", "-e", ".")
    _write(_stamp(root, role), digest(root, role))
    os.remove(_unfinished(root))
    _say(".venv is ready for the {}".format(role))


def pip(root: str, *arguments: str) -> None:
    """Run the environment's own pip, shielded from settings that would make it install elsewhere."""
    shield = dict(os.environ, PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX"):
        shield.pop(name, None)
    command = [python_in(root), "-m", "pip", "--quiet", *arguments]
    if subprocess.call(command, cwd=root, env=shield) != 0:
        raise Refusal(_PIP_FAILED.format(" ".join(arguments)))


def refuse_unfit_python(version: Tuple[int, int, int], has_ensurepip: bool) -> None:
    """Raise Refusal, with the remedy, when this Python is too old or was packaged without ensurepip."""
    if version[:2] < OLDEST:
        raise Refusal(_TOO_OLD.format(*version[:3], needed="{}.{}".format(*OLDEST), hint=_newer_python()))
    if not has_ensurepip:
        raise Refusal(_WITHOUT_VENV.format(*version[:2]))


def digest(root: str, role: str) -> str:
    """One line that changes when the lock, pyproject.toml, the folder or the environment's Python changes."""
    whole = hashlib.sha256()
    for name in (LOCKS[role], "pyproject.toml"):
        with open(os.path.join(root, name), "rb") as file:
            whole.update(file.read())
    whole.update(os.path.realpath(python_in(root)).encode())
    return whole.hexdigest()


def python_in(root: str) -> str:
    """The path of the environment's interpreter, on Windows or elsewhere."""
    parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(root, ".venv", *parts)


_TOO_OLD = (
    "Redis Lock Lab needs Python {needed} or newer, and this is Python {0}.{1}.{2}.\n"
    "Name a newer one, for instance: make PYTHON={hint} lab"
)
_WITHOUT_VENV = (
    "This Python {0}.{1} cannot make a virtual environment: its venv package is missing or incomplete.\n"
    "On Debian and Ubuntu install it with: sudo apt install python3-venv    (or python{0}.{1}-venv)\n"
    "or name another Python, for instance: make PYTHON=python3.12 lab"
)
_PIP_FAILED = (
    "`pip {0}` failed; its own message is above.\n"
    "Check the network and the free space of this disk, then run the same command again: it starts .venv afresh."
)


def _newer_python() -> str:
    for minor in range(OLDEST[1] + 9, OLDEST[1] - 1, -1):
        if shutil.which("python3.{}".format(minor)):
            return "python3.{}".format(minor)
    return "python3.12"


def _unfinished(root: str) -> str:
    return os.path.join(root, ".venv", ".unfinished")


def _stamp(root: str, role: str) -> str:
    return os.path.join(root, ".venv", ".stamp-" + role)


def _read(path: str) -> Optional[str]:
    try:
        with open(path) as file:
            return file.read()
    except (IOError, OSError):
        return None


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _say(text: str) -> None:
    print("-- " + text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
