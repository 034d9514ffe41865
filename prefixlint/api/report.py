"""Gather everything the HTML page shows: forks, sessions, tree, curves; aggregated, so that any log fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prefixlint import __version__, cards
from prefixlint.api.diff import DiffOptions, diff
from prefixlint.api.diff_log import LogOptions, opened
from prefixlint.api.read import ReadOptions
from prefixlint.api.replay import replay
from prefixlint.api.replay_options import ReplayOptions
from prefixlint.api.strips import Strips
from prefixlint.api.tree import TreeOptions, tree
from prefixlint.display import escape, plural, shown
from prefixlint.errors import InputError, PrefixlintError
from prefixlint.model import DiffResult, Fork, Json, Progress, Request, Span
from prefixlint.replays import ReplayResult
from prefixlint.report.html import page
from prefixlint.trees import Edge

MOST_SITES = 60
MOST_POINTS = 300  # of one curve
_GAPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 86400)


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Say what the page is about; ``cache`` names the cache model of its curves."""

    log: LogOptions = field(default_factory=LogOptions)
    cache: str = "vllm"
    capacities: tuple[str, ...] = ()
    redact: bool = False
    title: str = "prefixlint report"


def report(paths: Sequence[str], options: PageOptions, *, progress: Progress | None = None) -> str:
    """Read the logs and write the page. Raises InputError when no request could be read."""
    strips, gaps = Strips(), _Gaps()
    log = opened(paths, options.log, progress)
    settings = DiffOptions(tokenizer=options.log.tokenizer, render=options.log.render, on_step=strips.take)
    found = diff(gaps.watch(log.requests()), settings)
    found = replace(found, inputs=log.inputs(), notes=(*log.notes(), *found.notes))
    if not found.requests:
        errors = [e for i in found.inputs for e in i.errors]
        raise InputError(errors[0] if errors else "no request was read", path="" if errors else paths[0])
    played = _replayed(paths, options)
    data = {
        "headline": _headline(found, played),
        "sites": [_site(s, found, options) for s in found.sites[:MOST_SITES]],
        "strips": _strips(strips, found),
        "curves": _curves(played, gaps, paths, options),
        "tree": _tree(paths, options),
        "findings": [_finding(f, options) for f in found.findings[:200]],
    }
    names = ", ".join(i.path for i in found.inputs[:3]) + (" …" if len(found.inputs) > 3 else "")
    subtitle = f"{names}: {plural(found.requests, 'request')}"
    footer = f"prefixlint {__version__}. {' '.join(found.notes)}"
    return page(data, title=options.title, subtitle=subtitle, footer=footer)


def _replayed(paths: Sequence[str], options: PageOptions) -> ReplayResult | None:
    """Replay the log; a log without prompt text, or a model that cannot run, leaves the curves out."""
    try:
        played = replay(paths, _replay_options(options))
        if options.capacities:
            swept = replay(paths, _replay_options(options, (("capacity", options.capacities),)))
            played = replace(played, sweep=swept.sweep)
    except PrefixlintError:
        return None
    return played


