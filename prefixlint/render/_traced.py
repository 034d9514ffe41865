"""Strings that remember where their characters come from, through the operations that chat templates use."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from prefixlint.elements import join as join_pointer
from prefixlint.model import Json, Place

_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)|[^\\]+", re.DOTALL)


class Traced(str):
    """A string with the places of its characters; an operation that is not known gives a plain string."""

    __slots__ = ("places",)
    places: tuple[Place, ...]

    def __new__(cls, text: str, places: tuple[Place, ...] = ()) -> Traced:
        """Make a string with places in order."""
        made = super().__new__(cls, text)
        made.places = places
        return made

    def __str__(self) -> str:
        """Return the string itself: jinja2 calls str() on all that it prints."""
        return self

    def __add__(self, other: str) -> str:
        """Concatenate."""
        return concat((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> str:
        """Concatenate behind a plain string."""
        return concat((other, self)) if isinstance(other, str) else NotImplemented

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        """Cut."""
        text = super().__getitem__(key)
        start, _, step = (key if isinstance(key, slice) else slice(key, None)).indices(len(self))
        return self._part(start, text) if step == 1 else text

    def _part(self, start: int, text: str) -> str:
        """Give ``text``, which stands at ``start``, the places that lie in it."""
        end = start + len(text)
        inside = (p for p in self.places if p.start_char < end and p.end_char > start)
        return Traced(text, tuple(_shifted(place, start, end) for place in inside) if text else ())

    def lstrip(self, chars: str | None = None, /) -> str:
        """Strip the start."""
        text = super().lstrip(chars)
        return self._part(len(self) - len(text), text)

    def rstrip(self, chars: str | None = None, /) -> str:
        """Strip the end."""
        return self._part(0, super().rstrip(chars))

    def strip(self, chars: str | None = None, /) -> str:
        """Strip both ends."""
        return self.lstrip(chars).rstrip(chars)

    def removeprefix(self, prefix: str, /) -> str:
        """Drop a prefix."""
        text = super().removeprefix(prefix)
        return self._part(len(self) - len(text), text)

    def removesuffix(self, suffix: str, /) -> str:
        """Drop a suffix."""
        return self._part(0, super().removesuffix(suffix))

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Any]:
        """Split from the left."""
        return list(self._found(super().split(sep, maxsplit)))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Any]:
        """Split from the right."""
        return list(self._found(super().rsplit(sep, maxsplit)))

    def splitlines(self, keepends: bool = False) -> list[Any]:
        """Split at line ends."""
        return list(self._found(super().splitlines(keepends)))

    def partition(self, sep: str, /) -> tuple[Any, Any, Any]:
        """Split at the first separator."""
        before, found, after = self._found(super().partition(sep))
        return before, found, after

    def rpartition(self, sep: str, /) -> tuple[Any, Any, Any]:
        """Split at the last separator."""
        before, found, after = self._found(super().rpartition(sep))
        return before, found, after

    def _found(self, parts: Iterable[str]) -> Iterator[str]:
        """Find parts that stand in the text one behind the other."""
        at = 0
        for part in parts:
            at = self.find(part, at)
            yield self._part(at, part)
            at += len(part)

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        """Replace; what stays keeps its place."""
        if not old:
            return super().replace(old, new, count)
        parts = self.split(old, count)
        return concat(itertools.chain(parts[:1], *((new, part) for part in parts[1:])))

    def join(self, parts: Iterable[str], /) -> str:
        """Join."""
        return joined(self, parts)


def _shifted(place: Place, start: int, end: int) -> Place:
    """Cut a place to ``[start, end)`` and count from ``start``."""
    low, high = max(place.start_char, start), min(place.end_char, end)
    return Place(low - start, high - start, place.pointer, place.char_offset + low - place.start_char)


def concat(parts: Iterable[Any]) -> str:
    """Concatenate, with the places of every part moved to where it stands."""
    texts: list[str] = []
    places: list[Place] = []
    at = 0
    for part in parts:
        text = str(part)
        if isinstance(text, Traced):
            places += (Place(p.start_char + at, p.end_char + at, p.pointer, p.char_offset) for p in text.places)
        texts.append(text)
        at += len(text)
    whole = "".join(texts)
    return Traced(whole, tuple(places)) if places else whole


def joined(separator: str, parts: Iterable[Any]) -> str:
    """Join parts by a separator."""
    return concat(item for index, part in enumerate(parts) for item in ((separator, part) if index else (part,)))


def trace(value: Json, pointer: str) -> Json:
    """Give every string of a JSON value its place; ``pointer`` is the value's own."""
    if isinstance(value, str):
        return Traced(value, (Place(0, len(value), pointer, 0),) if value else ())
    if isinstance(value, dict):
        return {key: trace(item, join_pointer(pointer, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [trace(item, f"{pointer}/{index}") for index, item in enumerate(value)]
    return value


def dump(value: Any, **options: Any) -> str:
    """Write JSON; the strings in it keep their places."""
    text = json.dumps(value, **options)
    places: list[Place] = []
    at = 0
    for leaf in _strings(value, sort_keys=bool(options.get("sort_keys"))):
        written = json.dumps(leaf, ensure_ascii=options.get("ensure_ascii", True))
        at = text.index('"', at)  # only strings have quotes, so the next quote opens the next string
        if isinstance(leaf, Traced):
            places += _inside(leaf, written[1:-1], at + 1)
        at += len(written)
    return Traced(text, tuple(places)) if places else text


def _strings(value: Any, *, sort_keys: bool) -> Iterator[str]:
    """Yield keys and strings in the order in which they are written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value) if sort_keys else value:
            # numbers and such as keys are written as strings; they have no place
            yield key if isinstance(key, str) else json.dumps(key)
            yield from _strings(value[key], sort_keys=sort_keys)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item, sort_keys=sort_keys)


def _inside(leaf: Traced, written: str, start: int) -> Iterator[Place]:
    """Yield the places of a string that is written with escapes, run by run."""
    if written == leaf:
        yield from (Place(p.start_char + start, p.end_char + start, p.pointer, p.char_offset) for p in leaf.places)
        return
    at = read = 0
    for run in _ESCAPE.findall(written):
        length = 1 if run[0] == "\\" else len(run)
        part = leaf[read : read + length]
        for place in part.places if isinstance(part, Traced) else ():
            low = start + at + place.start_char
            high = start + at + len(run) if length == 1 else start + at + place.end_char
            yield Place(low, high, place.pointer, place.char_offset)
        at, read = at + len(run), read + length
