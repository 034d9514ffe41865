"""Recognise volatile values (times, ids, counters, paths ...) by their shape; the patterns live in the rule cards.

A shape says what a value looks like, not that it changes: a log proves that, a label or a placeholder suggests it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from prefixlint import cards
from prefixlint.model import Confidence

# Most specific first: where several shapes cover the same character, the earlier rule names the value.
ORDER = (
    "timestamp",
    "uuid",
    "temp-path",
    "git-status",
    "commit-hash",
    "epoch",
    "date",
    "relative-time-phrase",
    "counter",
    "user-or-host",
    "random-id",
    "cwd-or-env",
)
WINDOW_CHARS = 300  # context on either side of an offset: no label stands further from its value
LINE_CHARS = 200  # how much further a window reaches back to begin at a line start


@dataclass(frozen=True, slots=True)
class Shape:
    """Locate a value ``[start_char, end_char)`` that looks like what the rule is about.

    ``confidence`` is high where the form alone or its label leaves no doubt, low where many harmless things look alike.
    """

    rule: str
    start_char: int
    end_char: int
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Pattern:
    """Hold one pattern of a card; group 1 is the value if there is one, else the whole match is."""

    rule: str
    regex: Any
    confidence: Confidence
    mixed: str


def find(text: str, start: int = 0, end: int | None = None) -> Iterator[Shape]:
    """Yield the shapes in a part of the text by position, overlapping ones resolved to the most specific."""
    found = sorted(_scan(text, start, len(text) if end is None else end), key=_specific)
    taken: list[Shape] = []
    for shape in found:
        if all(shape.end_char <= t.start_char or t.end_char <= shape.start_char for t in taken):
            taken.append(shape)
    yield from sorted(taken, key=lambda s: s.start_char)


def covering(text: str, char_offset: int) -> tuple[Shape, ...]:
    """Return the shapes around one character, most specific first; one per rule.

    A shape that ends at the offset counts too, behind those that hold it: "9" and "10" of "turn 10" differ behind "turn 1".
    """
    start, end = window(text, char_offset)
    found: dict[str, Shape] = {}
    near = [s for s in _scan(text, start, end) if s.start_char <= char_offset <= s.end_char]
    for shape in sorted(near, key=lambda s: (s.end_char == char_offset, *_specific(s))):
        found.setdefault(shape.rule, shape)
    return tuple(found.values())


def window(text: str, char_offset: int) -> tuple[int, int]:
    """Return the stretch of text in which a value at the offset and its label must lie; it begins between words."""
    start = max(0, char_offset - WINDOW_CHARS)
    line = text.rfind("\n", max(0, start - LINE_CHARS), start)
    if line >= 0:
        start = line + 1
    while 0 < start < char_offset and text[start - 1].isalnum() and text[start].isalnum():
        start += 1
    return start, min(len(text), char_offset + WINDOW_CHARS)


def mixed_enough(value: str, kind: str) -> bool:
    """Say whether a value has the kinds of characters that its pattern asks for and cannot express itself.

    ``digit``: a digit; ``alnum``: a digit and a letter; ``base64``: a digit, a small and a capital letter.
    """
    if not kind:
        return True
    if not any(c.isdigit() for c in value):
        return False
    if kind == "digit":
        return True
    if kind == "alnum":
        return any(c.isalpha() for c in value)
    return any(c.islower() for c in value) and any(c.isupper() for c in value)


@cache
def patterns(rule: str) -> tuple[Pattern, ...]:
    """Return the compiled patterns of a rule, in the order of its card."""
    return compile_patterns(rule, cards.rule_patterns(rule))


def compile_patterns(rule: str, entries: Any, compiler: Callable[[str], Any] | None = None) -> tuple[Pattern, ...]:
    """Compile ``patterns`` entries of a card: strings, or tables with regex, confidence and mixed."""
    compiled = []
    for entry in entries:
        table = {"regex": entry} if isinstance(entry, str) else entry
        regex = (compiler or _compile)(cards.regex_of(table))
        compiled.append(Pattern(rule, regex, table.get("confidence", "medium"), table.get("mixed", "")))
    return tuple(compiled)


def matches(pattern: Pattern, text: str, start: int, end: int) -> Iterator[Shape]:
    """Yield the values that one pattern finds in ``[start, end)``."""
    group = 1 if pattern.regex.groups else 0
    for match in pattern.regex.finditer(text, start, end):
        first, last = match.span(group)
        if last > first and mixed_enough(text[first:last], pattern.mixed):
            yield Shape(pattern.rule, first, last, pattern.confidence)


def _scan(text: str, start: int, end: int) -> Iterator[Shape]:
    for rule in ORDER:
        for pattern in patterns(rule):
            yield from matches(pattern, text, start, end)


def _specific(shape: Shape) -> tuple[bool, int, int]:
    return shape.confidence == "low", ORDER.index(shape.rule), shape.start_char - shape.end_char


def _compile(regex: str) -> Any:
    return re.compile(regex, re.ASCII)
