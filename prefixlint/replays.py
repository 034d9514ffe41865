"""What a replay is asked and what it answers: shared by the verb and the reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prefixlint.model import CacheRead, InputFile

# Why tokens were computed although the log says they had been before, in the order in which they are split off.
CAUSES = ("forked", "rounded", "routed", "fan-out", "expired", "evicted", "cold")


@dataclass(frozen=True, slots=True)
class Rate:
    """Hold the token-weighted hits of a group of requests."""

    name: str
    requests: int
    input_tokens: int
    hit_low: int
    hit_high: int

    @property
    def high(self) -> float:
        """Return hit tokens over input tokens, best case."""
        return self.hit_high / self.input_tokens if self.input_tokens else 0.0

    @property
    def low(self) -> float:
        """Return hit tokens over input tokens, worst case."""
        return self.hit_low / self.input_tokens if self.input_tokens else 0.0


@dataclass(frozen=True, slots=True)
class Money:
    """Hold what the input costs: dollars where a price is known, base-price token equivalents always."""

    usd_low: float | None
    usd_high: float | None
    equivalents: float
    as_of: str
    source: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Scenario:
    """Hold one column of the comparison: today, after safe fixes, after all fixes, ceiling."""

    name: str
    rate: Rate
    money: Money | None = None
    ttft_s: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Hold predicted against recorded tokens of one request."""

    record: int
    path: str
    predicted_low: int
    predicted_high: int
    observed: int
    input_tokens: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold one point on the time axis: seconds since the first request, tokens held, hits so far."""

    at_s: float
    held_tokens: int
    input_tokens: int
    hit_tokens: int
    tiers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Hold one point that a server or a GPU recorded on the same axis: ``hit_rate`` or ``memory_gib`` or counters."""

    at_s: float
    source: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """Hold one point of a sweep."""

    setting: str
    value: str
    rate: Rate
    plateau_tokens: int = 0
    disk_read_tokens: int = 0
    ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Hold one line of the closing checklist, with the number from this log that says whether it matters."""

    title: str
    tokens: int
    share: float
    text: str
    matters: bool


@dataclass(frozen=True, slots=True)
class Continuation:
    """Say how far requests continue the one before: shares of the later prompt over sessions, and broken steps."""

    sessions: int
    median: float
    mean: float
    broken: int


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Hold all that a replay found, ready for any report."""

    cache: str
    title: str
    source: str
    as_of: str
    params: Mapping[str, Any]
    inputs: tuple[InputFile, ...]
    tokenizer: str
    exact_tokens: bool
    total: Rate
    reads: tuple[CacheRead, ...] = ()
    paths: tuple[str, ...] = ()
    blame: Mapping[str, int] = field(default_factory=dict)
    forked_by: Mapping[str, int] = field(default_factory=dict)
    evicted_by: Mapping[str, int] = field(default_factory=dict)
    sessions: tuple[Rate, ...] = ()
    sites: tuple[tuple[str, int], ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    observed: tuple[Observed, ...] = ()
    samples: tuple[Sample, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sweep: tuple[Point, ...] = ()
    money: Money | None = None
    ttft_s: tuple[float, float] | None = None
    tiers: Mapping[str, int] = field(default_factory=dict)
    checklist: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    kv_bytes_per_token: float | None = None
    start_s: float | None = None
    consecutive: Continuation | None = None
    settings: tuple[Point, ...] = ()
