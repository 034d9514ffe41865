"""Add up what a run reads: tokens, money at dated prices, time to first token."""

from __future__ import annotations

from dataclasses import dataclass, field

from prefixlint.api.prices import Cost, cost
from prefixlint.api.replay_options import Setup
from prefixlint.caches._base import Access, Read
from prefixlint.facts import Facts
from prefixlint.kv import Hardware, ttft_s
from prefixlint.replays import Money, Rate, Scenario


@dataclass(slots=True)
class Tally:
    """Sum up one run."""

    hardware: Hardware
    requests: int = 0
    input_tokens: int = 0
    low: int = 0
    high: int = 0
    tiers: dict[str, int] = field(default_factory=dict)
    spent: Spent = field(init=False)
    _ttft: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _timed: bool = False

    def __post_init__(self) -> None:
        """Begin with nothing spent."""
        self.spent = Spent()

    def add(self, setup: Setup, access: Access, read: Read) -> None:
        """Book one request."""
        self.requests += 1
        self.input_tokens += access.prompt_tokens
        self.low += read.low
        self.high += read.high
        for name, tokens in read.tiers.items():
            self.tiers[name] = self.tiers.get(name, 0) + tokens
        self.spent.add(setup.engine.facts, access, read)
        if setup.shape is None:
            return
        self._timed = True
        loaded = sum(t for name, t in read.tiers.items() if name != "gpu")
        for index, (cached, moved) in enumerate(((read.high, loaded), (0, 0))):
            self._ttft[index] += ttft_s(
                setup.shape, self.hardware, prompt=access.prompt_tokens, cached=cached, loaded=moved
            )

    @property
    def ttft_s(self) -> tuple[float, float] | None:
        """Return the mean estimate with the cache and without one, or None without a model's shape."""
        if not self._timed or not self.requests:
            return None
        return self._ttft[0] / self.requests, self._ttft[1] / self.requests

    def rate(self, name: str) -> Rate:
        """Return the sums under a name."""
        return Rate(name, self.requests, self.input_tokens, self.low, self.high)

    def scenario(self, name: str, note: str = "") -> Scenario:
        """Return the sums as one column of the comparison."""
        times = self.ttft_s
        return Scenario(name, self.rate(name), self.spent.total(), times[0] if times else None, note)


@dataclass(slots=True)
class Spent:
    """Add up what the input costs at each model's own prices."""

    low: float = 0.0
    high: float = 0.0
    equivalents: float = 0.0
    priced: bool = True
    hosted: bool = False
    certain: bool = True
    as_of: set[str] = field(default_factory=set)
    source: dict[str, None] = field(default_factory=dict)

    def add(self, facts: Facts | None, access: Access, read: Read) -> None:
        """Book one request of a hosted cache."""
        if facts is None:
            return
        self.hosted = True
        best, worst = (_one(facts, access, read, hit) for hit in (read.high, read.low))
        self.equivalents += best.equivalents
        self.certain = self.certain and best.certain
        self.as_of.add(best.as_of)
        self.source.setdefault(best.source)
        if best.usd is None or worst.usd is None:
            self.priced = False
            return
        self.low += best.usd
        self.high += worst.usd

    def total(self) -> Money | None:
        """Return the sum, or None for an engine that nobody bills."""
        if not self.hosted:
            return None
        dated = f"{min(self.as_of)} to {max(self.as_of)}" if len(self.as_of) > 1 else next(iter(self.as_of))
        low, high = (self.low, self.high) if self.priced else (None, None)
        return Money(low, high, self.equivalents, dated, "; ".join(self.source), self.certain)


def _one(facts: Facts, access: Access, read: Read, hit: int) -> Cost:
    billed = facts.write_x.value != 1.0 or facts.write_1h_x.value != 1.0
    written, hour = (read.written, read.written_1h) if billed else (0, 0)
    rest = max(access.prompt_tokens - hit - written - hour, 0)
    return cost(facts, read=hit, write=written, write_1h=hour, uncached=rest, prompt=access.prompt_tokens)
