"""The tokenizer that every backend returns: loads late, counts unique text once, finds token forks in small windows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from prefixlint.prefix import Boundaries, Chain, NoBoundaries, first_difference, lcp

CHUNK_CHARS = 1_024  # cuts lie at the first anchor behind this many characters, about 1 to 2 kB apart
MEMO_CHARS = 8_000_000  # text kept in each of the two generations of the memo
ENTRY_CHARS = 100  # what an entry of the memo costs beside its text


def whole_characters(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates by U+FFFD, as tiktoken does when a text has some."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@dataclass(frozen=True, slots=True)
class Engine:
    """Hold a loaded vocabulary: its encode function, where texts may be cut, and its longest piece in bytes.

    ``spell`` gives the bytes of tokens. ``longest_piece`` is 0 where tokens and bytes have no fixed relation (a
    normalizer may lengthen the text).
    """

    encode: Callable[[str], list[int]]
    spell: Callable[[list[int]], list[bytes]]
    boundaries: Boundaries = field(default_factory=NoBoundaries)
    longest_piece: int = 0


class Memo:
    """Remember counts in two generations: when the young one is full it becomes the old one, and the old one goes."""

    def __init__(self, limit: int) -> None:
        self._limit, self._room = limit, limit
        self._young: dict[str | bytes, int] = {}
        self._old: dict[str | bytes, int] = {}

    def get(self, key: str | bytes) -> int | None:
        """Return the count, which makes the entry young again."""
        count = self._young.get(key)
        if count is None and (count := self._old.get(key)) is not None:
            self.put(key, count, len(key) + ENTRY_CHARS)
        return count

    def put(self, key: str | bytes, count: int, size: int) -> None:
        """Remember a count whose entry takes ``size`` of the limit."""
        self._room -= size
        if self._room < 0:
            self._old, self._young, self._room = self._young, {}, self._limit - size
        self._young[key] = count


class Counted:
    """Implement ``model.Tokenizer`` over an engine that is loaded at the first call that needs tokens.

    ``percent`` scales every count of an estimate; token indexes of forks are scaled alike, so that they stay
    comparable with counts.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[], Engine],
        *,
        exact: bool = True,
        percent: int = 100,
        longest_piece: int = 0,
        chunk_chars: int = CHUNK_CHARS,
    ) -> None:
        self._name, self._load, self._exact, self._percent = name, load, exact, percent
        self._longest_piece, self._chunk_chars = longest_piece, chunk_chars
        self._chunks, self._wholes = Memo(MEMO_CHARS), Memo(MEMO_CHARS)

    @property
    def name(self) -> str:
        """Return the public name, such as ``o200k_base``."""
        return self._name

    @property
    def exact(self) -> bool:
        """Return False where the vendor's tokenizer is not public and counts are estimates."""
        return self._exact

    @cached_property
    def engine(self) -> Engine:
        """Load the vocabulary."""
        return self._load()

    def encode(self, text: str) -> list[int]:
        """Encode ordinary text (no special tokens); an estimate gives the ids of its base vocabulary."""
        return self.engine.encode(text)

    def pieces(self, ids: list[int], text: str = "") -> list[str]:
        """Return the text of each token, to be shown; bytes that are no whole character are written as ``\\xe6``."""
        return [spelt.decode("utf-8", "backslashreplace") for spelt in self.engine.spell(ids)]

    def count(self, text: str) -> int:
        """Count the tokens of ordinary text, tokenizing unique text once."""
        return self._scaled(self._count(text))

    def _scaled(self, count: int) -> int:
        """Apply the factor of an estimate, rounded to the nearest; text that is not empty has at least one token."""
        return count if self._percent == 100 else max(min(count, 1), (count * self._percent + 50) // 100)

    def _count(self, text: str) -> int:
        if len(text) <= 2 * self._chunk_chars:
            return self._count_chunk(text)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
        known = self._wholes.get(key)
        if known is None:
            known = sum(map(self._count_chunk, self._cut(text)))
            self._wholes.put(key, known, len(key) + ENTRY_CHARS)
        return known

    def _count_chunk(self, chunk: str) -> int:
        known = self._chunks.get(chunk)
        if known is None:
            known = len(self.engine.encode(chunk))
            self._chunks.put(chunk, known, len(chunk) + ENTRY_CHARS)
        return known

    def _cut(self, text: str) -> Iterator[str]:
        """Yield parts whose token lists, one behind the other, are those of the whole text."""
        start, boundaries = 0, self.engine.boundaries
        while len(text) - start > 2 * self._chunk_chars:
            stop = boundaries.anchor(text, start + self._chunk_chars)
            yield text[start + (boundaries.skip if start else 0) : stop]
            start = stop
        if start < len(text):
            yield text[start + (boundaries.skip if start else 0) :]

    def fork(self, left: str, right: str, char_offset: int) -> int:
        """Return the index of the first differing token of two texts whose first ``char_offset`` code points agree."""
        boundaries = self.engine.boundaries
        shared = lcp(left, right, min(char_offset, len(left), len(right)))
        start = boundaries.last(left, shared)
        equal = first_difference(self.engine.encode, boundaries, left, right, start, shared)
        return (self._count(left[:start]) + equal) * self._percent // 100

    def bounds(self, text: str) -> tuple[int, int]:
        """Return a lower and an upper bound of ``count`` from the length alone, without loading the vocabulary."""
        size = len(text.encode("utf-8", "surrogatepass"))
        longest = self._longest_piece or self.engine.longest_piece
        if not longest:
            exact = self.count(text)
            return exact, exact
        return self._scaled(-(-size // longest)), self._scaled(size)

    def reaches(self, text: str, tokens: int) -> bool:
        """Decide ``count(text) >= tokens``, from the bounds where they suffice."""
        low, high = self.bounds(text)
        return low >= tokens or (high >= tokens and self.count(text) >= tokens)

    def chain(self) -> Chain:
        """Start a chain for texts that grow from request to request; its counts are not scaled."""
        encode, boundaries = self.engine.encode, self.engine.boundaries
        return Chain(encode, boundaries, count=self._count_chunk, checkpoint_chars=self._chunk_chars)
