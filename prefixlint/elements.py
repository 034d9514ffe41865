"""Decode one element of a prompt (a tool, a block, a message) without losing key order or number spelling.

An element is what is compared first by its raw bytes and decoded only when it is new. Its ``value`` is canonical: what
is no prompt text is gone, and members whose order means nothing stand in the order in which they are sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from prefixlint.model import Json, Part, SegmentKind


class Number(str):
    """Hold a JSON number as it is written: ``0.0`` is not ``0``."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Write the number without quotes, so that ``key_of`` tells 1 from "1"."""
        return str.__str__(self)


@dataclass(frozen=True, slots=True)
class Piece:
    """Hold one piece of an element's text; ``pointer`` is relative to the element."""

    pointer: str
    text: str
    kind: SegmentKind = "text"
    breakpoint: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """Hold a decoded element. ``marks`` are the places of its cache markers with their TTL."""

    value: Json
    pieces: tuple[Piece, ...]
    role: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    duplicates: tuple[str, ...] = ()


Items = Literal["value", "list", "text"]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """Say where a part of the prompt lies in a body.

    ``items`` is ``list`` for an array of elements, ``value`` for one element, ``text`` for a string that holds the
    whole conversation. ``path`` leads from the member to the array (Gemini: ``systemInstruction`` -> ``parts``).
    """

    part: Part
    member: str
    items: Items = "value"
    path: tuple[str, ...] = ()


class Layout(Protocol):
    """Describe what a module of the render stage offers: the send order of one provider API."""

    NAME: str
    EXACT: bool
    PARTS: tuple[PromptPart, ...]

    def element(self, part: PromptPart, value: Json) -> Element:
        """Arrange a decoded element."""


def join(pointer: str, key: str | int) -> str:
    """Append one RFC 6901 token to a pointer."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def decode(raw: bytes | str) -> Json:
    """Decode JSON: numbers become ``Number``, lone surrogates stay, the last of duplicate keys wins.

    What is nested too deeply for the decoder stays one opaque value with its raw spelling.
    """
    text = raw if isinstance(raw, str) else _text(raw)
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return Number(text)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number, strict=False)


def duplicate_keys(raw: bytes | str) -> tuple[str, ...]:
    """Name the keys that stand twice in one object of a JSON text."""
    found: list[str] = []

    def keep(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) != len(pairs):
            seen: set[str] = set()
            found.extend(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        return members

    try:
        json.loads(raw, object_pairs_hook=keep, strict=False)
    except (RecursionError, ValueError):
        return ()
    return tuple(dict.fromkeys(found))


class Pieces:
    """Collect the pieces of one element: strings as they are, and JSON with its keys and punctuation."""

    def __init__(self) -> None:
        self.found: list[Piece] = []
        self._open: list[str] = []
        self._place = ""

    def add(self, pointer: str, text: str, kind: SegmentKind = "text") -> None:
        """Append a piece."""
        self._flush()
        self.found.append(Piece(pointer, text, kind))

    def json(self, value: Json, pointer: str) -> None:
        """Append a value as the JSON text that the model sees; the inner strings become pieces of their own."""
        self._place = pointer
        self._json(value, pointer)
        self._flush()

    def _flush(self) -> None:
        if self._open:
            self.found.append(Piece(self._place, "".join(self._open), "json"))
            self._open.clear()

    def _json(self, value: Json, pointer: str) -> None:
        if isinstance(value, Number) or not isinstance(value, (str, dict, list)):
            self._open.append(value if isinstance(value, str) else json.dumps(value))
        elif isinstance(value, str):
            self._open.append('"')
            self.add(pointer, value)
            self._open.append('"')
        elif isinstance(value, dict):
            self._members(value, pointer)
        else:
            self._open.append("[")
            for index, item in enumerate(value):
                self._open.append("," if index else "")
                self._json(item, f"{pointer}/{index}")
            self._open.append("]")

    def _members(self, value: Mapping[str, Json], pointer: str) -> None:
        self._open.append("{")
        for index, (key, item) in enumerate(value.items()):
            self._open.append(("," if index else "") + json.dumps(key, ensure_ascii=False) + ":")
            self._json(item, join(pointer, key))
        self._open.append("}")

    def marked(self, marks: Iterable[tuple[str, str]]) -> tuple[Piece, ...]:
        """Return the pieces, each cache marker put on the last piece of its block."""
        self._flush()
        for pointer, ttl in marks:
            for index in range(len(self.found) - 1, -1, -1):
                piece = self.found[index]
                if piece.pointer == pointer or piece.pointer.startswith(pointer + "/") or not pointer:
                    self.found[index] = replace(piece, breakpoint=ttl)
                    break
        return tuple(self.found)


def key_of(value: Json) -> str:
    """Write a canonical value so that two are equal if and only if their texts are."""
    return repr(value)


def strings(value: Json, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings of a value with their pointers, in order."""
    if isinstance(value, str):
        if not isinstance(value, Number):
            yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, join(pointer, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, f"{pointer}/{index}")


def keys_in(value: Json) -> int:
    """Count the keys of all objects in a value."""
    if isinstance(value, dict):
        return len(value) + sum(keys_in(v) for v in value.values() if isinstance(v, (dict, list)))
    return sum(keys_in(v) for v in value if isinstance(v, (dict, list))) if isinstance(value, list) else 0


def member(value: Json, *path: str) -> Any:
    """Follow keys into nested objects; None where one is missing."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
