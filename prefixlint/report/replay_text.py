"""Write a replay for people: the hit rate with its unit, what was lost to what, what fixes would change, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixlint.display import count, money, plural, shown
from prefixlint.model import ReportOptions
from prefixlint.replays import Evidence, Observed, Rate, ReplayResult, Scenario
from prefixlint.report import plots

NAME = "text"
_WHY = {
    "forked": "behind a fork: the session's previous prompt held them too",
    "rounded": "rounded off: whole blocks, minimums, the last token",
    "routed": "on another replica",
    "fan-out": "not computed yet when the request came",
    "expired": "older than the lifetime",
    "evicted": "evicted: the cache was full",
    "cold": "new text, never sent before",
}


def replay_report(result: ReplayResult, options: ReportOptions) -> str:
    """Write the report; a sweep is a table and a curve."""
    lines = list(_head(result, options))
    if result.sweep:
        lines += ["", *_sweep(result)]
    if result.total.requests and not (result.sweep and not result.reads):
        lines += ["", *_summary(result), *_blame(result), *_scenarios(result.scenarios)]
        lines += [*_money(result), *_observed(result, options), *_sessions(result.sessions, options)]
        lines += [*_sites(result, options), *_settings(result), *_evidence(result)]
    for chart in plots.charts(result):
        lines += ["", *plots.terminal(chart, width=min(max(options.width - 24, 20), 72))]
    lines += _checklist(result)
    lines += [f"note: {note}" for note in result.notes]
    return "\n".join(lines) + "\n"


def _head(result: ReplayResult, options: ReportOptions) -> Iterator[str]:
    for i in result.inputs[:3]:
        yield f"{i.path} ({i.format}, {plural(i.requests, 'request')})"
        yield from (f"  {error}" for error in i.errors[:5])
    if len(result.inputs) > 3:
        yield f"and {plural(len(result.inputs) - 3, 'more file')}"
    params = ", ".join(f"{k} {_value(v)}" for k, v in result.params.items())
    yield f"{result.title} ({result.source}, {result.as_of})"
    yield f"  {params or 'no parameters'}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "/".join(f"{k}={'unbounded' if v is None else v}" for k, v in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _percent(low: float, high: float) -> str:
    return f"{high:.1%}" if abs(high - low) < 0.0005 else f"{low:.1%} to {high:.1%}"


def _summary(result: ReplayResult) -> Iterator[str]:
    total = result.total
    yield (
        f"hit rate {_percent(total.low, total.high)} of input tokens: {count(total.hit_high)} of "
        f"{count(total.input_tokens)} in {plural(total.requests, 'request')}"
    )
    exact = "" if result.exact_tokens or result.tokenizer == "estimate" else ", an estimate"
    yield f"  unit: tokens ({result.tokenizer}{exact}), each request weighted by its length"
    if result.tiers:
        read = ", ".join(f"{name} {count(tokens)}" for name, tokens in result.tiers.items())
        yield f"  read from: {read} tokens"
    if result.samples:
        held = max(s.held_tokens for s in result.samples)
        size = f", {held * result.kv_bytes_per_token / 2**30:.2f} GiB of KV" if result.kv_bytes_per_token else ""
        yield f"  memory plateau: {count(held)} tokens{size}"
    if c := result.consecutive:
        yield (
            f"  consecutive requests: {c.median:.1%} of the later prompt is shared (median of "
            f"{plural(c.sessions, 'session')}, mean {c.mean:.1%}); {plural(c.broken, 'step')} not a continuation"
        )
    if result.ttft_s:
        now, cold = result.ttft_s
        yield f"  time to first token, estimated: {now:.2f} s on average, {cold:.2f} s without a cache"


def _blame(result: ReplayResult) -> Iterator[str]:
    if not result.blame:
        return
    missed = sum(result.blame.values())
    yield ""
    yield f"not read: {count(missed)} tokens"
    for name, why in _WHY.items():
        if tokens := result.blame.get(name):
            yield f"  {count(tokens):>14}  {tokens / missed:>4.0%}  {name}: {why}"
            inner = {"forked": result.forked_by, "evicted": result.evicted_by}.get(name, {})
            for cause, part in sorted(inner.items(), key=lambda item: -item[1]):
                yield f"  {count(part):>14}        {'by' if name == 'evicted' else 'cause'} {cause}"


def _scenarios(scenarios: Sequence[Scenario]) -> Iterator[str]:
    if not scenarios:
        return
    yield ""
    yield f"{'':<18}{'hit rate':>18}{'read tokens':>16}{'cost':>14}{'first token':>13}"
    for s in scenarios:
        cost = money(s.money.usd_low) if s.money and s.money.usd_low is not None else "-"
        ttft = f"{s.ttft_s:.2f} s" if s.ttft_s is not None else "-"
        yield f"{s.name:<18}{_percent(s.rate.low, s.rate.high):>18}{count(s.rate.hit_high):>16}{cost:>14}{ttft:>13}"
        if s.note:
            yield f"  {s.note}"


def _money(result: ReplayResult) -> Iterator[str]:
    found = result.money
    if found is None:
        return
    yield ""
    sure = "" if found.certain else ", not certain"
    if found.usd_low is None or found.usd_high is None:
        yield f"input cost: as much as {count(round(found.equivalents))} uncached tokens (no price known for the model)"
    elif abs(found.usd_high - found.usd_low) < 0.005:
        yield f"input cost: {money(found.usd_low)}"
    else:
        yield f"input cost: {money(found.usd_low)} to {money(found.usd_high)}"
    yield f"  prices of {found.as_of} ({found.source}{sure})"


def _observed(result: ReplayResult, options: ReportOptions) -> Iterator[str]:
    rows = result.observed
    if not rows:
        return
    low, high = sum(o.predicted_low for o in rows), sum(o.predicted_high for o in rows)
    seen = sum(o.observed for o in rows)
    yield ""
    predicted = count(high) if low == high else f"{count(low)} to {count(high)}"
    yield f"the log recorded {count(seen)} cached tokens in {plural(len(rows), 'request')}; predicted {predicted}"
    differing = sorted((o for o in rows if o.reason != "as predicted"), key=_difference, reverse=True)
    limit = options.top or len(differing)
    for o in differing[:limit]:
        span = count(o.predicted_high) if o.predicted_low == o.predicted_high else f"0..{count(o.predicted_high)}"
        yield f"  record {o.record}: predicted {span}, observed {count(o.observed)}: {o.reason}"
    if len(differing) > limit:
        yield f"  and {plural(len(differing) - limit, 'more request')} that differ"


def _difference(o: Observed) -> int:
    return max(o.observed - o.predicted_high, o.predicted_low - o.observed)


def _sessions(rates: Sequence[Rate], options: ReportOptions) -> Iterator[str]:
    named = [r for r in rates if r.name]
    if len(named) < 2:
        return
    limit = options.top or len(named)
    yield ""
    yield f"{plural(len(named), 'session')}, most tokens not read first"
    for rate in named[:limit]:
        name = shown(rate.name, redact=options.redact)
        missed = rate.input_tokens - rate.hit_high
        share, requests = _percent(rate.low, rate.high), plural(rate.requests, "request")
        yield f"  {count(missed):>14}  {share:>16}  {requests:>14}  {name}"
    if len(named) > limit:
        yield f"  and {plural(len(named) - limit, 'more session')}"


def _sites(result: ReplayResult, options: ReportOptions) -> Iterator[str]:
    if not result.sites:
        return
    yield ""
    yield "forks, most lost tokens first"
    for place, tokens in result.sites[: options.top or None]:
        yield f"  {count(tokens):>14}  {place}"


def _evidence(result: ReplayResult) -> Iterator[str]:
    """Sum up what servers and GPUs recorded, beside what was predicted."""
    by_source: dict[str, list[Evidence]] = {}
    for evidence in result.evidence:
        by_source.setdefault(evidence.source, []).append(evidence)
    if by_source:
        yield ""
        yield f"counted elsewhere (predicted here: {_percent(result.total.low, result.total.high)})"
    for source, found in by_source.items():
        span = f"{found[0].at_s:,.0f}..{found[-1].at_s:,.0f} s"
        yield f"  {source}, {span}: {', '.join(_counted(found)) or 'nothing about hits'}"


def _counted(found: Sequence[Evidence]) -> Iterator[str]:
    for part, whole, unit in (("hits", "queries", "tokens"), ("prefix_hits", "prefix_lookups", "requests")):
        asked = sum(e.values.get(whole, 0) for e in found)
        if asked:
            hits = sum(e.values.get(part, 0) for e in found)
            yield f"{hits / asked:.1%} hits ({count(round(hits))} of {count(round(asked))} {unit})"
    rates = [e.values["hit_rate"] for e in found if "hit_rate" in e.values]
    if rates:
        yield f"hit rate {rates[-1]:.1%} at the end"
    for name, label in (("usage", "KV cache full to"), ("memory_gib", "GPU memory")):
        values = [e.values[name] for e in found if name in e.values]
        if values:
            yield f"{label} {max(values):.0%}" if name == "usage" else f"{label} {max(values):.1f} GiB at most"


def _settings(result: ReplayResult) -> Iterator[str]:
    if not result.settings:
        return
    yield ""
    yield f"what each setting of [prefix_cache] does{'hit rate':>17}{'plateau':>16}{'disk reads':>16}"
    for p in result.settings:
        name = f"{p.setting} = {p.value}" if p.value else p.setting
        row = f"  {name:<38}{p.rate.high:>16.1%}{count(p.plateau_tokens):>16}{count(p.disk_read_tokens):>16}"
        yield row
    yield "  in tokens; each line changes one setting"


def _sweep(result: ReplayResult) -> Iterator[str]:
    setting = result.sweep[0].setting
    ceiling = any(p.ceiling is not None for p in result.sweep)
    disk = any(p.disk_read_tokens for p in result.sweep)
    head = f"{setting:>20}{'hit rate':>18}{'hit tokens':>16}{'plateau':>14}"
    yield head + (f"{'optimum':>10}" if ceiling else "") + (f"{'disk reads':>14}" if disk else "")
    for p in result.sweep:
        row = f"{p.value:>20}{_percent(p.rate.low, p.rate.high):>18}{count(p.rate.hit_high):>16}"
        row += f"{count(p.plateau_tokens):>14}"
        row += f"{p.ceiling:>10.1%}" if p.ceiling is not None else " " * 10 if ceiling else ""
        yield row + (f"{count(p.disk_read_tokens):>14}" if disk else "")
    yield "  unit: tokens, each request weighted by its length; plateau: tokens held at most"


def _checklist(result: ReplayResult) -> Iterator[str]:
    if not result.checklist:
        return
    yield ""
    yield "what to look at, in this order"
    for number, check in enumerate(result.checklist, 1):
        mark = "->" if check.matters else "ok"
        yield f"  {number}. {mark} {check.title}: {check.text}"
