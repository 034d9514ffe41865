"""Encode small texts without building a vocabulary: ranks are looked up in an index file, merged in plain Python.

Building tiktoken's encoder takes 350 ms, for a command on two small files most of its time. The index is an open
hash table over the packed ranks; what this engine is not sure about, or what is long, goes to tiktoken itself.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

EMPTY = 0xFFFFFFFF
_CLASSES = {r"\p{L}": "a-zA-Z", r"\p{N}": "0-9", r"\p{Lu}": "A-Z", r"\p{Ll}": "a-z", r"\p{Lt}": "", r"\p{Lm}": "",
            r"\p{Lo}": "", r"\p{M}": ""}  # fmt: skip
SMALL_CHARS = 40_000  # about 100 ms in plain Python; beyond, building the encoder pays
LONG_PIECE = 256  # bytes; merging is quadratic
# Characters whose classes have not changed for many Unicode versions, so that the regex module and tiktoken's agree:
# ASCII without the separators U+001C-001F, Latin without the long s, Greek, Cyrillic, dashes and quotes, CJK.
_SURE = re.compile(r"[\t\n\r -~¡-žͰ-ͷΆ-ΡΣ-ϿЀ-ҁ‐-‧぀-ゖ゠-ヺー一-龥、-〃]*")


def _in_ascii(pattern: str) -> str:
    r"""Write a pre-tokenizer pattern for ASCII texts in the classes of ``re``: importing the regex module takes 40 ms.

    >>> _in_ascii(r"[^\r\n\p{L}\p{N}]?\p{L}+")
    '[^\\r\\na-zA-Z0-9]?[a-zA-Z]+'
    """
    for name, members in _CLASSES.items():
        inside = rf"(\[[^\]]*){re.escape(name)}"
        while re.search(inside, pattern):
            pattern = re.sub(inside, lambda m, members=members: m[1] + members, pattern)  # type: ignore[misc]
        pattern = pattern.replace(name, f"[{members}]")
    return pattern


class Index:
    """Look ranks up in a packed rank file and its table of slots."""

    def __init__(self, packed: bytes, table: bytes) -> None:
        plain = zlib.decompress(packed)
        count = int.from_bytes(plain[:4], "little")
        self._text = plain[4 + count :]
        self._ends = array("I", accumulate(plain[4 : 4 + count]))
        self._slots = memoryview(table).cast("I")
        self._mask = len(self._slots) - 1

    def spell(self, rank: int) -> bytes:
        """Return the bytes of a token."""
        return self._text[self._ends[rank - 1] if rank else 0 : self._ends[rank]]

    def rank(self, token: bytes) -> int | None:
        """Return the rank of a token, None where the vocabulary has none."""
        slot = zlib.crc32(token) & self._mask
        while (rank := self._slots[slot]) != EMPTY:
            if self.spell(rank) == token:
                return rank
            slot = (slot + 1) & self._mask
        return None


def table(tokens: Sequence[bytes]) -> bytes:
    """Build the table of slots: the rank of each token at its CRC-32 or the next free slot, half of them empty."""
    size = 1 << (len(tokens) - 1).bit_length()
    slots = array("I", [EMPTY]) * (size if size >= 1.25 * len(tokens) else 2 * size)
    for rank, token in enumerate(tokens):
        slot = zlib.crc32(token) & (len(slots) - 1)
        while slots[slot] != EMPTY:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = rank
    return slots.tobytes()


class SmallFirst:
    """Encode with the index while a run is small, with tiktoken's encoder from then on."""

    def __init__(self, ranks: Path, pattern: str, build: Callable[[], Callable[[str], list[int]]]) -> None:
        self._ranks, self._pattern, self._build = ranks, pattern, build
        self._room = SMALL_CHARS
        self._known: dict[str, list[int]] = {}

    @cached_property
    def full(self) -> Callable[[str], list[int]]:
        """Build tiktoken's encoder."""
        return self._build()

    @cached_property
    def index(self) -> Index:
        """Open the index."""
        return Index(self._ranks.read_bytes(), self._ranks.with_suffix(".idx").read_bytes())

    @cached_property
    def _split_ascii(self) -> Callable[[str], list[str]]:
        return re.compile(_in_ascii(self._pattern), re.ASCII).findall

    @cached_property
    def _split(self) -> Callable[[str], list[str]]:
        import regex  # type: ignore[import-untyped,unused-ignore]

        split: Callable[[str], list[str]] = regex.compile(self._pattern).findall
        return split

    def encode(self, text: str) -> list[int]:
        """Encode ordinary text, exactly as tiktoken does."""
        self._room -= len(text)
        if self._room < 0 or not _SURE.fullmatch(text):
            self._room = min(self._room, 0)
            return self.full(text)
        out: list[int] = []
        for piece in self._split_ascii(text) if text.isascii() else self._split(text):
            ids = self._known.get(piece)
            if ids is None:
                ids = self._piece(piece)
                if ids is None:
                    return self.full(text)
                self._known[piece] = ids
            out += ids
        return out

    def _piece(self, piece: str) -> list[int] | None:
        data = piece.encode()
        rank = self.index.rank(data)
        if rank is not None:
            return [rank]
        return self._merged(data) if len(data) <= LONG_PIECE else None

    def _merged(self, data: bytes) -> list[int]:
        """Merge the pair of lowest rank until none is left (byte pair encoding; the leftmost of equals first)."""
        parts = [data[i : i + 1] for i in range(len(data))]
        ranks = [self._joined(parts, i) for i in range(len(parts) - 1)]
        while ranks and (best := min(ranks)) < EMPTY:
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            for i in (at - 1, at):
                if 0 <= i < len(parts) - 1:
                    ranks[i] = self._joined(parts, i)
        found = [self.index.rank(part) for part in parts]
        return [rank for rank in found if rank is not None]

    def _joined(self, parts: list[bytes], at: int) -> int:
        rank = self.index.rank(parts[at] + parts[at + 1])
        return EMPTY if rank is None else rank
