"""Keep every element once, by content: its tokens in memory, its bytes in a spool that rolls over to a file."""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any

from prefixlint.elements import Element, Layout, PromptPart, decode, duplicate_keys, key_of, keys_in
from prefixlint.model import Tokenizer

SPOOL_BYTES = 32_000_000
CACHE_CHARS = 8_000_000
SMALL_CHARS = 64
UNKNOWN = 0xFFFFFFFF


class Store:
    """Intern elements: equal content has one id, is decoded once, and is tokenized once by each tokenizer.

    Two spellings on the wire (escapes, blanks, cache markers) of one content are one element. Contents are told apart
    by 64-bit hashes: among a million elements two collide with a chance of 3 in 10^8.
    """

    def __init__(self) -> None:
        self._by_raw: dict[int, int] = {}
        self._by_content: dict[int, int] = {}
        self._marks: dict[int, tuple[tuple[str, str], ...]] = {}
        self._offsets, self._lengths = array("Q"), array("I")
        self._makers: list[tuple[Layout, PromptPart]] = []
        self._maker_of = array("H")
        self._roles: list[str] = []
        self._role_of = array("H")
        self.chars = array("I")
        self._tokens: dict[str, array[int]] = {}
        self.duplicates: dict[int, tuple[str, ...]] = {}
        self._spool: IO[bytes] = tempfile.SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - lives as long as the store
        weakref.finalize(self, self._spool.close)
        self._end = 0
        self._decoded: OrderedDict[int, Element] = OrderedDict()
        self._decoded_chars = 0

    def __len__(self) -> int:
        """Return the number of different elements."""
        return len(self._offsets)

    def intern(self, layout: Layout, part: PromptPart, raw: bytes) -> int:
        """Return the id of an element, given its JSON."""
        key = hash((layout.NAME, part.member, raw))
        found = self._by_raw.get(key)
        if found is None:
            found = self._by_raw[key] = self._new(layout, part, raw)
        return found

    def marks(self, layout: Layout, part: PromptPart, raw: bytes) -> tuple[tuple[str, str], ...]:
        """Return the cache markers that one spelling of an element carries."""
        return self._marks.get(hash((layout.NAME, part.member, raw)), ())

    def _new(self, layout: Layout, part: PromptPart, raw: bytes) -> int:
        element = layout.element(part, decode(raw))
        if element.marks:
            self._marks[hash((layout.NAME, part.member, raw))] = element.marks
        content = hash((part.part, element.role, key_of(element.value)))
        found = self._by_content.get(content)
        if found is None:
            found = self._by_content[content] = len(self._offsets)
            self._append(layout, part, raw, element)
            if _may_repeat(raw, element):
                keys = duplicate_keys(raw)
                if keys:
                    self.duplicates[found] = keys
        return found

    def _append(self, layout: Layout, part: PromptPart, raw: bytes, element: Element) -> None:
        self._offsets.append(self._end)
        self._lengths.append(len(raw))
        self._spool.seek(self._end)
        self._spool.write(raw)
        self._end += len(raw)
        self._maker_of.append(_index(self._makers, (layout, part)))
        self._role_of.append(_index(self._roles, element.role))
        self.chars.append(sum(len(p.text) for p in element.pieces))
        self._remember(len(self._offsets) - 1, element)

    def close(self) -> None:
        """Drop the spool."""
        self._spool.close()

    def role(self, index: int) -> str:
        """Return who speaks in an element."""
        return self._roles[self._role_of[index]]

    def raw(self, index: int) -> bytes:
        """Read the bytes of an element back."""
        self._spool.seek(self._offsets[index])
        return self._spool.read(self._lengths[index])

    def element(self, index: int) -> Element:
        """Decode an element again; the last ones are kept."""
        found = self._decoded.get(index)
        if found is not None:
            self._decoded.move_to_end(index)
            return found
        layout, part = self._makers[self._maker_of[index]]
        found = layout.element(part, decode(self.raw(index)))
        self._remember(index, found)
        return found

    def _remember(self, index: int, element: Element) -> None:
        self._decoded[index] = element
        self._decoded_chars += self.chars[index] + SMALL_CHARS
        while self._decoded_chars > CACHE_CHARS and len(self._decoded) > 2:
            oldest, _ = self._decoded.popitem(last=False)
            self._decoded_chars -= self.chars[oldest] + SMALL_CHARS

    def tokens(self, index: int, tokenizer: Tokenizer) -> int:
        """Count the tokens of an element, each of its pieces by itself."""
        counts = self._tokens.get(tokenizer.name)
        if counts is None:
            counts = self._tokens[tokenizer.name] = array("I")
        if index >= len(counts):
            counts.extend([UNKNOWN] * (index + 1 - len(counts)))
        if counts[index] == UNKNOWN:
            counts[index] = count_pieces(self.element(index), tokenizer.count)
        return counts[index]


def count_pieces(element: Element, count: Callable[[str], int]) -> int:
    """Count the tokens of an element; pieces are hard boundaries."""
    return sum(count(piece.text) for piece in element.pieces)


def _may_repeat(raw: bytes, element: Element) -> bool:
    """Say whether a JSON text has more keys than its value kept; strings that look like keys count too."""
    return raw.count(b'":') + raw.count(b'" :') - raw.count(b'\\":') > keys_in(element.value)


def _index(known: list[Any], item: Any) -> int:
    try:
        return known.index(item)
    except ValueError:
        known.append(item)
        return len(known) - 1
