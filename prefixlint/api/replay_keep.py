"""What a replay keeps while it runs: curves over time, forks by cause, who evicted whom, how histories continue."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from prefixlint.api.replay_tally import Tally
from prefixlint.caches._base import KEPT_SESSIONS, WIDTH, Access, Chainer, Read, lcp_tokens
from prefixlint.diff.sites import general
from prefixlint.model import Fork
from prefixlint.replays import Continuation, Sample

SAMPLES = 400  # points kept of the curve over time
BLAME_BLOCK = 16  # tokens per block where the eviction blame looks for what came in between


@dataclass(slots=True)
class Forks:
    """Add up the forked tokens by cause and by place."""

    by_cause: dict[str, int] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, fork: Fork, tokens: int) -> None:
        """Book what one fork cost."""
        if fork.wanted or not tokens:
            return
        self.by_cause[fork.cause] = self.by_cause.get(fork.cause, 0) + tokens
        place = f"{general(fork.pointer)} {fork.cause}"
        self._places[place] = self._places.get(place, 0) + tokens

    def sites(self) -> tuple[tuple[str, int], ...]:
        """Return the places, most tokens first."""
        return tuple(sorted(self._places.items(), key=lambda item: -item[1]))


@dataclass(slots=True)
class Curve:
    """Keep at most ``SAMPLES`` points of memory and hits over time."""

    samples: list[Sample] = field(default_factory=list)
    start_s: float | None = None
    _every: int = 1
    _last: Sample | None = None
    _number: int = 0

    def add(self, access: Access, read: Read, held: int, tally: Tally) -> None:
        """Take a point; when there are too many, keep every second one and go on at half the rate."""
        at_s = access.at_s if access.at_s is not None else float(self._number)
        self.start_s = at_s if self.start_s is None else self.start_s
        self._number += 1
        self._last = Sample(at_s, held, tally.input_tokens, tally.high, dict(tally.tiers))
        if self._number % self._every:
            return
        self.samples.append(self._last)
        if len(self.samples) > SAMPLES:
            self.samples = self.samples[1::2]
            self._every *= 2

    def relative(self) -> list[Sample]:
        """Return the points with times from the first request on, the last one included."""
        found = self.samples
        if self._last is not None and (not found or found[-1] is not self._last):
            found = [*found, self._last]
        return [replace(s, at_s=s.at_s - (self.start_s or 0.0)) for s in found]


@dataclass(slots=True)
class Evictions:
    """Find out what pushed evicted tokens out: of all that was written since their last use, the share never read.

    Each block belongs to the request that wrote it. A request that continues a known chain reads what its writers
    wrote, so the writers on its way are told how deep they were read.
    """

    chainer: Chainer = field(default_factory=lambda: Chainer(BLAME_BLOCK))
    _writer: dict[int, int] = field(default_factory=dict)
    _spans: list[list[int]] = field(default_factory=list)  # per request: first and last depth written, depth read
    _sessions: dict[str, int] = field(default_factory=dict)
    _lost: list[tuple[int, int, int]] = field(default_factory=list)

    def see(self, access: Access, evicted: int, chainer: Chainer | None = None) -> None:
        """Book one request: what is new in it, what it reads of others, since when the lost blocks were unused."""
        self.chainer = chainer or self.chainer
        ids = self.chainer.ids(access, access.prompt_tokens)
        number, writer = len(self._spans), self._writer
        known = bisect_left(ids, True, key=lambda one: one not in writer)
        depth, since = known, -1
        while depth > 0:
            owner = writer[ids[depth - 1]]
            since = max(since, owner)
            span = self._spans[owner]
            span[2] = max(span[2], depth)
            depth = min(span[0], depth - 1)
        if evicted:
            self._lost.append((self._sessions.get(access.session, since), number, evicted))
        writer.update(dict.fromkeys(ids[known:], number))
        self._spans.append([known, len(ids), known])
        if access.session:
            self._sessions[access.session] = number

    def by_whom(self) -> dict[str, int]:
        """Return the evicted tokens by what came in between: one-off suffixes, or content that is used again."""
        once, every = [0], [0]
        for first, end, read in self._spans:
            once.append(once[-1] + end - max(read, first))
            every.append(every[-1] + end - first)
        found = {"one-off suffixes": 0.0, "content that is used again": 0.0}
        for since, until, tokens in self._lost:
            start = min(since + 1, until)
            total = every[until] - every[start]
            share = (once[until] - once[start]) / total if total > 0 else 0.0
            found["one-off suffixes"] += tokens * share
            found["content that is used again"] += tokens * (1 - share)
        return {name: round(tokens) for name, tokens in found.items() if round(tokens)}


@dataclass(slots=True)
class Consecutive:
    """Measure how much of each request its session's previous one held: shared tokens over all, by session."""

    _last: dict[str, Access] = field(default_factory=dict)
    _shared: dict[str, list[int]] = field(default_factory=dict)
    broken: int = 0

    def see(self, access: Access) -> None:
        """Compare a request with the one before it in its session; blocks count where the log has blocks."""
        if not access.session:
            return
        before = self._last.pop(access.session, None)
        self._last[access.session] = access
        if len(self._last) > KEPT_SESSIONS:
            del self._last[next(iter(self._last))]
        if before is None:
            return
        old, new, shared = _lengths(before, access)
        sums = self._shared.setdefault(access.session, [0, 0])
        sums[0] += shared
        sums[1] += new
        self.broken += shared < old

    def result(self) -> Continuation | None:
        """Return median and mean over the sessions of more than one request."""
        shares = [shared / total for shared, total in self._shared.values() if total]
        if not shares:
            return None
        return Continuation(len(shares), statistics.median(shares), statistics.fmean(shares), self.broken)


def _lengths(before: Access, access: Access) -> tuple[int, int, int]:
    """Return the lengths of two prompts and what they share from the start, in blocks or tokens."""
    if before.blocks is not None and access.blocks is not None:
        return len(before.blocks), len(access.blocks), _leading(before.blocks, access.blocks)
    old, new = before.packed[: before.prompt_tokens * WIDTH], access.packed[: access.prompt_tokens * WIDTH]
    return len(old) // WIDTH, len(new) // WIDTH, lcp_tokens(old, new)


def _leading(left: Sequence[int], right: Sequence[int]) -> int:
    end = min(len(left), len(right))
    if left[:end] == right[:end]:
        return end
    return next(n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
