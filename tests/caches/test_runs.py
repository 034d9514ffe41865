"""Runs, stack distances and Belady's optimum against plain loops over single blocks."""

from __future__ import annotations

import random
from collections import OrderedDict

import pytest

from prefixlint.caches import _optimum, _stack, block_hash
from prefixlint.caches._base import Access, Chainer, Packer, lcp_tokens

SIZE = 16


def chains(seed: int) -> list[list[int]]:
    """Make requests whose block ids stand for the whole prefix: conversations that grow, fork and start anew."""
    rng, made, talks, last = random.Random(seed), [], [[]], 0
    for _ in range(rng.randint(5, 60)):
        if rng.random() < 0.3:
            talks.append([])
        if rng.random() < 0.2:
            old = rng.choice(talks)
            talks.append(old[: rng.randint(0, len(old))])
        at, more = rng.randrange(len(talks)), rng.randint(0, 5)
        talks[at] = [*talks[at], *range(last, last + more)]
        last += more
        if talks[at]:
            made.append(talks[at])
    return made


def lru(requests: list[list[int]], capacity: int) -> list[int]:
    """Count the leading blocks held by a plain LRU; the deepest block of a request counts as used first."""
    held: OrderedDict[int, None] = OrderedDict()
    found = []
    for ids in requests:
        found.append(next((n for n, one in enumerate(ids) if one not in held), len(ids)))
        for one in reversed(ids):
            held[one] = None
            held.move_to_end(one)
        while len(held) > capacity:
            held.popitem(last=False)
    return found


def belady(requests: list[list[int]], capacity: int) -> int:
    """Count the leading blocks held when the block goes whose next use is furthest away."""
    uses: list[list[int]] = [[] for _ in requests]
    upcoming: dict[int, int] = {}
    for number in range(len(requests) - 1, -1, -1):
        uses[number] = [upcoming.get(one, 1 << 60) for one in requests[number]]
        upcoming.update(dict.fromkeys(requests[number], number))
    held: dict[int, tuple[int, int]] = {}
    found = 0
    for number, ids in enumerate(requests):
        found += next((n for n, one in enumerate(ids) if one not in held), len(ids))
        held.update({one: (uses[number][depth], depth) for depth, one in enumerate(ids)})
        while len(held) > capacity:
            del held[max(held, key=lambda one: held[one])]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_all_ways_to_count_agree(seed: int) -> None:
    requests, capacities = chains(seed), [1, 3, 7, 15, 40, 1000]
    distances, future = _stack.Distances(), _optimum.Future(SIZE)
    stacked = [distances.hits(ids, capacities) for ids in requests]
    for ids in requests:
        future.add(ids, len(ids) * SIZE)
    total = sum(map(len, requests))
    for place, capacity in enumerate(capacities):
        expected = lru(requests, capacity)
        cache = block_hash.make({"block_size": SIZE, "capacity": capacity})
        accesses = [Access(n, len(ids) * SIZE, blocks=ids, block_tokens=SIZE) for n, ids in enumerate(requests)]
        assert [cache.serve(a).low // SIZE for a in accesses] == expected
        assert [row[place] for row in stacked] == expected
        assert future.rate(capacity) == pytest.approx(belady(requests, capacity) / total)


def test_ids_that_stand_for_one_block_alone_are_chained() -> None:
    # 7 follows 1 and 2: with another block in front it is another prefix
    cache = block_hash.make({"block_size": SIZE})
    accesses = [Access(n, 32, blocks=ids, block_tokens=SIZE) for n, ids in enumerate(([1, 7], [2, 7], [2, 7]))]
    assert [cache.serve(a).low for a in accesses] == [0, 0, 32]


def test_chain_ids_depend_on_everything_before() -> None:
    pack, chainer = Packer().pack, Chainer(2)
    first = chainer.ids(Access(0, 6, packed=pack([1, 2, 3, 4, 5, 6])), 6)
    assert chainer.ids(Access(1, 6, packed=pack([1, 2, 3, 4, 9, 9])), 6)[:2] == first[:2]
    assert not set(chainer.ids(Access(2, 4, packed=pack([3, 4, 5, 6])), 4)) & set(first)
    assert not set(chainer.ids(Access(3, 4, packed=pack([1, 2, 3, 4]), scope="salt"), 4)) & set(first)


def test_token_ids_beyond_32_bits_stay_apart() -> None:
    pack = Packer().pack
    big = pack([1 << 40, (1 << 40) + 1])
    assert big[:4] != big[4:]
    assert pack([1 << 40]) == big[:4]


@pytest.mark.parametrize(("left", "right"), [(b"", b""), (b"abcd", b""), (b"a" * 4000, b"a" * 4000)])
def test_common_prefix_ends(left: bytes, right: bytes) -> None:
    assert lcp_tokens(left, right) == min(len(left), len(right)) // 4


@pytest.mark.parametrize("at", [0, 1, 3, 4, 255, 256, 257, 1023, 5000])
def test_common_prefix_counts_whole_tokens(at: int) -> None:
    left = bytes(6000)
    right = left[:at] + b"\1" + left[at + 1 :]
    assert lcp_tokens(left, right) == at // 4
