"""Write what ``probe`` measured: a table with the verdict, JSON, a picture, and what a dry run would send."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from prefixlint.api import prices, stats
from prefixlint.api.probe import Sample, Verdict
from prefixlint.api.shots import Shot
from prefixlint.api.wire import PATHS, Endpoint
from prefixlint.display import count, plural

# Counters of hits and queries in tokens: vLLM V1 `/metrics`, SGLang `/metrics` with --enable-metrics.
_COUNTERS = {
    "hits": ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "sglang:cached_tokens_total"),
    "queries": ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "sglang:prompt_tokens_total"),
}
_LINE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{[^}]*\})? ([0-9.eE+-]+)", re.MULTILINE)


def dry_run(where: Endpoint, shots: Sequence[Shot]) -> str:
    """Say what would be sent, how many tokens that is and what it costs at list prices."""
    lines = [f"would send {plural(len(shots), 'request')} to {where.base_url}{PATHS[where.api]}"]
    for purpose in dict.fromkeys(s.purpose for s in shots):
        group = [s for s in shots if s.purpose == purpose]
        lines.append(f"  {purpose:16} {plural(len(group), 'request'):12} {count(sum(s.tokens for s in group))} tokens")
    total = sum(s.tokens for s in shots)
    price = prices.input_price(where.model)
    if price is None:
        return "\n".join([*lines, f"  about {count(total)} input tokens; no price is known for this model"]) + "\n"
    usd = total * price.input / 1e6
    return "\n".join([*lines, f"  about {count(total)} input tokens, at most ${usd:.4f} ({price.as_of})"]) + "\n"


def as_text(where: Endpoint, samples: Sequence[Sample], verdict: Verdict) -> str:
    """Write the table: what was sent, what it took, the split, and the verdict with what to change."""
    lines = [f"{where.base_url} ({where.model}), {plural(len(samples), 'request')} answered", ""]
    lines.append(f"  {'request':16} {'tokens':>7} {'n':>3} {'TTFT ms':>9} {'95 % interval':>17} {'cached':>8}")
    lines += [_row(group) for group in _groups(samples)]
    network, queue, prefill = verdict.network_s, verdict.queue_s, verdict.prefill_s
    lines += [
        "",
        f"  time to first token of {count(verdict.tokens)} tokens, nothing cached: {_ms(network + queue + prefill)} ms",
        f"    network  {_ms(network):>9} ms   (a new connection takes {_ms(verdict.connect_s)} ms more)",
        f"    queue    {_ms(queue):>9} ms",
        f"    prefill  {_ms(prefill):>9} ms   ({_ms(verdict.slope_s_per_ktok)} ms for 1,000 tokens)",
        f"  then {_ms(verdict.tpot_s)} ms for each output token: total = TTFT + TPOT x tokens",
        *_cache_lines(verdict),
        "",
        f"  verdict: {verdict.name}. {verdict.advice}",
    ]
    return "\n".join([*lines, *(f"note: {note}" for note in verdict.notes)]) + "\n"


def _groups(samples: Sequence[Sample]) -> list[list[Sample]]:
    keys = dict.fromkeys((s.shot.purpose, s.shot.tokens) for s in samples)
    pick = [[s for s in samples if (s.shot.purpose, s.shot.tokens) == key] for key in keys]
    return [group for group in pick if group]


def _row(group: list[Sample]) -> str:
    middle, low, high = stats.interval([s.ttft_s for s in group])
    first = group[0]
    tokens = first.answer.usage.input_tokens or first.shot.tokens
    told = [s.answer.usage.cache_read for s in group if s.answer.usage.cache_read is not None]
    cached = count(sorted(told)[len(told) // 2]) if told else "-"
    spread = f"{_ms(low)} - {_ms(high)}"
    return f"  {first.shot.purpose:16} {count(tokens):>7} {len(group):>3} {_ms(middle):>9} {spread:>17} {cached:>8}"


def _cache_lines(verdict: Verdict) -> list[str]:
    if not verdict.miss_s or not verdict.hit_s:
        return []
    told = (
        "not reported by this server" if verdict.cached_share is None else f"{100 * verdict.cached_share:.0f} % of it"
    )
    return [
        f"  same prefix twice: {_ms(verdict.miss_s[0])} ms, then {_ms(verdict.hit_s[0])} ms; read from cache: {told}"
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.1f}"


def as_json(where: Endpoint, samples: Sequence[Sample], verdict: Verdict) -> str:
    """Write every sample and the verdict."""
    document = {
        "version": 1,
        "endpoint": {"base_url": where.base_url, "api": where.api, "model": where.model},
        "samples": [_sample(s) for s in samples],
        "split": {
            "tokens": verdict.tokens,
            "network_s": verdict.network_s,
            "queue_s": verdict.queue_s,
            "prefill_s": verdict.prefill_s,
            "prefill_s_per_1k_tokens": verdict.slope_s_per_ktok,
            "tpot_s": verdict.tpot_s,
            "connect_s": verdict.connect_s,
        },
        "cache": {"miss_s": verdict.miss_s, "hit_s": verdict.hit_s, "cached_share": verdict.cached_share},
        "verdict": {"name": verdict.name, "advice": verdict.advice},
        "notes": list(verdict.notes),
    }
    return json.dumps(document, indent=1) + "\n"


def _sample(sample: Sample) -> dict[str, Any]:
    answer = sample.answer
    return {
        "purpose": sample.shot.purpose,
        "input_tokens": answer.usage.input_tokens,
        "cached_tokens": answer.usage.cache_read,
        "output_tokens": answer.usage.output_tokens,
        "connect_s": answer.connect_s,
        "first_byte_s": answer.first_byte_s,
        "first_token_s": answer.first_token_s,
        "total_s": answer.total_s,
        "cold_connection": answer.cold,
    }


def server_counters(where: Endpoint) -> Mapping[str, float]:
    """Read the prefix-cache counters of vLLM or SGLang at ``/metrics``; empty where there are none."""
    try:
        with urllib.request.urlopen(f"{where.base_url}/metrics", timeout=5) as answer:
            text = answer.read(4_000_000).decode("utf-8", "replace")
    except (urllib.error.URLError, OSError, ValueError):
        return {}
    found: dict[str, float] = {}
    for name, value in _LINE.findall(text):
        for kind, names in _COUNTERS.items():
            if name in names:
                found[kind] = found.get(kind, 0.0) + float(value)
    return found


def counted(before: Mapping[str, float], after: Mapping[str, float], samples: Sequence[Sample]) -> list[str]:
    """Compare the hits that the server counted with those that the answers reported."""
    if "hits" not in before or "hits" not in after:
        return []
    hits = int(after["hits"] - before["hits"])
    told = sum(s.answer.usage.cache_read or 0 for s in samples)
    asked = int(after.get("queries", 0) - before.get("queries", 0))
    return [f"/metrics counted {count(hits)} hit tokens of {count(asked)}, the answers reported {count(told)}"]


def plot(samples: Sequence[Sample], verdict: Verdict) -> str:
    """Draw time to first token over prompt tokens, with the fitted line, as SVG."""
    width, height, pad = 640, 400, 50
    points = [(s.answer.usage.input_tokens or s.shot.tokens, s.ttft_s * 1000, s.shot.purpose) for s in samples]
    top_x = max(x for x, _, _ in points) * 1.05 or 1
    top_y = max(y for _, y, _ in points) * 1.1 or 1

    def at(x: float, y: float) -> tuple[float, float]:
        return pad + x / top_x * (width - 2 * pad), height - pad - y / top_y * (height - 2 * pad)

    marks = []
    for x, y, purpose in points:
        cx, cy = at(x, y)
        colour = {"hit": "#2a9d4a", "miss": "#d1495b", "own": "#8338ec"}.get(purpose, "#30638e")
        marks.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4" fill="{colour}"><title>{purpose} {x}</title></circle>')
    (x1, y1), (x2, y2) = (
        at(0, verdict.network_s * 1000),
        at(top_x, min(top_y, (verdict.network_s + verdict.slope_s_per_ktok * top_x / 1000) * 1000)),
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" style="font:12px sans-serif">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<path d="M{pad} {pad}V{height - pad}H{width - pad}" fill="none" stroke="#555"/>'
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#30638e" stroke-dasharray="5 4"/>'
        f"{''.join(marks)}"
        f'<text x="{pad}" y="{pad - 14}">time to first token, ms (top: {top_y:.0f}); green: a prefix seen before</text>'
        f'<text x="{width - pad}" y="{height - pad + 28}" text-anchor="end">prompt tokens (right: {top_x:.0f})</text>'
        f"</svg>\n"
    )
