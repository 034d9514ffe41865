"""LRU stack distances of prefix blocks: the hits of every capacity in one pass.

A cache of capacity C holds the C most recently used blocks (Mattson 1970), so a block hits iff its distance from the
top of the stack is below C. Blocks come as chains: whoever uses a block uses all before it, and later ones first, so
the blocks whose last user is one request are a run of that request's chain. Requests, not blocks, go into the tree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


class Distances:
    """Keep for each block its last user, for each request how many blocks it still is the last user of."""

    def __init__(self) -> None:
        self._user: dict[int, int] = {}
        self._first: list[int] = []  # per request: depth of the first block that is still its own
        self._own: list[int] = []
        self._tree = [0]

    @property
    def distinct(self) -> int:
        """Return the number of different blocks seen."""
        return len(self._user)

    def hits(self, ids: Sequence[int], capacities: Sequence[int]) -> list[int]:
        """Return the leading blocks that hit at each capacity, then use all blocks of the request, head last."""
        distances = self._distances(ids)
        self._use(ids, len(distances))
        return [bisect_right(distances, capacity) for capacity in capacities]

    def _distances(self, ids: Sequence[int]) -> list[int]:
        """Return the distance of each leading block that was seen; they grow along the chain."""
        found: list[int] = []
        user, newer, first = self._user, 0, 0
        owner = -1
        for depth, one in enumerate(ids):
            last = user.get(one)
            if last is None:
                break
            if last != owner:
                owner, newer, first = last, self._newer(last), self._first[last]
            found.append(newer + depth - first + 1)
        return found

    def _use(self, ids: Sequence[int], seen: int) -> None:
        number, user = len(self._own), self._user
        before: dict[int, int] = {}
        for one in ids[:seen]:
            last = user[one]
            before[last] = before.get(last, 0) + 1
        for last, count in before.items():
            self._first[last] += count
            self._add(last, -count)
        for one in ids[seen:]:
            last = user.get(one, -1)
            if last >= 0:  # a block of a chain seen only behind a gap; not part of a known prefix
                self._add(last, -1)
        user.update(dict.fromkeys(ids, number))
        self._first.append(0)
        self._own.append(0)
        self._grow()
        self._add(number, len(ids))

    def _newer(self, number: int) -> int:
        """Count the blocks of requests after ``number``."""
        total, at = self.distinct, number + 1
        while at:
            total -= self._tree[at]
            at &= at - 1
        return total

    def _grow(self) -> None:
        at = len(self._tree)
        total, step = 0, 1
        while step < at & -at:
            total += self._tree[at - step]
            step *= 2
        self._tree.append(total)

    def _add(self, number: int, change: int) -> None:
        self._own[number] += change
        at = number + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at
