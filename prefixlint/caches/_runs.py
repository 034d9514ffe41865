"""Blocks in order of use, kept as runs: what one request used last is a stretch of its own chain.

Whoever uses a block uses all blocks before it, and those count as newer (a request frees its tail first). So the
blocks whose last user is one request are the depths ``[low, high)`` of its chain: later requests take from the low
end, eviction takes from the high end of the oldest run. A request costs a few list comparisons instead of one queue
operation per block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Runs:
    """The order of the held blocks, oldest run first."""

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity = capacity
        self._owner: dict[int, int] = {}
        self._runs: dict[int, list] = {}  # type: ignore[type-arg]  # number -> [ids, low, high], in order of use
        self._next = 0

    def __len__(self) -> int:
        return len(self._owner)

    def __contains__(self, one: object) -> bool:
        return one in self._owner

    def leading(self, ids: Sequence[int], limit: int) -> int:
        """Return how many of the first ``limit`` blocks are held, from the first one on without a gap."""
        depth, owner, runs = 0, self._owner, self._runs
        while depth < limit:
            number = owner.get(ids[depth])
            if number is None:
                break
            held, _, high = runs[number]
            end = min(high, limit)
            depth = end if ids[depth:end] == held[depth:end] else _same(ids, held, depth, end)
        return depth

    def users(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the last users of the leading blocks, as the numbers of their requests, with the blocks of each."""
        depth, owner, runs = 0, self._owner, self._runs
        while depth < len(ids):
            number = owner.get(ids[depth])
            if number is None:
                return
            held, _, high = runs[number]
            end = min(high, len(ids))
            end = end if ids[depth:end] == held[depth:end] else _same(ids, held, depth, end)
            yield number, end - depth
            depth = end

    def take(self, ids: Sequence[int], count: int) -> None:
        """Take the first ``count`` blocks out of the runs that they are in; ``append`` puts them back as newest."""
        depth, owner, runs = 0, self._owner, self._runs
        while depth < count:
            number = owner[ids[depth]]
            run = runs[number]
            held, _, high = run
            end = min(high, count)
            depth = end = end if ids[depth:end] == held[depth:end] else _same(ids, held, depth, end)
            if end >= high:
                del runs[number]
            else:
                run[1] = end

    def append(self, ids: Sequence[int]) -> None:
        """Make all blocks of a request the newest, its head the very newest."""
        number = self._next
        self._next += 1
        if ids:
            self._owner.update(dict.fromkeys(ids, number))
            self._runs[number] = [ids, 0, len(ids)]

    def evict(self, count: int) -> None:
        """Drop the oldest blocks, the deepest of a run first."""
        owner, runs = self._owner, self._runs
        while count > 0 and runs:
            number = next(iter(runs))
            run = runs[number]
            ids, low, high = run
            cut = max(high - count, low)
            for one in ids[cut:high]:
                del owner[one]
            count -= high - cut
            if cut == low:
                del runs[number]
            else:
                run[2] = cut

    def touch(self, ids: Sequence[int], *, hits: int) -> list[int]:
        """Use all blocks of a request and evict what is too much; they need not be held."""
        self.take(ids, self.leading(ids, len(ids)))
        self.append(ids)
        if self.capacity is not None:
            self.evict(len(self._owner) - self.capacity)
        return []

    def in_order(self) -> Iterator[int]:
        """Yield the held blocks, first to be evicted first."""
        for ids, low, high in self._runs.values():
            yield from ids[high - 1 : low - 1 if low else None : -1] if high > low else ()


def _same(left: Sequence[int], right: Sequence[int], start: int, end: int) -> int:
    """Return the first depth at which two chains differ; they do before ``end``."""
    low, high = start, end
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low + (left[low] == right[low])
