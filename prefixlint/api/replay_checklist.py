"""Close a replay with what to look at, in the order in which it pays: prefixes, arrival, capacity."""

from __future__ import annotations

from prefixlint.api.replay_options import ReplayOptions
from prefixlint.display import count
from prefixlint.replays import Check, ReplayResult

MATTERS = 0.01  # share of the input tokens below which nobody should spend time


def checklist(result: ReplayResult, options: ReplayOptions) -> tuple[Check, ...]:
    """Return the three lines with the numbers of this log."""
    if not result.total.input_tokens:
        return ()
    return (_prefixes(result), _arrival(result, options), _capacity(result, options))


def _check(result: ReplayResult, title: str, tokens: int, text: str) -> Check:
    share = tokens / result.total.input_tokens
    return Check(title, tokens, share, text, share >= MATTERS)


def _of(result: ReplayResult, tokens: int) -> str:
    return f"{count(tokens)} tokens, {tokens / result.total.input_tokens:.1%} of the input"


def _prefixes(result: ReplayResult) -> Check:
    tokens = result.blame.get("forked", 0)
    text = f"{_of(result, tokens)}, were sent before and forked"
    if result.forked_by:
        cause, most = max(result.forked_by.items(), key=lambda item: item[1])
        text += f"; most by {cause} ({count(most)}); prefixlint diff shows where"
    return _check(result, "prefix stability", tokens, text)


def _arrival(result: ReplayResult, options: ReplayOptions) -> Check:
    parts = {name: result.blame.get(name, 0) for name in ("fan-out", "expired", "routed")}
    tokens = sum(parts.values())
    text = f"{_of(result, tokens)}, were not there when they were needed"
    named = [f"{name} {count(number)}" for name, number in parts.items() if number]
    text += f" ({', '.join(named)})" if named else ""
    if options.overlap is None and result.start_s is not None:
        text += "; requests ran one after another here, --overlap lets them meet"
    return _check(result, "concurrency and arrival", tokens, text)


def _capacity(result: ReplayResult, options: ReplayOptions) -> Check:
    tokens = result.blame.get("evicted", 0)
    text = f"{_of(result, tokens)}, were evicted before they were used again"
    one_off = result.evicted_by.get("one-off suffixes", 0)
    if one_off * 2 > tokens > 0:
        text += f"; {count(one_off)} of them by one-off suffixes, which swell the leaves and push shared prefixes out"
    if not tokens and options.capacity is None:
        held = max((s.held_tokens for s in result.samples), default=0)
        text += f"; the cache was unbounded and held {count(held)} tokens at most"
    return _check(result, "capacity and eviction", tokens, text)
