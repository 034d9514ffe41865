"""Run a log through a cache model: hits, what was lost to what, time and money, today and after the fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prefixlint.api import replay_checklist
from prefixlint.api.accesses import Reader, Served
from prefixlint.api.read import open_log
from prefixlint.api.replay_fixed import Fixed, is_small
from prefixlint.api.replay_keep import Consecutive, Curve, Evictions, Forks
from prefixlint.api.replay_options import ReplayOptions, Setup
from prefixlint.api.replay_runs import Ideal, Run, Sessions, shadows, split
from prefixlint.api.replay_sweep import Sweep, of_config
from prefixlint.api.replay_tally import Tally
from prefixlint.caches._base import Access, Read
from prefixlint.model import CacheRead, Request, Span
from prefixlint.replays import Observed, Rate, ReplayResult

__all__ = ["ReplayOptions", "replay", "replay_served"]


def replay(paths: Sequence[str], options: ReplayOptions) -> ReplayResult:
    """Replay the logs at ``paths``; one pass, whatever is asked.

    Raises ConfigError for an impossible question and InputError when an input does not exist.
    """
    log = open_log(paths, options.read)
    options = replace(options, scenarios=options.scenarios and is_small(log.files))
    run = Run(options)
    reader = make_reader(options, run)
    result = replay_served(reader.read(log.requests()), options, reader=reader, run=run)
    return replace(result, inputs=log.inputs(), notes=(*log.notes(), *result.notes))


def make_reader(options: ReplayOptions, run: Run) -> Reader:
    """Build the reader for a question: answers count where the engine keeps what it generated."""
    answers = True if options.with_output is None else options.with_output
    return Reader(
        options.tokenizer, options.model, options.api, answers, lambda request: run.family(request) == "breakpoint"
    )


def replay_served(items: Iterator[Served], options: ReplayOptions, *, reader: Reader, run: Run) -> ReplayResult:
    """Replay accesses as they are read."""
    replaying = Replaying(options, run)
    sweep = Sweep(options) if options.sweep else None
    settings = None if options.sweep else of_config(options)
    for served in items:
        replaying.prepare(served)
        for points in (sweep, settings):
            if points is not None:
                points.serve(served)
        if sweep is None or options.per_request:
            replaying.serve(served)
    result = replaying.result(reader)
    return replace(result, sweep=sweep.points() if sweep else (), settings=settings.points() if settings else ())


@dataclass(slots=True)
class Replaying:
    """Serve a log request by request and keep what the report needs."""

    options: ReplayOptions
    run: Run
    reads: list[CacheRead] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    observed: list[Observed] = field(default_factory=list)
    tally: Tally = field(init=False)
    curve: Curve = field(init=False)
    forks: Forks = field(init=False)
    fixed: Fixed | None = None
    consecutive: Consecutive = field(default_factory=Consecutive)
    _shadows: list[tuple[str, Run]] = field(default_factory=list)
    _last_limit: str = "rounded"
    _started: bool = False
    _ideal: Ideal = field(default_factory=Ideal)
    _sessions: Sessions = field(default_factory=Sessions)
    _evictions: Evictions = field(init=False)
    _rates: dict[str, list[int]] = field(default_factory=dict)
    _blame: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        self.tally, self.curve, self.forks, self._evictions = (
            Tally(self.options.hardware),
            Curve(),
            Forks(),
            Evictions(),
        )
        if self.options.scenarios and not self.options.sweep:
            self.fixed = Fixed(replace(self.options, per_request=False), lambda run: make_reader(self.options, run))

    def prepare(self, served: Served) -> None:
        """Give block traces token ids where the cache does not work on blocks of that size."""
        access = served.access
        if access.blocks is None:
            return
        setup = self.run.setup(access, served.request)
        if setup.engine.family in ("block_hash", "tiered") and setup.block_tokens == access.block_tokens:
            return
        access.packed = expanded(access)
        access.blocks, access.block_tokens = None, 0

    def serve(self, served: Served) -> None:
        """Serve one request and book what it read."""
        access, request = served.access, served.request
        setup = self.run.setup(access, request)
        if not self._started:
            self._start(setup)
        if served.echo is not None:
            for _, shadow in self._shadows:
                shadow.extend(served.echo, request)
            self.run.extend(served.echo, request)
        levels = [(name, shadow.serve(access, request).high) for name, shadow in self._shadows]
        read = self.run.serve(access, request)
        levels.append((self._last_limit, read.high))
        blame = self._blamed(served, setup, levels)
        self._book(served, read, blame)
        self.tally.add(setup, access, read)
        self.curve.add(access, read, self.run.used_tokens, self.tally)
        self.consecutive.see(access)
        if self._last_limit == "evicted":
            self._evictions.see(access, blame.get("evicted", 0), setup.params.get("chainer"))
        if self.fixed is not None:
            self.fixed.serve(served)

    def _start(self, setup: Setup) -> None:
        """Build the shadows; the last limit is the one that the real run has beyond them."""
        bounded = setup.params.get("capacity") is not None or setup.engine.family == "tiered"
        timed = bool(setup.params.get("ttl_s")) or setup.engine.family == "breakpoint"
        *self._shadows, (self._last_limit, _) = shadows(self.options, bounded, timed)
        for _, shadow in self._shadows:
            shadow.setups = self.run.setups  # one table of chain ids for all of them
        self._started = True

    def _blamed(self, served: Served, setup: Setup, levels: list[tuple[str, int]]) -> dict[str, int]:
        access = served.access
        if served.echo is not None:
            self._ideal.serve(served.echo)
        ideal = self._ideal.serve(access) if access.packed else max(height for _, height in levels)
        if setup.engine.family == "slot":  # slots cannot be unlimited: a prompt that was overwritten counts as evicted
            levels = [("rounded", min(ideal, access.prompt_tokens - 1)), ("evicted", levels[-1][1])]
        forked = self._sessions.lost(access, ideal)
        if served.elements:  # compared request by request: what is wanted there is new text here
            forked = served.fork.lost_tokens if served.fork and not served.fork.wanted else 0
        blame = split(access.prompt_tokens, [("ideal", ideal), *levels], forked)
        if served.fork is not None:
            self.forks.add(served.fork, blame.get("forked", 0))
        return blame

    def _book(self, served: Served, read: Read, blame: dict[str, int]) -> None:
        access, request = served.access, served.request
        written, recomputed = read.written + read.written_1h, access.prompt_tokens - read.high
        self.reads.append(CacheRead(request.span.record, read.low, read.high, written, recomputed, blame))
        self.paths.append(request.span.path)
        for name, tokens in blame.items():
            self._blame[name] = self._blame.get(name, 0) + tokens
        rate = self._rates.setdefault(access.session, [0, 0, 0, 0])
        for index, more in enumerate((1, access.prompt_tokens, read.low, read.high)):
            rate[index] += more
        if request.usage is not None and request.usage.cache_read is not None:
            self.observed.append(_observed(access, request, read, blame))

    def result(self, reader: Reader) -> ReplayResult:
        """Build the result."""
        setup = next(iter(self.run.setups.values()), None)
        setup = setup or self.run.setup(Access(0, 0), Request("", "raw", Span("")))
        tokenizers = list(reader.tokenizers.values())
        rates = [Rate(name, *r) for name, r in self._rates.items()]
        result = ReplayResult(
            cache=setup.engine.name,
            title=setup.engine.title,
            source=setup.engine.source,
            as_of=setup.engine.as_of,
            params=shown_params(setup, self.options),
            inputs=(),
            tokenizer=", ".join(dict.fromkeys(t.name for t in tokenizers)) or "token ids",
            exact_tokens=all(t.exact for t in tokenizers),
            total=self.tally.rate("all"),
            reads=tuple(self.reads),
            paths=tuple(self.paths),
            blame=dict(self._blame),
            forked_by=self.forks.by_cause,
            evicted_by=self._evictions.by_whom(),
            sessions=tuple(sorted(rates, key=lambda r: r.hit_high - r.input_tokens)),
            sites=self.forks.sites(),
            scenarios=self.fixed.scenarios(self.tally) if self.fixed else (),
            observed=tuple(self.observed),
            samples=tuple(self.curve.relative()),
            money=self.tally.spent.total(),
            ttft_s=self.tally.ttft_s,
            tiers=dict(self.tally.tiers),
            notes=(*setup.notes, *(f"{count:,} {text}" for text, count in reader.notes.items())),
            kv_bytes_per_token=setup.shape.bytes_per_token if setup.shape else None,
            start_s=self.curve.start_s,
            consecutive=self.consecutive.result(),
        )
        return replace(result, checklist=replay_checklist.checklist(result, self.options))


def _observed(access: Access, request: Request, read: Read, blame: dict[str, int]) -> Observed:
    usage = request.usage
    assert usage is not None and usage.cache_read is not None
    total = usage.input_tokens or access.prompt_tokens
    scale = total / access.prompt_tokens  # the log's own count decides; ours may be an estimate
    low, high = round(read.low * scale), round(read.high * scale)
    reason = _reason(low, high, usage.cache_read, blame, total, partial=request.partial)
    return Observed(request.span.record, request.span.path, low, high, usage.cache_read, total, reason)


def _reason(low: int, high: int, observed: int, blame: dict[str, int], total: int, *, partial: bool) -> str:
    """Say why a prediction and a record differ; a difference of one block or 2 % is none."""
    near = max(128, total // 50)
    if observed == 0 and high > near:
        return "intact-but-not-read"
    if low - near <= observed <= high + near:
        return "as predicted"
    if observed > high:
        if partial:
            return "the log leaves out the system prompt and the tools, which were read as well"
        lost = max(("evicted", "expired", "rounded", "forked"), key=lambda name: blame.get(name, 0))
        if blame.get(lost, 0) >= (observed - high) // 2:
            return f"more was read than predicted: {lost} here, but not at the provider"
        return "more was read than predicted: it was sent before this log begins, or by a log that is not here"
    return "less was read than predicted: evicted, or sent to another machine"


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
