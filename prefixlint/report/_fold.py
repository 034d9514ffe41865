"""Fold long lines of a report for a narrow terminal; colours have no width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_HANG = 2  # columns that what follows stands further in


def fold(lines: Iterable[str], width: int) -> Iterator[str]:
    """Break lines at blanks so that none is wider than ``width``, as far as words allow; 0 leaves all as they are.

    >>> list(fold(["  do: sort the tools by name"], 20))
    ['  do: sort the tools', '    by name']
    """
    for line in lines:
        if not width or columns(line) <= width:
            yield line
        else:
            yield from _folded(line, width)


def columns(line: str) -> int:
    """Count what a terminal shows of a line."""
    return len(_COLOR.sub("", line))


def _folded(line: str, width: int) -> Iterator[str]:
    plain = _COLOR.sub("", line)
    indent = len(plain) - len(plain.lstrip(" "))
    current, *words = re.split(r"(?<=[^ ]) ", line)  # what is before the first blank has the indent
    for word in words:
        if columns(current) + 1 + columns(word) > width:
            yield current.rstrip(" ")
            current = " " * (indent + _HANG) + word
        else:
            current += f" {word}"
    yield current
