"""Belady's optimum: the most that any policy could read at a capacity, with the future known."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from prefixlint.caches._runs import Runs

_NEVER = 1 << 60


class Future:
    """Remember the blocks of every request, then answer for capacities.

    On each eviction the block goes whose next use is furthest away (Belady 1966). The next use grows along a chain,
    so the blocks of a request fall into a few stretches with one next use each, and only their sizes matter.
    """

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._ids: list[Sequence[int]] = []
        self._prompts: list[int] = []
        self._stretches: list[list[tuple[int, int]]] | None = None

    def add(self, ids: Sequence[int], prompt_tokens: int) -> None:
        """Remember one request."""
        self._ids.append(ids)
        self._prompts.append(prompt_tokens)

    def rate(self, capacity: int | None) -> float:
        """Return hit tokens over input tokens at a capacity in blocks."""
        total = sum(self._prompts)
        return self._hit_tokens(capacity if capacity is not None else _NEVER) / total if total else 0.0

    def _next_uses(self) -> list[list[tuple[int, int]]]:
        """Return for each request its stretches: (request that uses them next, number of blocks)."""
        if self._stretches is None:
            upcoming, found = Runs(), []
            last = len(self._ids) - 1
            for ids in reversed(self._ids):
                stretches = [(last - number, count) for number, count in upcoming.users(ids)]
                known = sum(count for _, count in stretches)
                if known < len(ids):
                    stretches.append((_NEVER, len(ids) - known))
                upcoming.touch(ids, hits=0)
                found.append(stretches)
            self._stretches = found[::-1]
        return self._stretches

    def _hit_tokens(self, capacity: int) -> int:
        held: dict[int, int] = {}  # next use -> blocks
        furthest: list[int] = []
        total = hit_tokens = 0
        for request, stretches in enumerate(self._next_uses()):
            blocks = held.pop(request, 0)
            total -= blocks
            hit_tokens += min(blocks * self.block_tokens, self._prompts[request])
            for use, count in stretches:
                if use not in held:
                    heapq.heappush(furthest, -use)
                held[use] = held.get(use, 0) + count
                total += count
            while total > capacity:
                use = -furthest[0]
                gone = min(held.get(use, 0), total - capacity)
                total -= gone
                if gone == held.get(use, 0):
                    heapq.heappop(furthest)
                    held.pop(use, None)
                else:
                    held[use] -= gone
        return hit_tokens
