"""Breakpoint caches: only prefixes that end at a marked boundary are stored and found.

Three rule sets. ``anthropic``: explicit markers, each looks back over 20 positions. ``openai`` (5.6 and later): message
ends and explicit markers, exact boundaries. ``deepseek``: units that a host cuts by itself. Accesses without marks
(token traces) store the whole prompt as one unit, which is what an automatic marker on the last block does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prefixlint.caches._base import WIDTH, Access, Cache, Mark, Read
from prefixlint.caches.radix import Node, Radix

FAMILY = "breakpoint"
HOUR_S = 3600.0


def make(params: Mapping[str, Any]) -> Cache:
    """Build a cache: ``rules``, ``min_tokens``, ``lookback``, ``max_breakpoints``, ``ttl_s``."""
    return Breakpoints(params)


@dataclass(slots=True)
class Entry:
    """A stored prefix: when it was last written or read, and how long it lives from then."""

    tokens: int
    at_s: float
    ttl_s: float


class Breakpoints:
    """Stored prefixes by key; time comes from the accesses, and without times nothing expires."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.rules = str(params.get("rules") or "anthropic")
        self.minimum = int(params.get("min_tokens", 0))
        self.lookback = int(params.get("lookback", 20))
        self.slots = int(params.get("max_breakpoints", 4))
        self.ttl_s: float | None = params.get("ttl_s")
        self.early_ends = int(params.get("earlier_message_ends", 20))
        self.first_marks = int(params.get("explicit_first", 2))
        self.entries: dict[tuple[str, Any], Entry] = {}
        self.units = Units(params)

    @property
    def used_tokens(self) -> int:
        """Return the tokens of all stored prefixes; what they share is counted once per entry."""
        return sum(e.tokens for e in self.entries.values()) + self.units.used_tokens

    def peek(self, access: Access) -> int:
        """Return the tokens that a lookup would find."""
        if not access.marks:
            return self.units.peek(access)
        found = self._found(access)
        return found.tokens if found else 0

    def serve(self, access: Access) -> Read:
        """Read the longest boundary that is stored, refresh it, then write the boundaries behind it."""
        if not access.marks:
            return self.units.serve(access)
        found = self._found(access)
        read = found.tokens if found else 0
        if found:
            self._refresh(access, found)
        writes = [m for m in self._writes(access) if m.tokens > read and m.tokens >= self.minimum]
        for mark in writes:
            self._store(access, mark)
        # billed in layers: up to the highest 1 h boundary at the 1 h price, from there to the last at the 5 min one
        hour = max((m.tokens for m in writes if m.ttl_s >= HOUR_S), default=read)
        end = max((m.tokens for m in writes), default=read)
        return Read(read, read, written=end - hour if end > hour else 0, written_1h=hour - read)

    def extend(self, access: Access) -> None:
        """Make the end of an answer a unit, where the host does."""
        if not access.marks and self.units.detects:
            self.units.serve(access)

    def _alive(self, access: Access, mark: Mark) -> Entry | None:
        entry = self.entries.get((access.scope, mark.key))
        if entry is None or access.at_s is None or not entry.ttl_s or access.at_s - entry.at_s <= entry.ttl_s:
            return entry
        return None

    def _found(self, access: Access) -> Mark | None:
        best: Mark | None = None
        for mark in self._lookups(access):
            if (best is None or mark.tokens > best.tokens) and self._alive(access, mark):
                best = mark
        return best

    def _refresh(self, access: Access, found: Mark) -> None:
        entry = self.entries[access.scope, found.key]
        entry.at_s = access.at_s if access.at_s is not None else entry.at_s

    def _store(self, access: Access, mark: Mark) -> None:
        ttl = mark.ttl_s or self.ttl_s or 0.0
        self.entries[access.scope, mark.key] = Entry(mark.tokens, access.at_s or 0.0, ttl)

    def _writes(self, access: Access) -> Sequence[Mark]:
        explicit = [m for m in access.marks if m.kind == "explicit"]
        if self.rules != "openai":
            return explicit[-self.slots :]
        if access.mode == "explicit":
            return explicit[-self.slots :]
        ends = [m for m in access.marks if m.kind in ("end", "developer")]
        return [*explicit[-(self.slots - 1) :], *ends[-1:]]

    def _lookups(self, access: Access) -> Iterator[Mark]:
        marks = access.marks
        if self.rules != "openai":
            for place, mark in enumerate(marks):
                if mark.kind == "explicit":  # the position itself and the 19 before it
                    yield from marks[max(place - self.lookback + 1, 0) : place + 1]
            return
        explicit = [m for m in marks if m.kind == "explicit"]
        yield from explicit[: self.first_marks]
        yield from explicit[-self.lookback :]
        if access.mode != "explicit":
            ends = [m for m in marks if m.kind == "end"]
            yield from ends[-self.early_ends - 1 :]
            yield from (m for m in marks if m.kind == "developer")


class Units:
    """Whole stored prefixes over token ids: the end of each prompt, for DeepSeek also of each answer.

    DeepSeek's guide: a request hits only if it contains a stored unit completely; a prefix that two requests had in
    common becomes a unit once it was seen (so the third request reads it), and long inputs are cut at intervals of an
    unpublished length (``interval``, off by default).
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.detects = params.get("rules") == "deepseek"
        self.minimum = int(params.get("min_tokens", 0))
        self.interval = int(params.get("interval", 0))
        self.ttl_s: float | None = params.get("ttl_s")
        self.tree = Radix({"page_size": 1})
        self._units: dict[Node, float] = {}

    @property
    def used_tokens(self) -> int:
        """Return the distinct tokens held."""
        return self.tree.used_tokens

    def peek(self, access: Access) -> int:
        """Return the length of the longest unit that the prompt contains."""
        return self._longest(access)[0]

    def _path(self, access: Access, tokens: int) -> Iterator[tuple[Node, int]]:
        """Walk the nodes that lie wholly within the first ``tokens`` tokens; yield each with its depth in bytes."""
        packed, end = access.packed, tokens * WIDTH
        node, at = self.tree._root(access.scope), 0
        while at < end:
            child = node.children.get(packed[at : at + WIDTH])
            if child is None or at + len(child.key) > end or not packed.startswith(child.key, at):
                return
            at += len(child.key)
            node = child
            yield node, at

    def _longest(self, access: Access) -> tuple[int, Node | None]:
        best, found = 0, None
        for node, at in self._path(access, access.prompt_tokens):
            used_s = self._units.get(node)
            if used_s is None or at // WIDTH < self.minimum:
                continue
            if self.ttl_s is None or access.at_s is None or access.at_s - used_s <= self.ttl_s:
                best, found = at // WIDTH, node
        return best, found

    def serve(self, access: Access) -> Read:
        """Read the longest unit, then store the units that this request makes."""
        hit, node = self._longest(access)
        at_s = access.at_s or 0.0
        if node is not None:
            self._units[node] = at_s
        root, packed, prompt = self.tree._root(access.scope), access.packed, access.prompt_tokens * WIDTH
        common = self.tree.peek(access) * WIDTH
        ends = [prompt]
        if self.detects:
            ends += [access.stored_tokens * WIDTH, common]
            ends += range(self.interval * WIDTH, prompt, self.interval * WIDTH) if self.interval else []
        for end in ends:
            if end > 0:
                self.tree._insert(root, packed[:end], 0, 0)
                last, _ = self.tree._match(root, packed[:end])
                self._units[last] = at_s
        return Read(hit, hit, max(access.prompt_tokens - hit, 0))