def _replay_options(options: PageOptions, sweep: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> ReplayOptions:
    wanted = options.log
    read = ReadOptions(
        input_format=wanted.input_format,
        since=wanted.since,
        until=wanted.until,
        models=wanted.models,
        sessions=wanted.sessions,
    )
    return ReplayOptions(cache=options.cache, tokenizer=wanted.tokenizer, api=wanted.render, read=read, sweep=sweep)


def _headline(found: DiffResult, played: ReplayResult | None) -> dict[str, Json]:
    exact = "exact" if found.exact else "an estimate: no public tokenizer for this model"
    note = f"Tokens by {found.tokenizer}, {exact}."
    bars: list[dict[str, Json]] = []
    for scenario in played.scenarios if played else ():
        money = scenario.money
        usd = money.usd_low if money else None
        bars.append({"label": scenario.name, "tokens": scenario.rate.hit_high, "usd": usd})
        if money and usd is not None and "prices" not in note:
            note += f" Input cost at list prices of {money.as_of}."
    if not bars:
        bars = [
            {"label": "shared today", "tokens": found.shared_tokens, "usd": None},
            {"label": "without forks", "tokens": found.shared_tokens + found.recoverable_tokens, "usd": None},
        ]
    elif played:
        note += f" Bars: cache hits of {played.title}, unbounded unless said otherwise."
    return {
        "requests": found.requests,
        "sessions": found.sessions,
        "prompt_tokens": found.prompt_tokens,
        "shared_tokens": found.shared_tokens,
        "recoverable_tokens": found.recoverable_tokens,
        "sites": len(found.sites),
        "observed": found.usage.cache_read,
        "observed_input": found.usage.input_tokens,
        "bars": bars,
        "note": note,
    }


def _site(site: Any, found: DiffResult, options: PageOptions) -> dict[str, Json]:
    fork: Fork = found.forks[site.example]
    rule = cards.rule(site.cause)
    lead = "" if options.redact else escape(fork.context[0][-30:])
    return {
        "cause": site.cause,
        "pointer": site.pointer,
        "summary": rule.summary,
        "instead": rule.instead,
        "fix": fork.fix,
        "also": list(fork.also),
        "lead": lead,
        "left": shown(fork.left, redact=options.redact),
        "right": shown(fork.right, redact=options.redact),
        "requests": site.requests,
        "lost_tokens": site.lost_tokens,
        "cost_usd": site.cost_usd,
        "before": _place(fork.before),
        "after": _place(fork.after),
        "token": fork.token,
        "char_offset": fork.char_offset,
    }


def _place(span: Span) -> str:
    return f"{span.path}:{span.line}"


def _strips(strips: Strips, found: DiffResult) -> list[dict[str, Json]]:
    site_of = {(s.pointer, s.cause): n for n, s in enumerate(found.sites[:MOST_SITES])}
    out: list[dict[str, Json]] = []
    lost = {name: sum(c[1] for r in rows for c in r.cells if c[2] == "repeated") for name, rows in strips.rows.items()}
    for name, rows in sorted(strips.rows.items(), key=lambda item: -lost[item[0]]):
        lines = [
            {"label": r.label, "cells": [list(c) for c in r.cells], "site": _site_of(r.fork, found, site_of)}
            for r in rows
        ]
        out.append({"session": escape(name), "note": _note(strips.requests[name], lost[name]), "rows": lines})
    return out


def _note(requests: int, lost: int) -> str:
    again = f", {lost:,} tokens computed again" if lost else ""
    return plural(requests, "request") + again


def _site_of(fork: int | None, found: DiffResult, site_of: dict[tuple[str, str], int]) -> int | None:
    """Find the site of a fork: by its own pointer, or by the pointer with the message index left out."""
    if fork is None or fork >= len(found.forks):
        return None
    wanted = found.forks[fork]
    for (pointer, cause), number in site_of.items():
        if cause == wanted.cause and _fits(pointer, wanted.pointer):
            return number
    return None


def _fits(pattern: str, pointer: str) -> bool:
    ours, theirs = pattern.split("/"), pointer.split("/")
    return len(ours) == len(theirs) and all(a in ("*", b) for a, b in zip(ours, theirs, strict=True))


class _Gaps:
    """Count the pauses between requests of one session."""

    def __init__(self) -> None:
        self.last: dict[str, float] = {}
        self.counts = [0] * len(_GAPS)
        self.total = 0

    def watch(self, items: Iterator[Request | InputError]) -> Iterator[Request | InputError]:
        """Pass the requests on."""
        for item in items:
            if isinstance(item, Request) and item.session and item.at_s is not None:
                before = self.last.get(item.session)
                self.last[item.session] = item.at_s
                if before is not None:
                    self._count(item.at_s - before)
            yield item

    def _count(self, gap: float) -> None:
        self.total += 1
        for n, limit in enumerate(_GAPS):
            self.counts[n] += gap <= limit


def _curves(played: ReplayResult | None, gaps: _Gaps, paths: Sequence[str], options: PageOptions) -> dict[str, Json]:
    samples = _thinned(played.samples) if played else []
    timed = bool(played and played.start_s is not None)
    start = (played.start_s or 0.0) if played else 0.0
    axis = [(start + s.at_s if timed else n + 1) for n, s in enumerate(samples)]
    rate = [[x, s.hit_tokens / s.input_tokens] for x, s in zip(axis, samples, strict=True) if s.input_tokens]
    held = [[x, s.held_tokens] for x, s in zip(axis, samples, strict=True)]
    observed = _thinned(played.observed) if played else []
    title = played.title if played else ""
    points = _capacity(played)
    told = [
        [[n + 1, o.predicted_high] for n, o in enumerate(observed)],
        [[n + 1, o.observed] for n, o in enumerate(observed)],
    ]
    pauses = [[limit, n / gaps.total] for limit, n in zip(_GAPS, gaps.counts, strict=True)] if gaps.total else []
    return {
        "time_labels": timed,
        "hit_rate": _series(rate),
        "hit_rate_note": f"{title}: hit tokens over input tokens so far, ends at {rate[-1][1]:.1%}" if rate else "",
        "memory": _series(held),
        "memory_note": f"held by the cache, at most {max(y for _, y in held):,} tokens" if held else "",
        "capacity": _series(points),
        "capacity_note": "LRU, token-weighted" if points else "",
        "gaps": _series(pauses),
        "gaps_note": f"{pauses[7][1]:.0%} within five minutes" if pauses else "",
        "observed": [{"points": p} for p in told if p],
        "observed_note": "solid: predicted, dashed: recorded by the log" if observed else "",
    }


def _series(points: list[list[float]]) -> list[dict[str, Json]]:
    return [{"points": points}] if points else []


def _thinned(items: Sequence[Any]) -> list[Any]:
    step = max(1, -(-len(items) // MOST_POINTS))
    return [*items[::step], *items[-1:]] if step > 1 else list(items)


def _capacity(played: ReplayResult | None) -> list[list[float]]:
    found = [(p.plateau_tokens or _number(p.value), p.rate.high) for p in (played.sweep if played else ())]
    return [[x, y] for x, y in found if x]


def _number(text: str) -> float:
    digits = "".join(c for c in text if c.isdigit() or c == ".")
    return float(digits) if digits else 0.0


def _tree(paths: Sequence[str], options: PageOptions) -> list[Json]:
    try:
        found = tree(paths, TreeOptions(replay=replace(_replay_options(options), cache="none"), top=60, depth=0))
    except PrefixlintError:
        return []
    return [_node(edge, 0, options) for edge in found.roots]


def _node(edge: Edge, depth: int, options: PageOptions) -> dict[str, Json]:
    return {
        "tokens": edge.tokens,
        "requests": edge.requests,
        "text": edge.pointer if options.redact else escape(edge.text),
        "volatile": bool(edge.rule),
        "depth": depth,
        "children": [_node(child, depth + 1, options) for child in edge.children],
    }


def _finding(finding: Any, options: PageOptions) -> dict[str, Json]:
    message = cards.rule(finding.rule).summary if options.redact else finding.message
    return {"place": f"{_place(finding.span)} {finding.pointer}", "rule": finding.rule, "message": escape(message)}
