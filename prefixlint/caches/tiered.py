"""Tiered caches: GPU, CPU and disk hold chunks; what a tier evicts moves down, what is hit moves up.

The tiers are LMCache's and IMPRESS's. Two policies. ``lru`` keeps the recent chunks up. ``importance_score`` is that of
IMPRESS (FAST'25, section 5): access frequency x share of important KV in the chunk, smallest out first; a chunk that
scores less than everything in a tier does not enter it.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from prefixlint.caches._base import Access, Cache, Chainer, Read
from prefixlint.errors import ConfigError

FAMILY = "tiered"
POLICIES = ("lru", "importance_score")


def make(params: Mapping[str, Any]) -> Cache:
    """Build the tiers: ``tiers`` maps names to chunks (None unbounded, 0 absent), fastest first."""
    return Tiered(params)


class Tier(Protocol):
    """One tier of chunks under a policy."""

    def __len__(self) -> int: ...
    def __contains__(self, one: object) -> bool: ...
    def take(self, one: int) -> None:
        """Remove a chunk that moves to another tier."""

    def put(self, one: int, score: float) -> list[int]:
        """Insert a chunk; return what has to leave, which may be the chunk itself."""


class Recent:
    """Least recently used chunk first."""

    def __init__(self, capacity: int | None) -> None:
        self.capacity = capacity
        self._held: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, one: object) -> bool:
        return one in self._held

    def take(self, one: int) -> None:
        """Remove a chunk."""
        del self._held[one]

    def put(self, one: int, score: float) -> list[int]:
        """Insert as the newest; evict from the old end."""
        self._held[one] = None
        self._held.move_to_end(one)
        over = 0 if self.capacity is None else len(self._held) - self.capacity
        return [self._held.popitem(last=False)[0] for _ in range(over)]


class Scored:
    """Smallest score first, older first among equals: a min-heap with stale entries skipped."""

    def __init__(self, capacity: int | None) -> None:
        self.capacity = capacity
        self._score: dict[int, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, int]] = []
        self._clock = 0

    def __len__(self) -> int:
        return len(self._score)

    def __contains__(self, one: object) -> bool:
        return one in self._score

    def take(self, one: int) -> None:
        """Remove a chunk."""
        del self._score[one]

    def put(self, one: int, score: float) -> list[int]:
        """Insert with a score; evict the smallest, which may be the newcomer."""
        self._clock += 1
        self._score[one] = (score, self._clock)
        heapq.heappush(self._heap, (score, self._clock, one))
        over = 0 if self.capacity is None else len(self._score) - self.capacity
        return [self._smallest() for _ in range(over)]

    def _smallest(self) -> int:
        while True:
            score, clock, one = heapq.heappop(self._heap)
            if self._score.get(one) == (score, clock):
                del self._score[one]
                return one


class Tiered:
    """A hierarchy of tiers over one set of chunks; each chunk lies in one tier."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.block_tokens = int(params.get("block_size", 256))
        policy = str(params.get("policy", "lru"))
        if policy not in POLICIES:
            raise ConfigError(f"unknown policy {policy!r} for tiers; known: {', '.join(POLICIES)}")
        tier = Recent if policy == "lru" else Scored
        sizes: Mapping[str, int | None] = params.get("tiers") or {"gpu": params.get("capacity")}
        self.tiers: dict[str, Tier] = {name: tier(size) for name, size in sizes.items() if size != 0}
        self.share = float(params.get("important_share", 1.0))
        self.chainer: Chainer = params.get("chainer") or Chainer(self.block_tokens)
        self._uses: dict[int, int] = {}

    @property
    def used_tokens(self) -> int:
        """Return the tokens in all tiers."""
        return sum(len(t) for t in self.tiers.values()) * self.block_tokens

    def used_by_tier(self) -> dict[str, int]:
        """Return the tokens in each tier, fastest first."""
        return {name: len(t) * self.block_tokens for name, t in self.tiers.items()}

    def peek(self, access: Access) -> int:
        """Return the leading tokens held in any tier."""
        ids = self.chainer.ids(access, access.prompt_tokens)
        return min(len(self._places(ids)) * self.block_tokens, access.prompt_tokens)

    def serve(self, access: Access) -> Read:
        """Read the leading chunks from where they lie, bring them up, store the new ones at the top."""
        ids = self.chainer.ids(access, access.prompt_tokens)
        places = self._places(ids)
        hits: dict[str, int] = {}
        for place in places:
            hits[place] = hits.get(place, 0) + self.block_tokens
        for one, place in zip(ids, places, strict=False):
            self.tiers[place].take(one)
        dropped: list[int] = []
        for depth in range(len(ids) - 1, -1, -1):  # deepest first: heads stay longest
            dropped += self._put(ids[depth], self._scored(access, ids[depth], depth))
        hit = min(len(places) * self.block_tokens, access.prompt_tokens)
        return Read(hit, hit, (len(ids) - len(places)) * self.block_tokens, evicted=dropped, tiers=hits)

    def extend(self, access: Access) -> None:
        """Do nothing: tiers hold prompts."""

    def _places(self, ids: Sequence[int]) -> list[str]:
        """Return the tier of each leading chunk that is held."""
        found = []
        for one in ids:
            place = next((name for name, tier in self.tiers.items() if one in tier), None)
            if place is None:
                break
            found.append(place)
        return found

    def _scored(self, access: Access, one: int, depth: int) -> float:
        self._uses[one] = self._uses.get(one, 0) + 1
        weights = access.weights
        share = weights[depth] if weights is not None and depth < len(weights) else self.share
        return self._uses[one] * share

    def _put(self, one: int, score: float) -> list[int]:
        """Insert at the top; what leaves a tier enters the next one; return what leaves the last."""
        for tier in self.tiers.values():  # still lower down after a gap in the chain
            if one in tier:
                tier.take(one)
        moving = [(one, score)]
        for tier in self.tiers.values():
            moving = [(o, self._score_of(o)) for chunk, s in moving for o in tier.put(chunk, s)]
        return [chunk for chunk, _ in moving]

    def _score_of(self, one: int) -> float:
        return self._uses.get(one, 1) * self.share
