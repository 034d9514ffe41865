"""Measure a live endpoint and say what its time to first token is made of: network, queue, prefill, cold cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any, Protocol

from prefixlint.api import stats
from prefixlint.api.shots import Shot
from prefixlint.api.wire import Answer
from prefixlint.errors import InputError

_HIT_SHARE = 0.5  # from this share of cached tokens on, the second request counts as a hit
_FASTER = 0.7  # where cached tokens are not reported: a hit is at least this much faster than its miss
_ADVICE = {
    "network": "the level of short prompts dominates: move closer, keep connections open, cut proxies",
    "queue": "waiting for other requests dominates: fewer at once, more replicas, or a priority tier",
    "prefill": "computing the prompt dominates, and the cache does take it away: keep prefixes stable and shared",
    "cold-cache": "computing the prompt dominates, and a repeated prefix is computed again: switch prefix caching on, "
    "pin requests to one replica, or raise the cache's capacity",
}


class Sender(Protocol):
    """Send one body and return its timed answer."""

    def send(self, body: Mapping[str, Any], *, cold: bool = False) -> Answer:
        """Raise InputError when there is no proper answer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold one shot with its answer."""

    shot: Shot
    answer: Answer

    @property
    def prompt_tokens(self) -> int:
        """Return the tokens that had to be computed: those counted by the server, less the cached ones."""
        usage = self.answer.usage
        total = self.shot.tokens if usage.input_tokens is None else usage.input_tokens
        return max(total - (usage.cache_read or 0), 0)

    @property
    def ttft_s(self) -> float:
        """Return the time to first token without the connection's set-up."""
        return self.answer.first_token_s - self.answer.connect_s


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold the split of the time to first token of a prompt of ``tokens``; all times in seconds."""

    tokens: int
    network_s: float
    queue_s: float
    prefill_s: float
    slope_s_per_ktok: float
    tpot_s: float
    connect_s: float
    miss_s: tuple[float, float, float] | None
    hit_s: tuple[float, float, float] | None
    cached_share: float | None
    name: str
    advice: str
    notes: tuple[str, ...] = field(default=())


def shoot(
    shots: Sequence[Shot],
    sender: Sender,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    pause_s: float,
    max_requests: int,
    max_seconds: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[Sample], list[str]]:
    """Send the shots in order within hard limits; a shot that fails after the first is noted and the rest goes on.

    Raises InputError when the very first one fails: then nothing can be measured.
    """
    samples: list[Sample] = []
    notes: list[str] = []
    end = clock() + max_seconds
    for number, shot in enumerate(shots):
        if number >= max_requests or clock() > end:
            notes.append(f"stopped after {number} of {len(shots)} requests: the limit on requests or time is reached")
            break
        try:
            samples.append(Sample(shot, sender.send(shot.body, cold=shot.cold)))
        except InputError as error:
            if not samples:
                raise
            notes.append(f"{shot.purpose}: {error}")
        progress(number + 1, len(shots))
        sleep(pause_s)
    return samples, notes


def judge(samples: Sequence[Sample], *, notes: Sequence[str] = ()) -> Verdict:
    """Split the time to first token and name the largest part.

    Level and slope come from a robust line through all uncached requests; what lies above it is queueing; a second
    request with the same prefix that is neither read from cache nor faster makes prefill a cold cache.
    """
    fresh = [s for s in samples if s.shot.purpose in ("short", "sweep", "miss")]
    if not fresh:
        raise InputError("too few answers to judge; raise --max-requests or --max-seconds")
    points = [(float(s.prompt_tokens), s.ttft_s) for s in fresh]
    level, slope = stats.line(points)
    network = max(level, 0.0)
    queue = fmean(max(y - (level + slope * x), 0.0) for x, y in points)
    tokens = _reference(samples)
    share, misses, hits = _cache(samples)
    parts = {"network": network, "queue": queue, "prefill": slope * tokens}
    name = max(parts, key=lambda key: parts[key])
    if name == "prefill" and misses and hits and not _is_warm(share, misses, hits):
        name = "cold-cache"
    return Verdict(
        tokens, network, queue, slope * tokens, slope * 1000, _tpot(samples), _connect(samples),
        stats.interval(misses) if misses else None, stats.interval(hits) if hits else None,
        share, name, _ADVICE[name], tuple(notes),
    )  # fmt: skip


def _reference(samples: Sequence[Sample]) -> int:
    """Return the prompt length that is judged: the user's own request, else the longest that was sent."""
    own = [s for s in samples if s.shot.purpose == "own"]
    of = own or [s for s in samples if s.shot.purpose in ("sweep", "miss")] or list(samples)
    return max(s.answer.usage.input_tokens or s.shot.tokens for s in of)


def _cache(samples: Sequence[Sample]) -> tuple[float | None, list[float], list[float]]:
    """Return the cached share of second requests (None where unreported) and both lists of times."""
    misses = [s.ttft_s for s in samples if s.shot.purpose == "miss"]
    second = [s for s in samples if s.shot.purpose == "hit"]
    told = [
        s.answer.usage.cache_read / s.answer.usage.input_tokens
        for s in second
        if s.answer.usage.cache_read is not None and s.answer.usage.input_tokens
    ]
    return (median(told) if told else None), misses, [s.ttft_s for s in second]


def _is_warm(share: float | None, misses: Sequence[float], hits: Sequence[float]) -> bool:
    return share >= _HIT_SHARE if share is not None else median(hits) <= _FASTER * median(misses)


def _tpot(samples: Sequence[Sample]) -> float:
    found = [s.answer.tpot_s for s in samples if s.answer.tpot_s > 0]
    return median(found) if found else 0.0


def _connect(samples: Sequence[Sample]) -> float:
    found = [s.answer.connect_s for s in samples if s.answer.cold]
    return median(found) if found else 0.0
