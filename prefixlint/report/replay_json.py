"""Write a replay as JSON, the contract that other programs rely on, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import orjson

from prefixlint.model import CacheRead, ReportOptions
from prefixlint.replays import Point, Rate, ReplayResult

NAME = "json"


def replay_report(result: ReplayResult, options: ReportOptions) -> str:
    """Write version 1: a sweep when one was asked for, else the replay."""
    document = _swept(result) if result.sweep else replay_document(result)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2, default=str).decode() + "\n"


def replay_document(result: ReplayResult) -> dict[str, Any]:
    """Return the document of one replay; ``per_request`` is there when reads were kept."""
    total = result.total
    document: dict[str, Any] = {
        "version": 1,
        "cache": {"name": result.cache, "params": dict(result.params)},
        "unit": "tokens",
        "requests": total.requests,
        "input_tokens": total.input_tokens,
        "hit_tokens_low": total.hit_low,
        "hit_tokens_high": total.hit_high,
        "hit_rate": _rounded(total.high),
        "hit_rate_low": _rounded(total.low),
        "source": {"text": result.source, "as_of": result.as_of},
        "tokenizer": {"name": result.tokenizer, "exact": result.exact_tokens},
        "blame": dict(result.blame),
        "forked_by": dict(result.forked_by),
        "evicted_by": dict(result.evicted_by),
        "tiers": dict(result.tiers),
        "kv_bytes_per_token": result.kv_bytes_per_token,
        "ttft_s": {"mean": result.ttft_s[0], "mean_uncached": result.ttft_s[1]} if result.ttft_s else None,
        "cost": asdict(result.money) if result.money else None,
        "scenarios": [_scenario(s) for s in result.scenarios],
        "sessions": [_rate(r) for r in result.sessions if r.name],
        "consecutive": asdict(result.consecutive) if result.consecutive else None,
        "sites": [{"place": place, "lost_tokens": tokens} for place, tokens in result.sites],
        "observed": [asdict(o) for o in result.observed],
        "samples": [asdict(s) for s in result.samples],
        "settings": [
            {
                "setting": p.setting,
                "value": p.value,
                "hit_rate": _rounded(p.rate.high),
                "plateau_tokens": p.plateau_tokens,
                "disk_read_tokens": p.disk_read_tokens,
            }
            for p in result.settings
        ],
        "evidence": [asdict(e) for e in result.evidence],
        "checklist": [asdict(c) for c in result.checklist],
        "inputs": [asdict(i) for i in result.inputs],
        "notes": list(result.notes),
    }
    if result.reads:
        document["per_request"] = [_read(r, p) for r, p in zip(result.reads, result.paths, strict=True)]
    return document


def _read(read: CacheRead, path: str) -> dict[str, Any]:
    return {
        "record": read.record,
        "path": path,
        "hit_low": read.read_low,
        "hit_high": read.read_high,
        "written": read.written,
        "recomputed": read.recomputed,
        "blame": dict(read.blame),
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "name": rate.name,
        "requests": rate.requests,
        "input_tokens": rate.input_tokens,
        "hit_tokens_low": rate.hit_low,
        "hit_tokens_high": rate.hit_high,
        "hit_rate": _rounded(rate.high),
    }


def _scenario(scenario: Any) -> dict[str, Any]:
    money = asdict(scenario.money) if scenario.money else None
    return {**_rate(scenario.rate), "name": scenario.name, "cost": money, "ttft_s": scenario.ttft_s,
            "note": scenario.note}  # fmt: skip


def _swept(result: ReplayResult) -> dict[str, Any]:
    return {
        "version": 1,
        "cache": {"name": result.cache, "params": dict(result.params)},
        "unit": "tokens",
        "sweep": [_point(p) for p in result.sweep],
        "notes": list(result.notes),
    }


def _point(point: Point) -> dict[str, Any]:
    names, values = point.setting.split(", "), point.value.split(", ")
    settings = {n.replace("-", "_"): _number(v) for n, v in zip(names, values, strict=True)}
    return {
        **settings,
        "hit_rate": _rounded(point.rate.high),
        "hit_rate_low": _rounded(point.rate.low),
        "requests": point.rate.requests,
        "input_tokens": point.rate.input_tokens,
        "hit_tokens_low": point.rate.hit_low,
        "hit_tokens_high": point.rate.hit_high,
        "plateau_tokens": point.plateau_tokens,
        "disk_read_tokens": point.disk_read_tokens,
        "ceiling": None if point.ceiling is None else _rounded(point.ceiling),
    }


def _number(value: str) -> Any:
    try:
        return int(value)
    except ValueError:
        return value


def _rounded(rate: float) -> float:
    return round(rate, 6)


def replay_rows(result: ReplayResult) -> Iterator[list[Any]]:
    """Yield the rows of the CSV form: one per request, or one per point of a sweep."""
    if result.sweep:
        yield ["setting", "value", "hit_rate", "hit_tokens", "input_tokens", "plateau_tokens", "disk_read_tokens"]
        for p in result.sweep:
            yield [p.setting, p.value, _rounded(p.rate.high), p.rate.hit_high, p.rate.input_tokens, p.plateau_tokens,
                   p.disk_read_tokens]  # fmt: skip
        return
    causes = sorted({name for read in result.reads for name in read.blame})
    yield ["path", "record", "hit_low", "hit_high", "written", "recomputed", *causes]
    for read, path in zip(result.reads, result.paths, strict=True):
        yield [path, read.record, read.read_low, read.read_high, read.written, read.recomputed,
               *(read.blame.get(cause, 0) for cause in causes)]  # fmt: skip


def csv_text(result: ReplayResult) -> str:
    """Write the rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(replay_rows(result))
    return out.getvalue()
