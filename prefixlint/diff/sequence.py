"""Turn requests into sequences of element ids, reading only what the request before did not hold already."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

import msgspec

from prefixlint.diff import split
from prefixlint.diff.store import Store
from prefixlint.elements import Layout, PromptPart, decode, join
from prefixlint.model import Request, Span, Tokenizer, Usage
from prefixlint.prefix import lcp

Shape = Literal["list", "value"]
_BLANK = b" \t\r\n"
MOVED_BYTES = 4_096  # how much longer the changed element may be
PROBE_BYTES = 64
SYSTEM_ROLES = frozenset(("system", "developer"))
ASSISTANT_ROLES = frozenset(("assistant", "model"))


@dataclass(frozen=True, slots=True)
class PartIds:
    """Hold one part of a request: where it lies and the ids of its elements.

    ``marks`` are (element index, pointer in it, TTL) of the cache markers. ``starts`` are the code points at which the
    elements of a raw prompt begin, else empty.
    """

    part: PromptPart
    pointer: str
    shape: Shape
    ids: tuple[int, ...]
    marks: tuple[tuple[int, str, str], ...] = ()
    starts: tuple[int, ...] = ()

    def place(self, index: int) -> str:
        """Return the pointer of an element in the body."""
        return f"{self.pointer}/{index}" if self.shape == "list" else self.pointer


@dataclass(frozen=True, slots=True)
class Sequence:
    """Hold a request as ids: the parts before the conversation, and the conversation.

    ``lead`` counts the system messages at its start: they belong to the front like a system prompt of its own.
    """

    span: Span
    layout: Layout
    tokenizer: Tokenizer
    model: str
    scope: str
    session: str
    at_s: float | None
    usage: Usage | None
    front: tuple[PartIds, ...]
    talk: PartIds
    lead: int
    tokens: int
    completion: str = ""

    @property
    def head(self) -> tuple[tuple[int, ...], ...]:
        """Return the ids that stand before the conversation."""
        return (*(p.ids for p in self.front), self.talk.ids[: self.lead])

    @property
    def conversation(self) -> tuple[int, ...]:
        """Return the ids of the conversation without the leading system messages."""
        return self.talk.ids[self.lead :]


def last_turn(roles: list[str]) -> int:
    """Return where the fresh last turn of a conversation begins.

    It is what follows the last answer; an answer at the very end (a prefill, or a log that holds the reply) is part
    of the turn it answers.

    >>> last_turn(["system", "user", "assistant", "user"]), last_turn(["system", "user", "assistant"])
    (3, 1)
    """
    end = len(roles)
    while end and roles[end - 1] in ASSISTANT_ROLES:
        end -= 1
    start = end
    while start and roles[start - 1] not in ASSISTANT_ROLES:
        start -= 1
    while start < end and roles[start] in SYSTEM_ROLES and any(r not in SYSTEM_ROLES for r in roles[start:end]):
        if start and roles[start - 1] in ASSISTANT_ROLES:
            break
        start += 1
    return start


@dataclass(slots=True)
class Growing:
    """Remember the raw array (or string) of a conversation, to read only what is new in the next one."""

    raw: bytes
    ends: array[int]
    ids: tuple[int, ...]
    marks: tuple[tuple[int, str, str], ...]

    @property
    def open_bytes(self) -> int:
        """Return how many bytes of the raw array another one may continue."""
        return self.ends[-1] if self.ends else 0

    def is_continued_by(self, raw: bytes) -> bool:
        """Say whether another array begins with all elements of this one."""
        size = self.open_bytes
        return 0 < size < len(raw) and _closes(raw, size) and raw.startswith(memoryview(self.raw)[:size])

    def kept(self, count: int) -> Growing:
        """Return the first ``count`` elements."""
        marks = tuple(m for m in self.marks if m[0] < count)
        return Growing(self.raw, self.ends[:count], self.ids[:count], marks)

    def behind(self, raw: bytes, count: int, start: int) -> int:
        """Return where all elements behind number ``count`` begin in another array that has one element in its place.

        One message with a new stamp moves the rest of a long conversation by a few bytes; -1 if it is not there.
        """
        if count + 1 >= len(self.ends):
            return -1
        rest = memoryview(self.raw)[self.ends[count] : self.open_bytes]
        reach = start + (self.ends[count] - (self.ends[count - 1] if count else 0)) + MOVED_BYTES
        at = raw.find(bytes(rest[:PROBE_BYTES]), start, reach)
        return at if at > start and raw.startswith(rest, at) and _closes(raw, at + len(rest)) else -1


class SequenceReader:
    """Read the parts of requests into ids; parts that were seen before cost one hash."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._memo: dict[int, PartIds] = {}

    def front(self, layout: Layout, request: Request) -> tuple[PartIds, ...]:
        """Read all parts but the conversation."""
        found = []
        for part in layout.PARTS[:-1]:
            raw = request.members.get(part.member)
            if raw is not None:
                known = self._part(layout, part, raw)
                if known.ids:
                    found.append(known)
        return tuple(found)

    def _part(self, layout: Layout, part: PromptPart, raw: bytes) -> PartIds:
        key = hash((layout.NAME, part.member, raw))
        known = self._memo.get(key)
        if known is None:
            if len(self._memo) > 20_000:  # a stamp in every system prompt must not fill the memory
                self._memo.clear()
            known = self._memo[key] = self._read(layout, part, raw)
        return known

    def _read(self, layout: Layout, part: PromptPart, raw: bytes) -> PartIds:
        pointer = join("", part.member)
        if raw.strip() == b"null":
            return PartIds(part, pointer, "value", ())
        if part.path and raw.lstrip()[:1] == b"{":
            inner = split.member(raw, part.path)
            if inner is not None:
                raw, pointer = inner, "".join([pointer, *(join("", p) for p in part.path)])
        if part.items == "list" and raw.lstrip()[:1] == b"[":
            return self._list(layout, part, pointer, split.elements(raw))
        return PartIds(
            part,
            pointer,
            "value",
            (self._store.intern(layout, part, raw),),
            tuple((0, place, ttl) for place, ttl in self._store.marks(layout, part, raw)),
        )

    def _list(self, layout: Layout, part: PromptPart, pointer: str, items: list[bytes]) -> PartIds:
        ids = tuple(self._store.intern(layout, part, item) for item in items)
        marks = tuple((i, *mark) for i, item in enumerate(items) for mark in self._store.marks(layout, part, item))
        return PartIds(part, pointer, "list", ids, marks)

    def talk(self, layout: Layout, raw: bytes, base: Growing | None) -> tuple[PartIds, Growing | None]:
        """Read the conversation; ``base`` is the one it probably continues."""
        part = layout.PARTS[-1]
        pointer = join("", part.member)
        if part.items == "text":
            return self._text(layout, part, pointer, raw), None
        if raw[:1] != b"[":
            raw = raw.strip()
        if raw[:1] != b"[":
            return self._read(layout, part, raw), None
        known = self._known(layout, base, raw) if base else Growing(raw, array("Q"), (), ())
        ids, ends, marks = list(known.ids), known.ends, list(known.marks)
        for item, end in _items(raw, ends[-1] if ends else 1):
            ids.append(self._store.intern(layout, part, item))
            marks += [(len(ids) - 1, *mark) for mark in self._store.marks(layout, part, item)]
            ends.append(end)
        whole = PartIds(part, pointer, "list", tuple(ids), tuple(marks))
        return whole, Growing(raw, ends, whole.ids, whole.marks)

    def _known(self, layout: Layout, base: Growing, raw: bytes) -> Growing:
        """Take over what an array shares with another one: its beginning, and what follows one changed element."""
        keep = _shared_elements(base, raw)
        first = base.kept(keep)
        start = _skip(raw, first.ends[-1] if keep else 1)
        start = _skip(raw, start + 1) if raw[start : start + 1] == b"," else start
        end = base.behind(raw, keep, start) if keep < len(base.ends) else -1
        item = raw[start:end].rstrip() if end > 0 else b""
        if not item or not split.is_one(item):
            return first
        part, moved = layout.PARTS[-1], end - base.ends[keep]
        ids = (*first.ids, self._store.intern(layout, part, item), *base.ids[keep + 1 :])
        marks = [*first.marks, *((keep, *mark) for mark in self._store.marks(layout, part, item))]
        marks += [m for m in base.marks if m[0] > keep]
        ends = [*first.ends, start + len(item), *(e + moved for e in base.ends[keep + 1 :])]
        return Growing(raw, array("Q", ends), ids, tuple(marks))

    def _text(self, layout: Layout, part: PromptPart, pointer: str, raw: bytes) -> PartIds:
        text = decode(raw)
        return self.text(layout, part, pointer, text) if isinstance(text, str) else self._read(layout, part, raw)

    def text(self, layout: Layout, part: PromptPart, pointer: str, text: str) -> PartIds:
        """Read a raw prompt, cut where its turns begin."""
        starts = layout.split(text)  # type: ignore[attr-defined]
        ends = [*starts[1:], len(text)]
        items = [msgspec.json.encode(_sound(text[a:b])) for a, b in zip(starts, ends, strict=True)]
        ids = tuple(self._store.intern(layout, part, item) for item in items)
        return PartIds(part, pointer, "value", ids, (), tuple(starts))


def _sound(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _shared_elements(base: Growing, raw: bytes) -> int:
    """Count the whole elements with which two arrays begin alike."""
    if base.is_continued_by(raw):
        return len(base.ends)
    same = lcp(base.raw, raw)
    keep = bisect_right(base.ends, same)
    while keep and not _closes(raw, base.ends[keep - 1]):
        keep -= 1
    return keep


def _closes(raw: bytes, at: int) -> bool:
    """Say whether a value ends at ``at``: 1 does not end inside 12."""
    return raw[at : at + 1] in (b",", b"]", b" ", b"\n", b"\r", b"\t")


def _items(raw: bytes, start: int) -> list[tuple[bytes, int]]:
    """Split the elements of an array from ``start`` on, which is 1 or the end of an element."""
    at = _skip(raw, start)
    if raw[at : at + 1] == b",":
        at = _skip(raw, at + 1)
    if raw[at : at + 1] == b"]":
        return []
    found, rest = [], raw[at:]
    for data in split.elements(b"[" + rest):
        at = raw.index(data, at)
        at += len(data)
        found.append((data, at))
    return found


def _skip(raw: bytes, at: int) -> int:
    while raw[at : at + 1] and raw[at] in _BLANK:
        at += 1
    return at
