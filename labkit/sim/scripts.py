"""How commands read in a timeline: as a person would write them, with a script's name in place of its text."""

from __future__ import annotations

import hashlib


class Scripts:
    """How commands read in a timeline: a script goes by its name, not by its hash or its source. The name is the first
    word of its first comment, `-- release: …`."""

    def __init__(self) -> None:
        self._names: dict[bytes, bytes] = {}

    def text(self, name: str, words: list[bytes]) -> str:
        if name == "EVALSHA":
            return shorten([words[0], self._names.get(words[1], words[1][:8]), *words[3:]])
        if name == "EVAL":
            return shorten([words[0], self._learn(words[1]), *words[3:]])
        if name == "SCRIPT" and len(words) > 2:
            return shorten([*words[:2], self._learn(words[2])])
        return shorten(words[:-1] if words[-1][:2] == b'{"' else words)  # without the JSON that says the same again

    def _learn(self, source: bytes) -> bytes:
        sha = hashlib.sha1(source).hexdigest().encode()
        first = source.lstrip().split(b"\n", 1)[0]
        word = first[2:].split(b":")[0].split() if first.startswith(b"--") else []
        return self._names.setdefault(sha, word[0] if word else sha[:8])


def shorten(words: list[bytes], limit: int = 64) -> str:
    """A command as a person would write it."""
    text = b" ".join(words).decode("utf-8", "backslashreplace")
    return text if len(text) <= limit else text[: limit - 1] + "…"
