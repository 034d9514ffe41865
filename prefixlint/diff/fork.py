"""Find the first difference of two elements: in their structure, and in their text, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass

from prefixlint.diff.sequence import PartIds, Sequence
from prefixlint.elements import Number, Piece, PromptPart, join
from prefixlint.model import ForkKind, Json, Tokenizer
from prefixlint.prefix import lcp


@dataclass(frozen=True, slots=True)
class Difference:
    """Locate the first difference of two values; ``left`` and ``right`` are the values at the pointer."""

    pointer: str
    kind: ForkKind
    char_offset: int | None
    left: Json
    right: Json


def difference(left: Json, right: Json, pointer: str = "") -> Difference | None:
    """Return the first position at which two canonical values differ, in order; numbers by their spelling.

    >>> difference({"a": Number("0.0")}, {"a": Number("0")}).pointer
    '/a'
    """
    if isinstance(left, str) and isinstance(right, str) and isinstance(left, Number) == isinstance(right, Number):
        if left == right:
            return None
        kind: ForkKind = "number" if isinstance(left, Number) else "string"
        return Difference(pointer, kind, lcp(str(left), str(right)), left, right)
    if type(left) is not type(right):
        return Difference(pointer, "type", None, left, right)
    if isinstance(left, dict):
        return _members(left, right, pointer)
    if isinstance(left, list):
        return _items(left, right, pointer)
    return None if left == right else Difference(pointer, "type", None, left, right)


def _members(left: dict[str, Json], right: dict[str, Json], pointer: str) -> Difference | None:
    for ours, theirs in zip(left, right, strict=False):
        if ours != theirs:
            kind: ForkKind = "key-order" if left.keys() == right.keys() else "key-set"
            return Difference(pointer, kind, None, left, right)
        found = difference(left[ours], right[ours], join(pointer, ours))
        if found:
            return found
    return None if len(left) == len(right) else Difference(pointer, "key-set", None, left, right)


def _items(left: list[Json], right: list[Json], pointer: str) -> Difference | None:
    for index, (ours, theirs) in enumerate(zip(left, right, strict=False)):
        found = difference(ours, theirs, f"{pointer}/{index}")
        if found:
            return found
    if len(left) == len(right):
        return None
    return Difference(f"{pointer}/{min(len(left), len(right))}", "missing", None, left, right)


@dataclass(frozen=True, slots=True)
class Place:
    """Say at which element two sequences part.

    ``before`` and ``after`` are the parts of each, None where a request lacks it; ``index`` counts elements of the
    part. ``kind`` is ``element`` where both have one there and they differ, else how the parts differ.
    """

    part: PromptPart | None
    before: PartIds | None
    after: PartIds | None
    index: int
    kind: str

    @property
    def pair(self) -> tuple[int, int]:
        """Return the ids of the two elements that differ."""
        assert self.before is not None and self.after is not None
        return self.before.ids[self.index], self.after.ids[self.index]

    @property
    def pointer(self) -> str:
        """Return the pointer of the element (or the member) at which the sequences part."""
        if self.part is None:
            return "/model"
        known = self.after or self.before
        assert known is not None
        return known.place(self.index) if self.kind in ("element", "missing") else known.pointer


def part_at(before: Sequence, after: Sequence) -> Place | None:
    """Return where two sequences part, in send order; None where one continues or equals the other."""
    if before.model != after.model:
        return Place(None, None, None, 0, "model")
    ours, theirs = {p.part.member: p for p in before.front}, {p.part.member: p for p in after.front}
    for part in after.layout.PARTS[:-1]:
        left, right = ours.get(part.member), theirs.get(part.member)
        found = None if left is right else compare_parts(part, left, right)
        if found:
            return found
    found = compare_parts(after.layout.PARTS[-1], before.talk, after.talk)
    return None if found and found.kind == "missing" else found


def compare_parts(part: PromptPart, left: PartIds | None, right: PartIds | None) -> Place | None:
    """Compare one part of two requests."""
    if left is None or right is None:
        return None if left is right else Place(part, left, right, 0, "key-set")
    if left.ids == right.ids and left.shape == right.shape:
        return None
    if left.shape != right.shape:
        return Place(part, left, right, 0, "type")
    index = common(left.ids, right.ids)
    if index == min(len(left.ids), len(right.ids)):
        return Place(part, left, right, index, "missing")
    return Place(part, left, right, index, "element")


def common(left: Items[int], right: Items[int]) -> int:
    """Count the ids with which two sequences begin alike."""
    end = min(len(left), len(right))
    if left[:end] == right[:end]:
        return end
    low, high = 0, end
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def token_fork(left: Items[Piece], right: Items[Piece], found: Difference, tokenizer: Tokenizer) -> int:
    """Return how many tokens of an element are shared before the first one that differs."""
    shared = 0
    for ours, theirs in zip(left, right, strict=False):
        opaque = theirs.kind == "image" or found.kind == "type"
        if opaque and theirs.pointer.startswith(found.pointer) and (ours.text != theirs.text or found.kind == "type"):
            return shared
        if ours.text != theirs.text:
            return shared + tokenizer.fork(ours.text, theirs.text, lcp(ours.text, theirs.text))
        shared += tokenizer.count(theirs.text)
    return shared
