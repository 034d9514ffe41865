"""Say what differs between a body and its canonical form: one change for each place and rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import is_

import orjson

from prefixlint.canon import inner, text
from prefixlint.canon.tools import tool_name
from prefixlint.elements import Number
from prefixlint.json_spans import escape_token
from prefixlint.model import Json


@dataclass(frozen=True, slots=True)
class Change:
    """Name one place that became canonical; ``pointer`` is that of the original body."""

    rule: str
    pointer: str
    before: Json
    after: Json


def changes(old: Json, new: Json, pointer: str = "") -> Iterator[Change]:
    """Yield every change between a value and its canonical form, outermost first."""
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _members(old, new, pointer)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(old, new, pointer)
    elif type(old) is Number and type(new) is Number:
        if old != new:
            yield Change("number-format", pointer, old, new)
    elif isinstance(old, str) and isinstance(new, str):
        if old != new:
            yield Change(string_rule(old, new), pointer, old, new)
    elif type(old) is not type(new):
        rule = "number-format" if isinstance(new, int | float) else "content-shape"
        yield Change(rule, pointer, old, new)


def string_rule(old: str, new: str) -> str:
    """Name the first rule by which a string and its canonical form differ."""
    before, after = inner.document(old), inner.document(new)
    if before is None or after is None or "\n" in new:
        if old.count("\n") == new.count("\n"):
            return next(text.edits(old, new)).rule
        if old.rstrip() == new.rstrip():
            return "trailing-whitespace"
        return "blank-run" if old.split() == new.split() else "unknown"
    if [n.keys() for _, n in before.walk()] != [n.keys() for _, n in after.walk()]:
        return "key-order"
    for (_, a), (_, b) in zip(before.walk(), after.walk(), strict=True):
        if a.kind == "number" and before.raw(a) != after.raw(b):
            return "number-format"
    return "escape-style"


def _members(old: dict[str, Json], new: dict[str, Json], pointer: str) -> Iterator[Change]:
    if [k for k in old if k in new] != [k for k in new if k in old]:
        yield Change("key-order", pointer, list(old), list(new))
    for key, value in old.items():
        if key in new:
            yield from changes(value, new[key], f"{pointer}/{escape_token(key)}")


def _items(old: list[Json], new: list[Json], pointer: str) -> Iterator[Change]:
    if len(old) == len(new) and all(map(is_, old, new)):
        return
    if not pointer.endswith(("/tools", "/functions", "Declarations", "_declarations")):
        for i, (a, b) in enumerate(zip(old, new, strict=False)):
            yield from _element(a, b, f"{pointer}/{i}")
        return
    names, fresh = [tool_name(t) for t in old], [tool_name(t) for t in new]
    if names != fresh:
        yield Change("tool-order", pointer, names, fresh)
    left: dict[str, list[Json]] = {}
    for name, tool in zip(fresh, new, strict=True):
        left.setdefault(name, []).append(tool)
    for i, tool in enumerate(old):
        if left.get(names[i]):
            yield from _element(tool, left[names[i]].pop(0), f"{pointer}/{i}")


def _element(old: Json, new: Json, pointer: str) -> Iterator[Change]:
    """Say of a tool or message that only its keys moved, or what changed in it."""
    if old is new:
        return
    try:
        only_order = orjson.dumps(old, option=orjson.OPT_SORT_KEYS) == orjson.dumps(new, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # what orjson refuses is walked
        only_order = False
    if not only_order:
        yield from changes(old, new, pointer)
    elif orjson.dumps(old) != orjson.dumps(new):
        yield Change("key-order", pointer, old, new)
