"""Say what a misspelt name probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like ``name``, or None when none comes near.

    >>> nearest("max_prefix_token", ["enabled", "max_prefix_tokens"])
    'max_prefix_tokens'
    """
    import difflib

    folded = {_fold(k): k for k in sorted(known, reverse=True)}
    if _fold(name) in folded:
        return folded[_fold(name)]
    close = difflib.get_close_matches(_fold(name), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def _fold(name: str) -> str:
    return name.lower().replace("-", "_").replace("_", "")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Write the end of an error message: the nearest name, or all of them when none comes near."""
    names = sorted(known)
    close = nearest(name, names)
    return f"did you mean {close!r}?" if close else f"known: {', '.join(names)}"
