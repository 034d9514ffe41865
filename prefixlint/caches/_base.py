"""What every cache family takes and gives: accesses in, reads out; token ids packed, blocks as interned chains."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

KEPT_SESSIONS = 64  # sessions whose last prompt is kept, so that only its continuation is hashed
WIDTH = 4  # bytes per packed token id
_CODE = "I" if array("I").itemsize == WIDTH else "L"


@dataclass(slots=True)
class Mark:
    """Hold one boundary at which a breakpoint cache may store or look up a prefix.

    ``tokens`` counts from the start of the prompt; ``key`` identifies everything up to here, settings included.
    ``ttl_s`` is 0 where nobody asked for a write. ``kind`` is ``explicit``, ``end`` (end of a message that is
    eligible) or ``block`` (a position that only counts for the lookback).
    """

    tokens: int
    key: Any
    kind: str = "block"
    ttl_s: float = 0.0


@dataclass(slots=True)
class Access:
    """Hold one request as caches see it.

    ``packed`` has ``WIDTH`` bytes for each token of prompt and output; ``blocks`` replaces it for ready-made block
    traces (chain ids of ``block_tokens`` tokens each, a partial last one included). ``scope`` separates caches:
    salt, adapter, model. ``marks`` are the boundaries of the prompt, in order.
    """

    record: int
    prompt_tokens: int
    output_tokens: int = 0
    packed: bytes = b""
    scope: str = ""
    at_s: float | None = None
    session: str = ""
    blocks: Sequence[int] | None = None
    block_tokens: int = 0
    marks: Sequence[Mark] = ()
    mode: str = ""
    priority: int = 0
    weights: Sequence[float] | None = None
    slot: int | None = None

    @property
    def stored_tokens(self) -> int:
        """Count the tokens whose KV exists at the end: the last sampled token is never computed."""
        return self.prompt_tokens + max(self.output_tokens - 1, 0)


@dataclass(slots=True)
class Read:
    """Hold what a cache gives for one access, in tokens; ``low == high`` where the engine is known exactly."""

    low: int
    high: int
    written: int = 0
    written_1h: int = 0
    fits: bool = True
    evicted: Sequence[int] = ()
    tiers: Mapping[str, int] = field(default_factory=dict)


class Cache(Protocol):
    """Serve requests one after another; a family's ``make(params)`` returns one."""

    def serve(self, access: Access) -> Read:
        """Look the request up, make room and store it, in the order in which the engine does."""

    def peek(self, access: Access) -> int:
        """Return the hit tokens that a lookup would give now, changing nothing."""

    def extend(self, access: Access) -> None:
        """Store the answer of a request that was served: its prompt is there, its output is new."""

    @property
    def used_tokens(self) -> int:
        """Return how many tokens are held, for the memory curve."""


class Packer:
    """Pack token ids; ids that need more than 32 bits get one of their own, counted down from the top."""

    def __init__(self) -> None:
        self._odd: dict[int, int] = {}

    def pack(self, tokens: Sequence[int]) -> bytes:
        """Return ``WIDTH`` bytes per token id."""
        try:
            return array(_CODE, tokens).tobytes()
        except (OverflowError, TypeError):
            return array(_CODE, [self._small(t) for t in tokens]).tobytes()

    def _small(self, token: int) -> int:
        if isinstance(token, int) and 0 <= token < 1 << 31:
            return token
        return self._odd.setdefault(token, (1 << 32) - 1 - len(self._odd))


def unpack(packed: bytes) -> array[int]:
    """Turn packed bytes back into token ids."""
    out = array(_CODE)
    out.frombytes(packed)
    return out


def lcp_tokens(left: bytes, right: bytes, start: int = 0) -> int:
    """Return how many leading tokens two packed sequences share; the first ``start`` bytes are known to be equal.

    Galloping from the front, then halving: a few memory comparisons instead of a loop over tokens.
    """
    end = min(len(left), len(right))
    low, step = start, 256
    while low < end:
        high = min(low + step, end)
        if left[low:high] != right[low:high]:
            return _first_difference(left, right, low, high) // WIDTH
        low, step = high, step * 2
    return end // WIDTH


