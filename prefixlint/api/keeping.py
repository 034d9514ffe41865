"""Count and pack text with one pass of the tokenizer."""

from __future__ import annotations

from prefixlint.caches._base import WIDTH, Packer
from prefixlint.model import Tokenizer

KEPT_CHARS = 16_000_000  # text whose ids are kept between counting and packing


class Keeping:
    """A tokenizer that keeps the packed ids of what it was asked to count, so that text is tokenized once."""

    def __init__(self, tokenizer: Tokenizer, packer: Packer) -> None:
        self._tokenizer, self._packer = tokenizer, packer
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_CHARS

    @property
    def name(self) -> str:
        """Return the public name."""
        return self._tokenizer.name

    @property
    def exact(self) -> bool:
        """Return False for an estimate."""
        return self._tokenizer.exact

    def encode(self, text: str) -> list[int]:
        """Encode a text."""
        return self._tokenizer.encode(text)

    def count(self, text: str) -> int:
        """Count a text; the ids of an exact tokenizer are their own count."""
        return len(self.packed(text)) // WIDTH if self.exact else self._tokenizer.count(text)

    def fork(self, left: str, right: str, char_offset: int) -> int:
        """Return the first differing token."""
        return self._tokenizer.fork(left, right, char_offset)

    def packed(self, text: str) -> bytes:
        """Return the packed ids of a text."""
        if not text:
            return b""
        found = self._kept.get(text)
        if found is None:
            found = self._packer.pack(self._tokenizer.encode(text))
            self._room -= len(text)
            if self._room < 0:
                self._kept.clear()
                self._room = KEPT_CHARS - len(text)
            self._kept[text] = found
        return found
