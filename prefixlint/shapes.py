"""Recognise volatile values (times, ids, counters, paths ...) by their shape; the patterns live in the rule cards.

A shape says what a value looks like, not that it changes: a log proves that, a label or a placeholder suggests it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
BACK_CHARS = 160  # no label begins further in front of the end of its value
AHEAD_CHARS = 80
CLOCK_CHARS = 72  # the longest written date and time is shorter
WORD_CHARS = 250  # how much further a window reaches so as not to cut a long value such as a path
LETTERS = re.compile(r"[^\W\d_]{2,}")
CLOCKS = ("timestamp", "date", "epoch", "uuid")


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
    mixed: str = ""
    needs: tuple[str, ...] = ()


class Stretch:
    """Answer cheaply which patterns cannot match in a stretch of lower-case text."""

    def __init__(self, low: str) -> None:
        self.low = low
        self.known: dict[str, bool] = {}

    def has(self, needs: tuple[str, ...]) -> bool:
        """Say whether any of the needed literals, or words of the needed kind, is there."""
        return any(self._has(need) for need in needs)

    def _has(self, need: str) -> bool:
        if need not in self.known:
            self.known[need] = self._find(need)
        return self.known[need]

    def _find(self, need: str) -> bool:
        if need == "cjk":
            return not self.low.isascii() and any("\u2e80" <= c <= "\ud7a3" for c in self.low)
        if need in ("month", "weekday"):
            return not calendar_words(need).isdisjoint(LETTERS.findall(self.low))
        return need in self.low


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

    A shape that ends at the offset counts too, behind those that hold it: 1 and 10 in "turn 1" and "turn 10" differ
    behind the 1.
    """
    wide = window(text, char_offset, BACK_CHARS, AHEAD_CHARS)
    narrow = window(text, char_offset, CLOCK_CHARS, CLOCK_CHARS)
    near = [*_scan(text, *narrow, CLOCKS), *_scan(text, *wide, tuple(r for r in ORDER if r not in CLOCKS))]
    near = [s for s in near if s.start_char <= char_offset <= s.end_char]
    found: dict[str, Shape] = {}
    for shape in sorted(near, key=lambda s: (s.end_char == char_offset, *_specific(s))):
        found.setdefault(shape.rule, shape)
    return tuple(found.values())


def window(text: str, char_offset: int, back_chars: int, ahead_chars: int) -> tuple[int, int]:
    """Return the stretch of text around an offset, widened so that it begins and ends between words."""
    start = max(0, char_offset - back_chars)
    least = max(0, start - WORD_CHARS)
    while start > least and not text[start - 1].isspace():
        start -= 1
    end = min(len(text), char_offset + ahead_chars)
    most = min(len(text), end + WORD_CHARS)
    while end < most and not text[end].isspace():
        end += 1
    return start, end


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
def calendar_words(part: str) -> frozenset[str]:
    """Return the names of months or weekdays in lower case, taken from the shared part of the patterns."""
    return frozenset(LETTERS.findall(cards.parts()[part].replace("?", "").lower()))


@cache
def patterns(rule: str) -> tuple[Pattern, ...]:
    """Return the compiled patterns of a rule, in the order of its card."""
    return compile_patterns(rule, cards.rule_patterns(rule))


def compile_patterns(rule: str, entries: Any, compiler: Callable[[str], Any] | None = None) -> tuple[Pattern, ...]:
    """Compile ``patterns`` entries of a card: strings, or tables with the attributes of ``Pattern``."""
    tables = ({"regex": entry} if isinstance(entry, str) else entry for entry in entries)
    return tuple(_pattern(rule, table, compiler or _compile) for table in tables)


def matches(pattern: Pattern, text: str, start: int, end: int) -> Iterator[Shape]:
    """Yield the values that one pattern finds in ``[start, end)``."""
    group = 1 if pattern.regex.groups else 0
    for match in pattern.regex.finditer(text, start, end):
        first, last = match.span(group)
        if last > first and mixed_enough(text[first:last], pattern.mixed):
            yield Shape(pattern.rule, first, last, pattern.confidence)


def _scan(text: str, start: int, end: int, rules: tuple[str, ...] = ORDER) -> Iterator[Shape]:
    stretch = Stretch(text[start:end].lower())
    for rule in rules:
        for pattern in patterns(rule):
            if not pattern.needs or stretch.has(pattern.needs):
                yield from matches(pattern, text, start, end)


def _specific(shape: Shape) -> tuple[bool, int, int]:
    return shape.confidence == "low", ORDER.index(shape.rule), shape.start_char - shape.end_char


def _pattern(rule: str, table: Mapping[str, Any], compiler: Callable[[str], Any]) -> Pattern:
    needs = table.get("needs", ())
    return Pattern(
        rule,
        compiler(cards.regex_of(table)),
        table.get("confidence", "medium"),
        table.get("mixed", ""),
        (needs,) if isinstance(needs, str) else tuple(needs),
    )


def _compile(regex: str) -> Any:
    return re.compile(regex, re.ASCII)