def _first_difference(left: bytes, right: bytes, low: int, high: int) -> int:
    while high - low > 64:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    a = int.from_bytes(left[low:high], "little")
    b = int.from_bytes(right[low:high], "little")
    lowest = (a ^ b) & -(a ^ b)
    return low + (lowest.bit_length() - 1) // 8


class Chainer:
    """Turn packed tokens into chain ids: equal id means equal tokens from the start of the prompt on.

    Blocks that a request shares with the previous one of its session are taken over, not hashed again.
    """

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._ids: dict[tuple[int, bytes], int] = {}
        self._last: dict[tuple[str, str], tuple[bytes, list[int]]] = {}
        self._roots: dict[str, int] = {}
        self._parents: dict[int, dict[int, int]] = {}
        self._are_chained = True
        self._next = 0
        self._access: Access | None = None
        self._tokens = -1
        self._found: Sequence[int] = []

    @property
    def known(self) -> int:
        """Return the number of chain ids given so far: an id at or above an earlier value is new since then."""
        return self._next

    def ids(self, access: Access, tokens: int) -> Sequence[int]:
        """Return the chain ids of the whole blocks among the first ``tokens`` tokens; callers must not change it."""
        if access is self._access and tokens == self._tokens:  # several caches look at one request in turn
            return self._found
        self._access, self._tokens = access, tokens
        self._found = self._chained(access, tokens)
        return self._found

    def _chained(self, access: Access, tokens: int) -> Sequence[int]:
        if access.blocks is not None:
            return self._ready(access, tokens)
        size, packed = self.block_tokens * WIDTH, access.packed
        place = (access.scope, access.session)
        before, ids = self._last.pop(place, (b"", []))
        shared = lcp_tokens(before, packed) // self.block_tokens if before else 0
        end = tokens // self.block_tokens
        found = ids[: min(shared, end)]
        parent = found[-1] if found else self._root(access.scope)
        known, append = self._ids, found.append
        for at in range(len(found) * size, end * size, size):
            key = (parent, packed[at : at + size])
            one = known.get(key)
            if one is None:
                known[key] = one = self._next
                self._next += 1
            append(one)
            parent = one
        self._last[place] = (packed, found)
        if len(self._last) > KEPT_SESSIONS:
            del self._last[next(iter(self._last))]
        return found

    def _ready(self, access: Access, tokens: int) -> Sequence[int]:
        """Take ready-made ids, moved apart by scope: what one trace calls 7 is not what another calls 7.

        Ids of block traces stand for a block and all before it. Where they stand for the block alone (an id that
        follows two different ones), they are chained here.
        """
        blocks = access.blocks
        assert blocks is not None
        end = -(-tokens // access.block_tokens)
        if end < len(blocks):
            blocks = blocks[:end]
        root = self._root(access.scope)
        if self._are_chained and not self._fits(root, blocks):
            self._are_chained = False
        if not self._are_chained:
            return self._chain(root, blocks)
        apart = (-1 - root) << 48
        return [one + apart for one in blocks] if apart else blocks

    def _fits(self, root: int, blocks: Sequence[int]) -> bool:
        """Check that each id follows the id that it followed before."""
        parents = self._parents.setdefault(root, {})
        before = -1
        for one in blocks:
            if parents.setdefault(one, before) != before:
                return False
            before = one
        return True

    def _chain(self, parent: int, blocks: Sequence[int]) -> list[int]:
        found = []
        for one in blocks:
            key = (parent, one.to_bytes(8, "little", signed=True))
            known = self._ids.get(key)
            if known is None:
                self._ids[key] = known = (1 << 60) + self._next
                self._next += 1
            found.append(known)
            parent = known
        return found

    def _root(self, scope: str) -> int:
        return self._roots.setdefault(scope, -1 - len(self._roots))


def total_tokens(accesses: Iterable[Access]) -> int:
    """Sum the prompt tokens."""
    return sum(a.prompt_tokens for a in accesses)
