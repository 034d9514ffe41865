"""Answer for many settings in one pass over the log; LRU capacities of plain block sets come from stack distances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prefixlint.api.accesses import Served
from prefixlint.api.replay_options import ReplayOptions, Setup, prefix_cache_table, swept
from prefixlint.api.replay_runs import Run
from prefixlint.caches import _optimum, _stack
from prefixlint.caches._base import Access
from prefixlint.model import Request
from prefixlint.replays import Point, Rate


@dataclass(slots=True)
class Counted:
    """Count one point of a sweep."""

    setting: str
    value: str
    run: Run
    requests: int = 0
    input_tokens: int = 0
    low: int = 0
    high: int = 0
    plateau: int = 0
    disk: int = 0


def of_config(options: ReplayOptions) -> Sweep | None:
    """Build the points that tell what each setting of a ``[prefix_cache]`` table does: halved, doubled, or swapped."""
    if not options.config:
        return None
    base = replace(options, sweep=(), per_request=False)
    counted = [Counted("as it is", "", Run(base))]
    for name, value, changed in _variants(base, prefix_cache_table(options.config)):
        counted.append(Counted(name, value, Run(changed)))
    return Sweep(base, counted)


def _variants(options: ReplayOptions, table: Mapping[str, Any]) -> Iterator[tuple[str, str, ReplayOptions]]:
    fields: dict[str, tuple[str, type]] = {"cpu_cache_gb": ("cpu_gb", float), "disk_cache_gb": ("disk_gb", float)}
    chunk = next((k for k in ("chunk_size", "block_size") if k in table), "")
    if chunk:
        fields[chunk] = ("block_size", int)
    for key, (name, kind) in fields.items():
        value = table.get(key)
        if not isinstance(value, int | float) or value <= 0:
            continue
        for factor in (0.5, 2):
            number = max(kind(value * factor), 1) if kind is int else value * factor
            changed: dict[str, Any] = {name: number}
            yield key, f"{number:g}", replace(options, **changed)
    if "disk_cache_dir" in table:
        yield "disk_cache_dir", "unset", replace(options, disk_gb=0.0)
    key = next((k for k in ("eviction", "eviction_policy", "policy") if k in table), "eviction")
    other = "lru" if "importance" in str(table.get(key)) else "importance_score"
    yield key, other, replace(options, policy=other)


@dataclass(slots=True)
class Sweep:
    """Serve every request at every setting; several settings make their product."""

    options: ReplayOptions
    counted: list[Counted] = field(default_factory=list)
    _stack: _stack.Distances | None = None
    _sizes: list[int] = field(default_factory=list)
    _setup: Setup | None = None
    _ready: bool = False
    _future: _optimum.Future | None = None

    def __post_init__(self) -> None:
        """Build one run per point."""
        if self.counted:
            return
        names = [name for name, _ in self.options.sweep]
        for values in itertools.product(*(values for _, values in self.options.sweep)):
            options = replace(self.options, sweep=())
            for name, value in zip(names, values, strict=True):
                options = swept(options, name, value)
            self.counted.append(Counted(", ".join(names), ", ".join(values), Run(options)))

    def serve(self, served: Served) -> None:
        """Serve one request at every point."""
        access, request = served.access, served.request
        if not self._ready:
            self._prepare(access, request)
        self._optimum(access)
        if self._stack is not None:
            self._from_stack(access)
            return
        for point in self.counted:
            if served.echo is not None:
                point.run.extend(served.echo, request)
            read = point.run.serve(access, request)
            self._count(point, access, read.low, read.high)
            point.plateau = max(point.plateau, point.run.used_tokens)
            point.disk += read.tiers.get("disk", 0)

    def _count(self, point: Counted, access: Access, low: int, high: int) -> None:
        point.requests += 1
        point.input_tokens += access.prompt_tokens
        point.low += low
        point.high += high

    def _prepare(self, access: Access, request: Request) -> None:
        """Share chain ids between points of one block size; take the one-pass way where it gives the same answers."""
        self._ready = True
        chainers: dict[int, object] = {}
        for point in self.counted:
            setup = point.run.setup(access, request)
            if "chainer" in setup.params:
                shared = chainers.setdefault(setup.block_tokens, setup.params["chainer"])
                point.run.setups[point.run._key(request)] = replace(setup, params={**setup.params, "chainer": shared})
        setup = self.counted[0].run.setup(access, request)
        plain = setup.engine.family == "block_hash" and "discipline" not in setup.params
        simple = not any(setup.params.get(k) for k in ("credit_partial", "ttl_s", "exact_resend_full", "min_tokens"))
        only = [name for name, _ in self.options.sweep] == ["capacity"]
        self._setup = setup if only else None
        if plain and simple and only and setup.params.get("policy", "lru") == "lru" and self.options.replicas == 1:
            self._stack = _stack.Distances()
            self._sizes = [p.run.setup(access, request).params.get("capacity") or 1 << 60 for p in self.counted]

    def _optimum(self, access: Access) -> None:
        """Remember the blocks for Belady's optimum, where capacities of blocks are swept."""
        setup = self._setup
        if setup is None or setup.engine.family not in ("block_hash", "tiered"):
            return
        if self._future is None:
            self._future = _optimum.Future(access.block_tokens or setup.block_tokens)
        self._future.add(setup.params["chainer"].ids(access, access.prompt_tokens), access.prompt_tokens)

    def _from_stack(self, access: Access) -> None:
        assert self._setup is not None and self._stack is not None
        params = self._setup.params
        size = access.block_tokens or self._setup.block_tokens
        tokens = access.stored_tokens if params.get("save_decode") else access.prompt_tokens
        ids = params["chainer"].ids(access, tokens)
        limit = (access.prompt_tokens - 1) // size if params.get("recompute_last") else len(ids)
        found = self._stack.hits(ids, self._sizes)
        for point, blocks, capacity_blocks in zip(self.counted, found, self._sizes, strict=True):
            hit = min(min(blocks, limit) * size, access.prompt_tokens)
            self._count(point, access, hit, hit)
            point.plateau = min(self._stack.distinct, capacity_blocks) * size

    def points(self) -> tuple[Point, ...]:
        """Return the points in the order in which they were asked for."""
        return tuple(self._points())

    def _points(self) -> Iterator[Point]:
        for p in self.counted:
            rate = Rate(p.value, p.requests, p.input_tokens, p.low, p.high)
            yield Point(p.setting, p.value, rate, p.plateau, p.disk, self._ceiling(p))

    def _ceiling(self, point: Counted) -> float | None:
        if self._future is None:
            return None
        setup = next(iter(point.run.setups.values()))
        return self._future.rate(setup.params.get("capacity"))
