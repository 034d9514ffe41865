"""The caches that one pass over a log serves: the one asked for, and shadows that lack some of its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prefixlint import engines
from prefixlint.api.fleet import Fleet
from prefixlint.api.replay_options import ReplayOptions, Setup, setup
from prefixlint.caches._base import KEPT_SESSIONS, WIDTH, Access, Read, lcp_tokens
from prefixlint.facts import provider_of
from prefixlint.model import Request


@dataclass(slots=True)
class Run:
    """Serve a whole log: one fleet for an engine, one fleet per model for a provider."""

    options: ReplayOptions
    changes: Mapping[str, Any] = field(default_factory=dict)
    setups: dict[str, Setup] = field(default_factory=dict)
    fleets: dict[str, Fleet] = field(default_factory=dict)
    _by_model: bool | None = None

    def serve(self, access: Access, request: Request) -> Read:
        """Serve one request."""
        return self.fleet(access, request).serve(access)

    def extend(self, access: Access, request: Request) -> None:
        """Store the answer of the request before."""
        self.fleet(access, request).extend(access)

    def fleet(self, access: Access, request: Request) -> Fleet:
        """Return the caches that hold this request's prefix."""
        key = self._key(request)
        found = self.fleets.get(key)
        if found is None:
            found = self.fleets[key] = self._build(self.setup(access, request))
        return found

    def family(self, request: Request) -> str:
        """Name the family of the cache that serves this request's model."""
        return self.setup(Access(0, 0), request).engine.family

    def _key(self, request: Request) -> str:
        if self._by_model is None:
            self._by_model = self.options.cache == "auto" or engines.engine(self.options.cache).is_hosted
        if self._by_model:
            return self.options.model or request.model or ""
        return ""

    def setup(self, access: Access, request: Request) -> Setup:
        """Return the resolved question for a request's model."""
        key = self._key(request)
        found = self.setups.get(key)
        if found is None:
            options = self.options
            if options.cache == "auto":
                options = replace(options, cache=engine_for(request))
            found = self.setups[key] = setup(options, model=request.model, trace_block=access.block_tokens)
        return found

    def _build(self, found: Setup) -> Fleet:
        options = self.options
        make = found.maker(**{k: v for k, v in self.changes.items() if not k.startswith("_")})
        if self.changes.get("_alone"):
            return Fleet(make)
        overlap = None if self.changes.get("_sequential") else options.overlap
        return Fleet(make, options.replicas, options.routing, overlap)

    @property
    def used_tokens(self) -> int:
        """Return the tokens held by all caches."""
        return sum(f.used_tokens for f in self.fleets.values())


def engine_for(request: Request) -> str:
    """Name the cache of a request's own provider, ``vllm`` where none is known."""
    provider = provider_of(request.model, request.provider)
    by_provider = {"moonshot": "kimi"}
    name = by_provider.get(provider or "", provider or "vllm")
    return name if name in engines.names() else "vllm"


@dataclass(slots=True, eq=False)
class Span:
    """Hold a span of tokens that some prompts have in common."""

    key: bytes
    children: dict[bytes, Span] = field(default_factory=dict)


@dataclass(slots=True)
class Ideal:
    """Count the tokens that any earlier request in the same scope had in common: what a perfect cache could read."""

    roots: dict[str, Span] = field(default_factory=dict)

    def serve(self, access: Access) -> int:
        """Return the common prefix with everything before, the answers included, then remember this request."""
        answer = access.output_tokens * WIDTH
        prompt = access.packed[: len(access.packed) - answer] if answer else access.packed
        at = min(self._insert(access.scope, access.packed[:-WIDTH] if answer else prompt), len(prompt)) // WIDTH
        # an estimating tokenizer counts more tokens than its ids: the share that is common stays
        return at if len(prompt) == access.prompt_tokens * WIDTH else at * access.prompt_tokens * WIDTH // len(prompt)

    def _insert(self, scope: str, key: bytes) -> int:
        """Insert tokens; return how many bytes of them were there. A span that nothing follows grows in place."""
        node, at = self.roots.setdefault(scope, Span(b"")), 0
        while at < len(key):
            child = node.children.get(key[at : at + WIDTH])
            if child is None:
                node.children[key[at : at + WIDTH]] = Span(key[at:])
                return at
            if not key.startswith(child.key, at):
                shared = lcp_tokens(child.key, key[at : at + len(child.key)]) * WIDTH
                if at + shared < len(key):
                    self._split(child, shared).children[key[at + shared : at + shared + WIDTH]] = Span(
                        key[at + shared :]
                    )
                return at + shared
            at += len(child.key)
            if not child.children:
                child.key += key[at:]
                return at
            node = child
        return at

    def _split(self, span: Span, shared: int) -> Span:
        span.children = {span.key[shared : shared + WIDTH]: Span(span.key[shared:], span.children)}
        span.key = span.key[:shared]
        return span


@dataclass(slots=True)
class Sessions:
    """Remember the last prompt of each session, to tell a broken history from new text."""

    last: dict[str, bytes] = field(default_factory=dict)

    def lost(self, access: Access, ideal: int) -> int:
        """Return the tokens behind the fork that the session's previous prompt held as well, by position."""
        key = access.session
        before = self.last.pop(key, b"") if key else b""
        prompt = access.packed[: access.prompt_tokens * WIDTH]
        if key:
            self.last[key] = prompt
        if len(self.last) > KEPT_SESSIONS:
            del self.last[next(iter(self.last))]
        if not before or prompt.startswith(before):
            return 0
        return max(min(len(before), len(prompt)) // WIDTH - ideal, 0)


def shadows(options: ReplayOptions, bounded: bool, timed: bool) -> list[tuple[str, Run]]:
    """Return the runs between a perfect cache and the real one, each with one more limit than the one before.

    What the next run reads less is lost to the limit that was added: rounding, routing, overlap, lifetime, capacity.
    """
    unlimited: dict[str, Any] = {"capacity": None, "ttl_s": None, "_alone": True}
    found = [("rounded", Run(options, unlimited))]
    if options.replicas > 1:
        found.append(("routed", Run(options, {**unlimited, "_alone": False, "_sequential": True})))
    if options.overlap is not None:
        found.append(("fan-out", Run(options, {"capacity": None, "ttl_s": None})))
    if timed:
        found.append(("expired", Run(options, {"capacity": None})))
    if bounded:
        found.append(("evicted", Run(options)))
    return found


def split(prompt: int, levels: list[tuple[str, int]], forked: int) -> dict[str, int]:
    """Split the tokens that were not read over the limits; ``levels`` go from a perfect cache to the real one.

    >>> split(100, [("ideal", 90), ("rounded", 80), ("evicted", 30)], 4)
    {'forked': 4, 'rounded': 10, 'evicted': 50, 'cold': 6}
    """
    heights = [height for _, height in levels]
    for index in range(len(heights) - 2, -1, -1):  # a limit can help by chance; then it is not blamed
        heights[index] = max(heights[index], heights[index + 1])
    blame = {"forked": min(forked, prompt - heights[0])}
    for (name, _), above, below in zip(levels[1:], heights, heights[1:], strict=False):
        blame[name] = above - below
    blame["cold"] = prompt - heights[0] - blame["forked"]
    return {name: tokens for name, tokens in blame.items() if tokens}
