"""What is known about a value while code is followed: its text, the volatile pieces in it, its structure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from prefixlint.model import Confidence

HOLE = "\x00"  # stands for any run-time piece in a known text
TEXT_LIMIT = 6000  # characters of text kept for templates and label words; ``size`` goes on counting
OBJECT_TEXT = frozenset("content text parts description".split())
NO_TEXT = frozenset(
    "id timestamp created created_at createdAt time at metadata run_id uuid trace_id session_id usage "
    "run_uuid message_id".split()
)
STEPS_LIMIT = 12
LOUD_SIZE = 400  # an imported SHOUTY_PROMPT constant of unknown text counts as this many static characters


@dataclass(frozen=True, slots=True)
class Place:
    """A byte range of one file."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Taint:
    """One volatile piece.

    ``before`` counts the static characters ahead of it, ``cached`` says that a cache marker follows, ``tail`` that
    it lies in the last user turn, ``loop`` is the loop outside which a counter is constant. ``detail`` refines the
    rule: order, value, window, id. ``wrap`` is the expression that a fix would wrap in ``sorted(...)``.
    """

    rule: str
    place: Place
    before: int = 0
    cached: bool = False
    tail: bool = False
    loop: int = 0
    detail: str = "value"
    steps: tuple[tuple[Place, str], ...] = ()
    confidence: Confidence = "high"
    wrap: Place | None = None
    fix: str = ""


@dataclass(slots=True, eq=False)
class Value:
    """Hold what one expression may be; lists and objects are shared by reference, as at run time.

    ``text`` is the known text with HOLE for each run-time piece, ``size`` the static characters in it. ``unordered``
    is set for containers whose iteration order is not fixed. ``ref`` is a function, class or module.
    """

    taints: tuple[Taint, ...] = ()
    text: str | None = None
    size: int = 0
    items: list[Value] | None = None
    fields: dict[str, Value] | None = None
    unordered: Taint | None = None
    kind: str = ""
    ref: Any = None
    role: str = ""
    front: bool = False
    is_open: bool = False
    depth: int = 0
    name: str = ""

    @property
    def const(self) -> str | None:
        """Return the text when nothing in it is filled in at run time."""
        return self.text if self.text is not None and HOLE not in self.text else None


UNKNOWN = Value(text=HOLE)


def text_value(text: str) -> Value:
    """Return the value of a string literal."""
    return Value(text=text[:TEXT_LIMIT], size=len(text))


@dataclass(slots=True)
class Flat:
    """A value seen as the text that it becomes in a prompt."""

    taints: list[Taint]
    size: int = 0
    marked: bool = False
    text: str = ""


def flatten(value: Value, depth: int = 0) -> Flat:
    """Lay a list of messages, blocks or fields out in order, as a provider does."""
    flat = Flat(list(value.taints), value.size, text=value.text or "")
    if value.unordered is not None:
        flat.taints.append(value.unordered)
    if depth > 6:
        return flat
    for item in value.items or ():
        _append(flat, flatten(item, depth + 1), is_tail=bool(item.role) and item.role != "system" and not item.front)
    if value.fields:
        is_object = (
            value.ref is not None and not value.role
        )  # an object of a known class is no text, its prompt fields are
        is_message = bool(value.role or value.kind or value.fields.keys() & {"content", "parts", "role"})
        for key, item in list(value.fields.items()):
            if (is_object and key not in OBJECT_TEXT) or (is_message and key in NO_TEXT):
                continue
            if key in ("cache_control", "cachePoint", "cache_point", "cacheControl"):
                _mark(flat)
            elif not key.startswith("__"):
                _append(flat, flatten(item, depth + 1), is_tail=False)
    return flat


def _append(flat: Flat, inner: Flat, *, is_tail: bool) -> None:
    for taint in inner.taints:
        flat.taints.append(replace(taint, before=taint.before + flat.size, tail=taint.tail or is_tail))
    flat.size += inner.size
    flat.text = (flat.text + inner.text)[:TEXT_LIMIT]
    if inner.marked:
        _mark(flat)


