"""Tiers: what moves where, and the scores of the IMPRESS paper."""

from __future__ import annotations

from prefixlint.caches import tiered
from prefixlint.caches._base import Access


def access(*blocks: int, weights: list[float] | None = None) -> Access:
    """Build a request of whole chunks."""
    return Access(0, len(blocks) * 2, blocks=list(blocks), block_tokens=2, weights=weights)


def test_what_the_gpu_evicts_is_read_from_the_cpu_and_comes_back_up() -> None:
    cache = tiered.make({"block_size": 2, "tiers": {"gpu": 1, "cpu": 1, "disk": None}})
    for block in (1, 2, 3):
        cache.serve(access(block))
    assert cache.used_by_tier() == {"gpu": 2, "cpu": 2, "disk": 2}  # 3 up, 2 in the middle, 1 on disk
    assert cache.serve(access(1)).tiers == {"disk": 2}
    assert cache.serve(access(1)).tiers == {"gpu": 2}
    assert cache.serve(access(3)).tiers == {"cpu": 2}


def test_without_room_below_chunks_are_gone() -> None:
    cache = tiered.make({"block_size": 2, "tiers": {"gpu": 1}})
    cache.serve(access(1))
    assert cache.serve(access(2)).evicted == [1]
    assert cache.serve(access(1)).high == 0


def test_score_is_frequency_times_share() -> None:
    # FAST'25: 1.5 uses x 0.5 important is less than 1.0 x 1.0, so the second chunk gets the place in the GPU
    cache = tiered.make({"block_size": 2, "policy": "importance_score", "tiers": {"gpu": 1, "cpu": 1}})
    cache.serve(access(1, weights=[0.5]))
    cache.serve(access(2, weights=[1.0]))
    assert cache.serve(access(2, weights=[1.0])).tiers == {"gpu": 2}
    assert cache.serve(access(1, weights=[0.5])).tiers == {"cpu": 2}  # 2 x 0.5 does not beat 2 x 1.0
    assert cache.serve(access(1, weights=[0.5])).tiers == {"cpu": 2}
