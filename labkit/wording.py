"""Numbers and lists as a person reads them: in sentences, in verdicts and in pictures."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A span for reading: "26.9 s", "640 ms", "0.5 ms"."""
    if 0 < seconds < 0.9995:
        return f"{float(f'{seconds * 1000:.3g}'):g} ms"
    return f"{seconds:.0f} s" if seconds >= 1000 else f"{float(f'{seconds:.3g}'):g} s"


def moment(seconds: float) -> str:
    """A point in time, in seconds, to the millisecond, in the first ten to a tenth of it: "0.0008", "10.05", "37"."""
    if 0 < seconds < 0.01:
        return f"{seconds:.4f}".rstrip("0")
    return f"{seconds:.3f}".rstrip("0").rstrip(".") if seconds < 1e6 else f"{seconds:.0f}"


def listed(names: tuple[str, ...], word: str = "and") -> str:
    """ "A", "A and B", "A, B and C"."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
