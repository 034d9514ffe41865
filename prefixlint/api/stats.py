"""Robust statistics of a few timings: medians with their interval, a straight line through outliers."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return median, lower and upper end of its confidence interval.

    The ends are order statistics: with n values the k-th smallest and largest enclose the median with probability
    1 - 2 * P(Binomial(n, 1/2) < k) (Conover, Practical Nonparametric Statistics, section 3.2). Few values give the
    whole range.
    """
    ordered = sorted(values)
    n, k, below = len(ordered), 0, 0.0
    while k < n // 2:
        below += comb(n, k) / 2**n
        if 1 - 2 * below < confidence:
            break
        k += 1
    k = max(k - 1, 0)
    return median(ordered), ordered[k], ordered[n - 1 - k]


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit y = level + slope * x and return (level, slope); a few points far above the line do not move it.

    The slope is the median of the slopes between all pairs (Theil 1950, Sen 1968), on the lower half of the points of
    each x, since queueing only ever adds time.
    """
    lower = [p for x in sorted({x for x, _ in points}) for p in _lower_half([q for q in points if q[0] == x])]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(lower) for b in lower[i + 1 :] if b[0] != a[0]]
    slope = max(median(slopes), 0.0) if slopes else 0.0
    return median(y - slope * x for x, y in lower), slope


def _lower_half(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    ordered = sorted(points, key=lambda p: p[1])
    return ordered[: (len(ordered) + 1) // 2]
