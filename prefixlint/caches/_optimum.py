"""Belady's optimum: the most that any policy could read at a capacity, with the future known."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence

_NEVER = 1 << 60


class Future:
    """Remember the blocks of every request, then answer for capacities.

    On each eviction the block goes whose next use is furthest away (Belady 1966). Blocks of one chain are used
    together or from the head on, so that what remains of a prompt is a prefix.
    """

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._ids = array("q")
        self._ends = array("q")
        self._prompts = array("q")
        self._next: array[int] | None = None

    def add(self, ids: Sequence[int], prompt_tokens: int) -> None:
        """Remember one request."""
        self._ids.extend(ids)
        self._ends.append(len(self._ids))
        self._prompts.append(prompt_tokens)

    def rate(self, capacity: int | None) -> float:
        """Return hit tokens over input tokens at a capacity in blocks."""
        total = sum(self._prompts)
        return self._hit_tokens(capacity if capacity is not None else _NEVER) / total if total else 0.0

    def _uses(self) -> array[int]:
        """Return for each block access the request that uses the block next."""
        if self._next is None:
            upcoming: dict[int, int] = {}
            found = array("q", bytes(8 * len(self._ids)))
            for request in range(len(self._ends) - 1, -1, -1):
                for at in range(self._ends[request - 1] if request else 0, self._ends[request]):
                    found[at] = upcoming.get(self._ids[at], _NEVER)
                    upcoming[self._ids[at]] = request
            self._next = found
        return self._next

    def _hit_tokens(self, capacity: int) -> int:
        uses, held, heap = self._uses(), {}, []  # type: ignore[var-annotated]
        start = hit_tokens = 0
        for request, end in enumerate(self._ends):
            blocks, leading = 0, True
            for at in range(start, end):
                one = self._ids[at]
                leading = leading and one in held
                blocks += leading
                held[one] = uses[at]
                heapq.heappush(heap, (-uses[at], one))
            hit_tokens += min(blocks * self.block_tokens, self._prompts[request])
            while len(held) > capacity:
                when, one = heapq.heappop(heap)
                if held.get(one) == -when:
                    del held[one]
            start = end
        return hit_tokens
