"""Work on single places of a body: take over a spelling, put elements in order, drop what has no text left."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.canon import adopt, move
from prefixlint.canon.agree import INSTRUCTIONS, digest, without_marks
from prefixlint.canon.tools import place_marks, tool_name
from prefixlint.canon.values import at, with_value
from prefixlint.json_spans import split_pointer
from prefixlint.model import Fork, Json


def shares_up_to(body: Json, other: Json, block: str) -> bool:
    """Return whether another body begins with the same blocks up to a marked one."""
    tokens = split_pointer(block)
    for member in ("tools", "system", "messages"):
        if member != tokens[0]:
            if without_marks(body.get(member)) != without_marks(other.get(member)):
                return False
            continue
        end = int(tokens[1]) + 1 if len(tokens) > 1 and tokens[1].isdigit() else None
        mine, theirs = body.get(member), other.get(member)
        if not isinstance(mine, list) or not isinstance(theirs, list):
            return bool(mine == theirs)
        return bool(without_marks(mine[:end]) == without_marks(theirs[:end]))
    return False


def adopted(first: Json, own: Json, fork: Fork) -> Json:
    """Return a value in the spelling of the first one; what does not mean the same stays."""
    if fork.also and isinstance(first, list) and isinstance(own, list):
        places = {tool_name(t): i for i, t in enumerate(first)}
        order = sorted(range(len(own)), key=lambda i: places.get(tool_name(own[i]), len(places)))
        return own if order == list(range(len(own))) else place_marks(own, [own[i] for i in order])
    if type(first) is str and type(own) is str:
        return adopt.text(first, own)
    if fork.kind == "type":
        return adopt.shape(first, own)
    return adopt.value(first, own)


def news(old: str, new: str) -> str:
    """Return the units of a text that another version of it lacks."""
    known = set(move.units(old))
    return "".join(u for u in move.units(new) if u not in known).strip()


def parents(pointer: str) -> Iterator[str]:
    """Yield the pointers above a pointer, nearest first."""
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def permuted(keys: list[bytes], own: list[Json]) -> list[Json] | None:
    """Return a list in the order of ``keys`` where a stretch of it has the same elements in another order."""
    mine = [digest(without_marks(e)) for e in own]
    head = 0
    while head < min(len(keys), len(mine)) and keys[head] == mine[head]:
        head += 1
    for end in range(min(len(keys), len(mine)), head + 1, -1):
        if sorted(keys[head:end]) == sorted(mine[head:end]):
            places: dict[bytes, list[Json]] = {}
            for key, element in zip(mine[head:end], own[head:end], strict=True):
                places.setdefault(key, []).append(element)
            return [*own[:head], *(places[k].pop(0) for k in keys[head:end]), *own[end:]]
    return None


def without_empty(body: Json, pointer: str) -> Json:
    """Drop what has no text left, which APIs refuse: a block, its message, or the whole member.

    The cache marker of a block moves to the block before it.
    """
    if at(body, pointer) != "":
        return body
    tokens = split_pointer(pointer)
    if len(tokens) == 1:
        return {k: v for k, v in body.items() if k != tokens[0]}
    if tokens[-1] == "content" and len(tokens) == 3:
        return _without_item(body, pointer.rpartition("/")[0])
    place = pointer.rpartition("/")[0]
    parent = place.rpartition("/")[0]
    blocks, block = at(body, parent), at(body, place)
    if tokens[-1] != "text" or not isinstance(blocks, list):
        return body
    if len(blocks) == 1:
        if tokens[0] in INSTRUCTIONS:
            return {k: v for k, v in body.items() if k != tokens[0]}
        return _without_item(body, f"/{tokens[0]}/{tokens[1]}")
    index = blocks.index(block)
    body = _without_item(body, place)
    before = f"{parent}/{index - 1}"
    if "cache_control" in block and index and "cache_control" not in at(body, before):
        body = with_value(body, before, {**at(body, before), "cache_control": block["cache_control"]})
    return body


def _without_item(body: Json, place: str) -> Json:
    parent, _, index = place.rpartition("/")
    items = at(body, parent)
    return with_value(body, parent, [*items[: int(index)], *items[int(index) + 1 :]])
