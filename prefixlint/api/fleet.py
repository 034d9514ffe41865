"""Run cache models the way a deployment does: replicas behind a router, and requests that overlap in time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from prefixlint.caches._base import Access, Cache, Read
from prefixlint.errors import ConfigError

ROUTINGS = ("one", "round-robin", "sticky", "prefix-aware")


@dataclass(frozen=True, slots=True)
class Speed:
    """Say how fast a replica works: tokens per second of prefill and of decoding."""

    prefill: float = 8000.0
    decode: float = 50.0

    def ready_s(self, computed: int) -> float:
        """Return after how many seconds the computed prompt is in the cache."""
        return computed / self.prefill


@dataclass(slots=True)
class Fleet:
    """Serve accesses over ``replicas`` caches.

    Without ``overlap`` each request is finished before the next one comes. With it, a request reads only what earlier
    ones had computed when it arrived, and its own tokens become visible when its prefill is done.
    """

    make: Callable[[], Cache]
    replicas: int = 1
    routing: str = "one"
    overlap: Speed | None = None
    caches: list[Cache] = field(default_factory=list)
    _next: int = 0
    _homes: dict[str, int] = field(default_factory=dict)
    _loads: list[int] = field(default_factory=list)
    _pending: list[tuple[float, int, int, Access]] = field(default_factory=list)
    _served: int = 0
    _last: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Build the replicas."""
        if self.routing not in ROUTINGS:
            raise ConfigError(f"unknown routing {self.routing!r}; known: {', '.join(ROUTINGS)}")
        self.caches = [self.make() for _ in range(self.replicas)]
        self._loads = [0] * self.replicas

    @property
    def used_tokens(self) -> int:
        """Return the tokens that all replicas hold."""
        return sum(c.used_tokens for c in self.caches)

    def serve(self, access: Access) -> Read:
        """Route one request and serve it."""
        home = self._route(access)
        self._loads[home] += access.prompt_tokens
        self._last[access.session] = home
        if self.overlap is None or access.at_s is None:
            return self.caches[home].serve(access)
        self._settle(access.at_s)
        hit = self.caches[home].peek(access)
        self._served += 1
        done_s = access.at_s + self.overlap.ready_s(access.prompt_tokens - hit)
        heapq.heappush(self._pending, (done_s, self._served, home, access))
        return Read(hit, hit, access.stored_tokens - hit)

    def extend(self, access: Access) -> None:
        """Store the answer of an earlier request where that request was served."""
        home = self._last.get(access.session, 0) if self.replicas > 1 else 0
        self.caches[home].extend(access)

    def _settle(self, now_s: float) -> None:
        """Store what was computed by now."""
        while self._pending and self._pending[0][0] <= now_s:
            _, _, home, access = heapq.heappop(self._pending)
            self.caches[home].serve(access)

    def _route(self, access: Access) -> int:
        if self.replicas == 1 or self.routing == "one":
            return 0
        if self.routing == "round-robin":
            return self._turn()
        if self.routing == "sticky":
            key = access.session or access.scope
            if key not in self._homes:
                self._homes[key] = self._turn()
            return self._homes[key]
        # the longest prefix, the least loaded among equals: Dynamo's cost with the decode term left out
        ranks = [(-cache.peek(access), self._loads[i], i) for i, cache in enumerate(self.caches)]
        return min(ranks)[2]

    def _turn(self) -> int:
        self._next += 1
        return (self._next - 1) % self.replicas
