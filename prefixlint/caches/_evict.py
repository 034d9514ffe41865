"""Replacement policies over block ids, shared by the block caches and the tiers.

``touch(ids, hits)`` marks the first ``hits`` ids (held already) as used and inserts the rest, deepest first, so that
the head of a prompt counts as newest; it returns what was evicted.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol

from prefixlint.caches._runs import Runs
from prefixlint.errors import ConfigError

POLICIES = ("lru", "lfu", "fifo", "lifo", "mru", "length", "importance_score")


class Held(Protocol):
    """A bounded set of block ids."""

    def __len__(self) -> int: ...
    def __contains__(self, one: object) -> bool: ...
    def touch(self, ids: Sequence[int], *, hits: int) -> list[int]:
        """Use the first ``hits`` ids and insert the others; return the evicted ones."""


def make(policy: str, capacity: int | None) -> Held:
    """Build the set for a policy name; an unbounded one never evicts, so its policy does not matter."""
    if policy == "lru" or capacity is None:
        return Runs(capacity)
    if policy in ("fifo", "lifo", "lfu", "mru", "length"):
        return Ranked(capacity, policy)
    raise ConfigError(f"unknown policy {policy!r} for blocks; known: {', '.join(POLICIES)}")


class Ranked:
    """Any policy that is a rank: the smallest goes first. Stale heap entries are skipped when they surface."""

    def __init__(self, capacity: int, policy: str) -> None:
        self.capacity, self.policy = capacity, policy
        self._rank: dict[int, tuple[float, ...]] = {}
        self._heap: list[tuple[tuple[float, ...], int]] = []
        self._uses: dict[int, int] = {}
        self._clock = 0

    def __len__(self) -> int:
        return len(self._rank)

    def __contains__(self, one: object) -> bool:
        return one in self._rank

    def touch(self, ids: Sequence[int], *, hits: int) -> list[int]:
        """Re-rank what is used, insert the rest, evict the smallest ranks; a request never evicts itself first."""
        for depth in range(len(ids) - 1, -1, -1):
            self._clock += 1
            one = ids[depth]
            self._uses[one] = self._uses.get(one, 0) + 1
            old = self._rank.get(one)
            rank = self._ranked(one, depth, old)
            if rank != old:
                self._rank[one] = rank
                heapq.heappush(self._heap, (rank, one))
        return [self._evict() for _ in range(len(self._rank) - self.capacity)]

    def _ranked(self, one: int, depth: int, old: tuple[float, ...] | None) -> tuple[float, ...]:
        now = float(self._clock)
        if self.policy == "lfu":
            return (float(self._uses[one]), now)
        if self.policy == "length":  # longest prefix out first: deep blocks are least likely to be shared
            return (-float(depth), now)
        if self.policy == "mru":
            return (-now,)
        return old if old is not None else ((now,) if self.policy == "fifo" else (-now,))

    def _evict(self) -> int:
        while True:
            rank, one = heapq.heappop(self._heap)
            if self._rank.get(one) == rank:
                del self._rank[one]
                self._uses.pop(one, None)
                return one