def _mark(flat: Flat) -> None:
    flat.marked = True
    flat.taints = [t if t.cached else replace(t, cached=True) for t in flat.taints]


def concat(values: Iterable[Value]) -> Value:
    """Glue texts together, keeping where each volatile piece lies."""
    taints: list[Taint] = []
    texts: list[str] = []
    size = 0
    kind = ""
    for value in values:
        if value.items is None and value.fields is None and value.unordered is None:
            found, length, text = value.taints, value.size, value.text
        else:
            flat = flatten(value)
            found, length, text = tuple(flat.taints), flat.size, HOLE
        if found:
            taints += [replace(t, before=t.before + size) for t in found] if size else found
        texts.append(HOLE if text is None else text)
        size += length
        kind = kind or value.kind
    joined = "".join(texts)
    if len(joined) > TEXT_LIMIT:
        joined = joined[:TEXT_LIMIT] + HOLE
    return Value(_unique(taints), joined, size, kind="" if texts else "builder")


def _unique(taints: list[Taint]) -> tuple[Taint, ...]:
    if len(taints) < 2:
        return tuple(taints)
    seen: dict[tuple[Place, str, bool], Taint] = {}
    for taint in taints:
        key = (taint.place, taint.rule, taint.cached)
        old = seen.get(key)
        if old is None or taint.before < old.before:
            seen[key] = taint
    return tuple(seen.values())


def union(values: list[Value]) -> Value:
    """Return what holds whichever of the values it is; structure is kept from the richest one."""
    known = [v for v in values if v is not UNKNOWN]
    if not known:
        return UNKNOWN
    if len(known) == 1 and len(values) == 1:
        return known[0]
    first = max(known, key=lambda v: (v.ref is not None, len(v.fields or ()) + len(v.items or ()), len(v.taints)))
    texts = {v.text for v in values}
    return Value(
        _unique([t for v in known for t in v.taints]),
        texts.pop() if len(texts) == 1 else (first.text if first.taints else HOLE),
        min(v.size for v in known) if not first.taints else first.size,
        _merged_items(known, first),
        _merged_fields(known),
        next((v.unordered for v in known if v.unordered is not None), None),
        first.kind,
        first.ref,
        first.role,
        first.front,
        any(v.is_open for v in known),
        min(v.depth for v in known),
        first.name,
    )


def _merged_items(values: list[Value], first: Value) -> list[Value] | None:
    lists = [v.items for v in values if v.items is not None]
    if not lists:
        return None
    if all(x is lists[0] for x in lists):
        return lists[0]
    seen: list[Value] = list(first.items or lists[0])
    known = {id(x) for x in seen}
    return seen + [x for items in lists for x in items if id(x) not in known and (x.taints or x.fields or x.unordered)]


def _merged_fields(values: list[Value]) -> dict[str, Value] | None:
    maps = [v.fields for v in values if v.fields is not None]
    if not maps:
        return None
    if all(m is maps[0] for m in maps):
        return maps[0]
    merged: dict[str, Value] = {}
    for mapping in maps:
        for key, value in mapping.items():
            merged[key] = value if key not in merged or merged[key] is value else union([merged[key], value])
    return merged


def without_order(value: Value) -> Value:
    """Return the value after sorting: order no longer varies, other volatile pieces stay."""
    taints = tuple(t for t in value.taints if t.detail != "order")
    return Value(taints, value.text, value.size, value.items, value.fields, None, "list", depth=value.depth)


def stepped(value: Value, place: Place, text: str) -> Value:
    """Add a station to the way of every volatile piece; containers keep theirs."""
    if not value.taints:
        return value
    taints = tuple(
        t
        if len(t.steps) >= STEPS_LIMIT or any(p == place for p, _ in t.steps)
        else replace(t, steps=(*t.steps, (place, text)))
        for t in value.taints
    )
    return Value(
        taints,
        value.text,
        value.size,
        value.items,
        value.fields,
        value.unordered,
        value.kind,
        value.ref,
        value.role,
        value.front,
        value.is_open,
        value.depth,
        value.name,
    )
