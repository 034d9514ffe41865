"""Blocks in order of use, kept as runs: what one request used last is a stretch of its own chain.

Whoever uses a block uses all blocks before it, and those count as newer (a request frees its tail first). So the
blocks whose last user is one request are depths ``[low, high)`` of its chain: later requests take from the low end,
eviction takes from the high end of the oldest run. A request costs a few list comparisons instead of one queue
operation per block.

A block may lie in several slots (vLLM does not merge duplicates). Lookups find the oldest slot; the others are twins,
in runs of their own, and the next of them takes over when the oldest is evicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Run:
    """Hold depths of one chain, as stretches ``[low, high)``, deepest first; nearly always there is one."""

    ids: Sequence[int]
    parts: list[tuple[int, int]]
    user: int


class Runs:
    """The order of the held slots, oldest run first."""

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity = capacity
        self._owner: dict[int, int] = {}  # block -> number of the run with its oldest slot
        self._twins: dict[int, list[int]] = {}  # block -> numbers of the runs with its other slots, oldest first
        self._runs: dict[int, Run] = {}
        self._slots = 0
        self._next = 0
        self._user = 0  # how many requests were touched

    def __len__(self) -> int:
        """Return the number of slots."""
        return self._slots

    def __contains__(self, one: object) -> bool:
        """Say whether a block is held."""
        return one in self._owner

    def leading(self, ids: Sequence[int], limit: int) -> int:
        """Return how many of the first ``limit`` blocks are held, from the first one on without a gap."""
        return max((end for _, end in self._stretches(ids, limit)), default=0)

    def users(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the last users of the leading blocks, as the numbers of their requests, with the blocks of each."""
        depth = 0
        for number, end in self._stretches(ids, len(ids)):
            yield self._runs[number].user, end - depth
            depth = end

    def _stretches(self, ids: Sequence[int], limit: int, depth: int = 0) -> Iterator[tuple[int, int]]:
        """Walk the chain from run to run: yield each run's number and the depth up to which it has the chain."""
        owner, runs = self._owner, self._runs
        while depth < limit:
            number = owner.get(ids[depth])
            if number is None:
                return
            run = runs[number]
            high = run.parts[0][1] if len(run.parts) == 1 else next(h for low, h in run.parts if low <= depth < h)
            end = min(high, limit)
            depth = end if ids[depth:end] == run.ids[depth:end] else _same(ids, run.ids, depth, end)
            yield number, depth

    def use(self, ids: Sequence[int], hits: int, evictions: int = 0) -> None:
        """Take the first ``hits`` blocks, evict so many slots, then make the whole request the newest, its head last.

        What is held behind the hits already gets a twin.
        """
        taken = self._take(ids, hits)
        self.evict(evictions)
        known = max((end for _, end in self._stretches(ids, len(ids), hits)), default=hits)
        if known > hits:
            self._put(ids, known, len(ids))
            number = self._put(ids, hits, known, owns=False)
            for one in ids[hits:known]:
                self._twins.setdefault(one, []).append(number)
            self._put(ids, 0, hits, taken)
        else:
            self._put(ids, 0, len(ids), taken)

    def _take(self, ids: Sequence[int], count: int) -> tuple[int, int, int]:
        """Take blocks out of their runs; return the longest stretch, whose run number may go on with it."""
        depth, best = 0, (-1, 0, 0)
        for number, end in list(self._stretches(ids, count)):
            run = self._runs[number]
            run.parts = _without(run.parts, depth, end)
            if not run.parts:
                del self._runs[number]
                if end - depth > best[2] - best[1]:
                    best = (number, depth, end)
            depth = end
        self._slots -= count
        return best

    def _put(
        self, ids: Sequence[int], low: int, high: int, taken: tuple[int, int, int] = (-1, 0, 0), *, owns: bool = True
    ) -> int:
        """Add a run of the newest slots; blocks that a taken run owned keep its number, and need no entry again."""
        number, first, last = taken
        if number < 0:
            number, first, last = self._next, low, low
            self._next += 1
        if low < high:
            self._runs[number] = Run(ids, [(low, high)], self._user)
            self._slots += high - low
        if owns:
            self._owner.update(dict.fromkeys(ids[low:first], number))
            self._owner.update(dict.fromkeys(ids[last:high], number))
        return number

    def evict(self, count: int) -> None:
        """Free the oldest slots, the deepest of a run first."""
        runs = self._runs
        while count > 0 and runs:
            number = next(iter(runs))
            run = runs[number]
            low, high = run.parts[0]
            cut = max(high - count, low)
            self._forget(number, run.ids[cut:high])
            count -= high - cut
            if cut > low:
                run.parts[0] = (low, cut)
            elif len(run.parts) > 1:
                run.parts.pop(0)
            else:
                del runs[number]

    def _forget(self, number: int, ids: Sequence[int]) -> None:
        owner, twins = self._owner, self._twins
        self._slots -= len(ids)
        if not twins:
            for one in ids:
                del owner[one]
            return
        for one in ids:
            others = twins.get(one)
            if owner[one] != number:
                assert others is not None
                others.remove(number)
            elif others:
                owner[one] = others.pop(0)
            else:
                del owner[one]
            if others is not None and not others:
                del twins[one]

    def touch(self, ids: Sequence[int], *, hits: int) -> list[int]:
        """Use all blocks of a request and evict what is too much; nothing gets a twin. ``hits`` is not needed here."""
        self.use(ids, self.leading(ids, len(ids)))
        self._user += 1
        if self.capacity is not None:
            self.evict(self._slots - self.capacity)
        return []


def _without(parts: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Cut ``[start, end)`` out of the stretches; the order stays deepest first."""
    found = []
    for low, high in parts:
        if end <= low or start >= high:
            found.append((low, high))
            continue
        found += [p for p in ((end, high), (low, start)) if p[0] < p[1]]
    return found


def _same(left: Sequence[int], right: Sequence[int], start: int, end: int) -> int:
    """Return the first depth at which two chains differ; they agree at ``start`` and do not before ``end``."""
    low, high = start, end
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low + (left[low] == right[low])
