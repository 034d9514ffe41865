"""The vocabularies inside the package: o200k_base, cl100k_base and o200k_harmony, exact and offline."""

from __future__ import annotations

import zlib
from pathlib import Path

from prefixlint.tokens import _patterns
from prefixlint.tokens._counted import Counted, Engine

RANKS = Path(__file__).parent.parent / "data" / "ranks"
# name: (rank file, pattern). o200k_harmony differs from o200k_base in special tokens only, which ordinary text has not.
PACKED = {
    "cl100k_base": ("cl100k_base", _patterns.CL100K),
    "o200k_base": ("o200k_base", _patterns.O200K),
    "o200k_harmony": ("o200k_base", _patterns.O200K),
}
NAMES = tuple(PACKED)
LONGEST_PIECE = 128  # bytes, in both files


def unpack(packed: bytes) -> dict[bytes, int]:
    """Read ranks packed by scripts/pack_ranks.py: token bytes to rank."""
    plain = zlib.decompress(packed)
    count = int.from_bytes(plain[:4], "little")
    ranks, start = {}, 4 + count
    for rank, length in enumerate(plain[4:start]):
        ranks[plain[start : start + length]] = rank
        start += length
    return ranks


def load(name: str) -> Counted:
    """Return the tokenizer of a packed vocabulary; it is unpacked at the first call that needs tokens."""
    return Counted(name, lambda: _engine(name), longest_piece=LONGEST_PIECE)


def _engine(name: str) -> Engine:
    """Return an engine that starts at once and builds tiktoken's encoder when a run is not small."""
    from prefixlint.tokens import _tiktoken
    from prefixlint.tokens._small import SmallFirst

    file, pattern = PACKED[name]
    ranks = RANKS / f"{file}.bin"
    small = SmallFirst(ranks, pattern, lambda: _tiktoken.engine(name, pattern, unpack(ranks.read_bytes())).encode)

    def spell(ids: list[int]) -> list[bytes]:
        return [small.index.spell(i) for i in ids]

    return Engine(small.encode, spell, _tiktoken.boundaries_for(pattern), LONGEST_PIECE)
