"""Run a log through a cache model: hits, what was lost to what, time and money, today and after the fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prefixlint.api import replay_sweep
from prefixlint.api.accesses import Reader, Served
from prefixlint.api.prices import cost
from prefixlint.api.read import open_log
from prefixlint.api.replay_options import ReplayOptions, Setup
from prefixlint.api.replay_runs import Ideal, Run, Sessions, shadows, split
from prefixlint.caches._base import Access, Chainer, Read
from prefixlint.kv import ttft_s
from prefixlint.model import CacheRead, Request, Span
from prefixlint.replays import Money, Observed, Rate, ReplayResult, Sample

__all__ = ["ReplayOptions", "replay", "replay_served"]

SAMPLES = 400  # points kept of the curve over time
BLAME_BLOCK = 16  # tokens per block where the eviction blame looks for what came in between


def replay(paths: Sequence[str], options: ReplayOptions) -> ReplayResult:
    """Replay the logs at ``paths``; one pass, whatever is asked.

    Raises ConfigError for an impossible question and InputError when an input does not exist.
    """
    log = open_log(paths, options.read)
    reader = make_reader(options)
    result = replay_served(reader.read(log.requests()), options, reader=reader)
    return replace(result, inputs=log.inputs(), notes=(*log.notes(), *result.notes))


def make_reader(options: ReplayOptions) -> Reader:
    """Build the reader for a question: recorded answers count where the engine keeps what it generated."""
    with_output = options.with_output if options.with_output is not None else True
    return Reader(options.tokenizer, options.model, options.api, with_output)


def replay_served(items: Iterator[Served], options: ReplayOptions, *, reader: Reader) -> ReplayResult:
    """Replay accesses that were read already."""
    replaying = Replaying(options)
    sweep = replay_sweep.Sweep(options) if options.sweep else None
    for served in items:
        served = replaying.prepared(served)
        if sweep is not None:
            sweep.serve(served.access, served.request)
        if sweep is None or options.per_request:
            replaying.serve(served)
    result = replaying.result(reader)
    return replace(result, sweep=sweep.points()) if sweep is not None else result


@dataclass(slots=True)
class Replaying:
    """Serve a log request by request and keep what the report needs."""

    options: ReplayOptions
    run: Run = field(init=False)
    reads: list[CacheRead] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    observed: list[Observed] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _shadows: list[tuple[str, Run]] = field(default_factory=list)
    _ideal: Ideal = field(default_factory=Ideal)
    _sessions: Sessions = field(default_factory=Sessions)
    _evictions: Evictions = field(init=False)
    _rates: dict[str, list[int]] = field(default_factory=dict)
    _blame: dict[str, int] = field(default_factory=dict)
    _money: Spent = field(init=False)
    _ttft: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _tiers: dict[str, int] = field(default_factory=dict)
    _input: int = 0
    _low: int = 0
    _high: int = 0
    _start_s: float | None = None
    _every: int = 1
    _started: bool = False
    _last_limit: str = "rounded"

    def __post_init__(self) -> None:
        """Build the runs."""
        self.run = Run(self.options)
        self._evictions = Evictions()
        self._money = Spent()

    def prepared(self, served: Served) -> Served:
        """Give block traces token ids where the cache does not work on blocks of that size."""
        access = served.access
        if access.blocks is not None:
            setup = self.run.setup(access, served.request)
            ready = setup.engine.family in ("block_hash", "tiered") and setup.block_tokens == access.block_tokens
            if not ready:
                access.packed = expanded(access)
                access.blocks, access.block_tokens = None, 0
        return served

    def serve(self, served: Served) -> None:
        """Serve one request and book what it read."""
        access, request = served.access, served.request
        setup = self.run.setup(access, request)
        if not self._started:
            self._start(setup)
        levels = [(name, shadow.serve(access, request).high) for name, shadow in self._shadows]
        read = self.run.serve(access, request)
        levels.append((self._last_limit, read.high))
        ideal = self._ideal.serve(access) if access.packed else max(height for _, height in levels)
        if setup.engine.family == "slot":  # slots cannot be unlimited: a prompt that was overwritten counts as evicted
            levels = [("rounded", min(ideal, access.prompt_tokens - 1)), ("evicted", read.high)]
        forked = self._sessions.lost(access, ideal)
        blame = split(access.prompt_tokens, [("ideal", ideal), *levels], forked)
        self._book(access, request, read, blame)
        self._evictions.see(access, blame.get("evicted", 0), read.high)
        self._charge(setup, access, read)

    def _start(self, setup: Setup) -> None:
        """Build the shadows; the last limit is the one that the real run has beyond them."""
        bounded = setup.params.get("capacity") is not None or setup.engine.family in ("slot", "tiered")
        timed = bool(setup.params.get("ttl_s")) or setup.engine.family == "breakpoint"
        *self._shadows, (self._last_limit, _) = shadows(self.options, bounded, timed)
        for _, shadow in self._shadows:
            shadow.setups = self.run.setups  # one table of chain ids for all of them
        self._started = True

    def _book(self, access: Access, request: Request, read: Read, blame: dict[str, int]) -> None:
        recomputed = access.prompt_tokens - read.high
        written = read.written + read.written_1h
        record = request.span.record
        self.reads.append(CacheRead(record, read.low, read.high, written, recomputed, blame))
        self.paths.append(request.span.path)
        self._input += access.prompt_tokens
        self._low += read.low
        self._high += read.high
        for name, tokens in blame.items():
            self._blame[name] = self._blame.get(name, 0) + tokens
        for name, tokens in read.tiers.items():
            self._tiers[name] = self._tiers.get(name, 0) + tokens
        rate = self._rates.setdefault(access.session, [0, 0, 0, 0])
        for index, more in enumerate((1, access.prompt_tokens, read.low, read.high)):
            rate[index] += more
        self._sample(access, read)
        if request.usage is not None and request.usage.cache_read is not None:
            self._observe(access, request, read)

    def _sample(self, access: Access, read: Read) -> None:
        number = len(self.reads)
        if number % self._every:
            return
        if len(self.samples) >= SAMPLES:  # keep every second one and go on at half the rate
            self.samples = self.samples[1::2]
            self._every *= 2
            if number % self._every:
                return
        at_s = access.at_s if access.at_s is not None else float(number - 1)
        if self._start_s is None:
            self._start_s = at_s
        self.samples.append(Sample(at_s, self.run.used_tokens, self._input, self._high, dict(self._tiers)))

    def _observe(self, access: Access, request: Request, read: Read) -> None:
        usage = request.usage
        assert usage is not None and usage.cache_read is not None
        total = usage.input_tokens or access.prompt_tokens
        scale = total / access.prompt_tokens  # the log's own count decides; ours may be an estimate
        low, high = round(read.low * scale), round(read.high * scale)
        self.observed.append(
            Observed(request.span.record, request.span.path, low, high, usage.cache_read, total,
                     _reason(low, high, usage.cache_read))
        )  # fmt: skip

    def _charge(self, setup: Setup, access: Access, read: Read) -> None:
        self._money.add(setup, access, read)
        if setup.shape is not None:
            loaded = sum(t for name, t in read.tiers.items() if name != "gpu")
            for index, cached in enumerate((read.high, 0)):
                self._ttft[index] += ttft_s(setup.shape, self.options.hardware, prompt=access.prompt_tokens,
                                            cached=cached, loaded=0 if index else loaded)  # fmt: skip

    def result(self, reader: Reader) -> ReplayResult:
        """Build the result."""
        setup = next(iter(self.run.setups.values()), None)
        setup = setup or Run(self.options).setup(Access(0, 0), Request("", "raw", Span("")))
        count = len(self.reads)
        tokenizers = list(reader.tokenizers.values())
        notes = [*setup.notes, *(f"{count:,} {text}" for text, count in reader.notes.items())]
        rates = [Rate(name, *r) for name, r in self._rates.items()]
        return ReplayResult(
            cache=setup.engine.name,
            title=setup.engine.title,
            source=setup.engine.source,
            as_of=setup.engine.as_of,
            params=shown_params(setup, self.options),
            inputs=(),
            tokenizer=", ".join(dict.fromkeys(t.name for t in tokenizers)) or "token ids",
            exact_tokens=all(t.exact for t in tokenizers),
            total=Rate("all", count, self._input, self._low, self._high),
            reads=tuple(self.reads),
            paths=tuple(self.paths),
            blame=dict(self._blame),
            evicted_by=self._evictions.by_whom(),
            sessions=tuple(sorted(rates, key=lambda r: r.hit_high - r.input_tokens)),
            observed=tuple(self.observed),
            samples=tuple(self._relative()),
            money=self._money.total(),
            ttft_s=(self._ttft[0] / count, self._ttft[1] / count) if count and setup.shape else None,
            tiers=dict(self._tiers),
            notes=tuple(notes),
            kv_bytes_per_token=setup.shape.bytes_per_token if setup.shape else None,
            start_s=self._start_s,
        )

    def _relative(self) -> list[Sample]:
        start = self._start_s or 0.0
        return [replace(s, at_s=s.at_s - start) for s in self.samples]


def _reason(low: int, high: int, observed: int) -> str:
    if low <= observed <= high:
        return "as predicted"
    if observed == 0 and low:
        return "intact-but-not-read"
    return "more was read than this log shows as sent before" if observed > high else "less was read than predicted"


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

    def add(self, setup: Setup, access: Access, read: Read) -> None:
        """Book one request of a hosted cache."""
        facts = setup.engine.facts
        if facts is None:
            return
        self.hosted = True
        best, worst = (self._one(facts, access, read, hit) for hit in (read.high, read.low))
        self.equivalents += best.equivalents
        self.certain = self.certain and best.certain
        self.as_of.add(best.as_of)
        self.source.setdefault(best.source)
        if best.usd is None or worst.usd is None:
            self.priced = False
            return
        self.low += best.usd
        self.high += worst.usd

    def _one(self, facts: Any, access: Access, read: Read, hit: int) -> Any:
        writes = facts.write_x.value != 1.0
        written, hour = (read.written, read.written_1h) if writes else (0, 0)
        rest = access.prompt_tokens - hit - written - hour
        return cost(facts, read=hit, write=written, write_1h=hour, uncached=max(rest, 0), prompt=access.prompt_tokens)

    def total(self) -> Money | None:
        """Return the sum, or None for an engine that nobody bills."""
        if not self.hosted:
            return None
        dated = f"{min(self.as_of)} to {max(self.as_of)}" if len(self.as_of) > 1 else next(iter(self.as_of))
        low, high = (self.low, self.high) if self.priced else (None, None)
        return Money(low, high, self.equivalents, dated, "; ".join(self.source), self.certain)


@dataclass(slots=True)
class Evictions:
    """Find out what pushed evicted tokens out: of all that was written since their last use, the share never read."""

    chainer: Chainer = field(default_factory=lambda: Chainer(BLAME_BLOCK))
    _uses: dict[int, int] = field(default_factory=dict)
    _last: dict[int, int] = field(default_factory=dict)
    _written: list[list[int]] = field(default_factory=list)
    _lost: list[tuple[int, int, int]] = field(default_factory=list)

    def see(self, access: Access, evicted: int, hit: int) -> None:
        """Book one request: which of its blocks are new, and since when the lost ones were unused."""
        if access.blocks is not None:
            self.chainer.block_tokens = access.block_tokens
        ids = self.chainer.ids(access, access.prompt_tokens)
        number, new = len(self._written), []
        if evicted and ids:
            first = ids[min(hit // self.chainer.block_tokens, len(ids) - 1)]
            self._lost.append((self._last.get(first, number), number, evicted))
        for one in ids:
            if one not in self._uses:
                new.append(one)
            self._uses[one] = self._uses.get(one, 0) + 1
            self._last[one] = number
        self._written.append(new)

    def by_whom(self) -> dict[str, int]:
        """Return the evicted tokens by what came in between: one-off suffixes, or content that is used again."""
        if not self._lost:
            return {}
        once, every = [0], [0]
        for new in self._written:
            once.append(once[-1] + sum(self._uses[one] == 1 for one in new))
            every.append(every[-1] + len(new))
        found = {"one-off suffixes": 0.0, "content that is used again": 0.0}
        for since, until, tokens in self._lost:
            total = every[until] - every[since + 1]
            share = (once[until] - once[since + 1]) / total if total > 0 else 0.0
            found["one-off suffixes"] += tokens * share
            found["content that is used again"] += tokens * (1 - share)
        return {name: round(tokens) for name, tokens in found.items() if round(tokens)}


def expanded(access: Access) -> bytes:
    """Stand in for the tokens of a block trace: each block is a run of its own id."""
    assert access.blocks is not None
    size = access.block_tokens
    packed = b"".join([(one & 0xFFFFFFFF).to_bytes(4, "little") * size for one in access.blocks])
    return packed[: access.prompt_tokens * 4]


def shown_params(setup: Setup, options: ReplayOptions) -> dict[str, Any]:
    """Return the parameters that decided the answer, for the report."""
    params = {k: v for k, v in setup.params.items() if k not in ("chainer", "discipline") and v not in (None, "")}
    if options.replicas > 1:
        params |= {"replicas": options.replicas, "routing": options.routing}
    if options.overlap is not None:
        params["overlap"] = f"{options.overlap.prefill:g} tokens/s"
    return params
