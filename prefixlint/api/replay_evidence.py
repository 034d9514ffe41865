"""Put server logs, Prometheus text and nvidia-smi CSV beside a replay, on one time axis."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from prefixlint.errors import InputError
from prefixlint.replays import Evidence, ReplayResult

DAY_S = 86_400.0
_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?")
_MONTH_DAY = re.compile(r"(?<!\d)(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?!\d)")
_UPTIME = re.compile(r"^(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) ")  # llama.cpp: minutes.seconds.milliseconds.microseconds
_EPOCH = re.compile(r'(?:ts|time|timestamp)"?\s*[:=]\s*"?(\d{10}(?:\.\d+)?)')
_VLLM = re.compile(r"KV cache usage: ([\d.]+)%, Prefix cache hit rate: ([\d.]+)%")
_SGLANG = re.compile(r"Prefill batch.*?#new-token: (\d+).*?#cached-token: (\d+)(?:.*?token usage: ([\d.]+))?")
_LLAMA_NEW = re.compile(r"new prompt.*?(?:task\.n_tokens|n_prompt_tokens) = (\d+)")
_LLAMA_HIT = re.compile(r"(?:cached n_tokens|n_past) = (\d+)")
_PREFIX_HIT = re.compile(r"prefix_(?:cache_)?hit(_tokens|_rate)?\"?\s*[:=]\s*\"?(true|false|yes|no|[\d.]+)", re.I)
_PROMPT_TOKENS = re.compile(r"(?:prompt_tokens|input_tokens|n_tokens)\"?\s*[:=]\s*(\d+)")
_METRIC = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{[^}]*\})?\s+([-+\d.eE]+|NaN|\+?Inf)(?:\s+(\d+(?:\.\d+)?))?\s*$")
# Prometheus name (without _total) -> what it is here; counters are summed over label sets and turned into rates
_COUNTERS = {
    "vllm:prefix_cache_queries": "queries", "vllm:gpu_prefix_cache_queries": "queries",
    "vllm:prefix_cache_hits": "hits", "vllm:gpu_prefix_cache_hits": "hits",
    "sglang:cached_tokens": "hits", "sglang:prompt_tokens": "queries",
}  # fmt: skip
_GAUGES = {
    "vllm:kv_cache_usage_perc": "usage", "vllm:gpu_cache_usage_perc": "usage", "sglang:token_usage": "usage",
    "sglang:cache_hit_rate": "hit_rate", "llamacpp:kv_cache_usage_ratio": "usage",
}  # fmt: skip

Point = tuple[float | None, dict[str, float]]


def beside(
    result: ReplayResult,
    *,
    server_logs: Sequence[str] = (),
    metrics: Sequence[str] = (),
    gpu_logs: Sequence[str] = (),
) -> ReplayResult:
    """Add the evidence of these files. Raises InputError for a file in which nothing is found."""
    found: list[Evidence] = []
    notes = list(result.notes)
    for paths, read, wanted in (
        (server_logs, server_points, "no line of vLLM, SGLang, llama.cpp or prefix_hit"),
        (metrics, metric_points, "no metric of a prefix cache"),
        (gpu_logs, gpu_points, "no column memory.used"),
    ):
        for path in paths:
            points = list(read(_lines(path)))
            if not points:
                raise InputError(f"{wanted} in it", path=path)
            placed, note = _placed(points, path, result.start_s)
            found += placed
            notes += [note] if note else []
    found.sort(key=lambda e: e.at_s)
    return replace(result, evidence=tuple(found), notes=tuple(notes)) if found else result


def _lines(path: str) -> Iterator[str]:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def _placed(points: list[Point], path: str, start_s: float | None) -> tuple[list[Evidence], str]:
    """Put points on the axis of the replay: seconds since its first request, when both clocks are the same."""
    times = [t for t, _ in points if t is not None]
    first = min(times, default=0.0)
    same = start_s is not None and bool(times) and first > 1e9 and start_s > 1e9 and abs(first - start_s) < DAY_S
    origin = start_s if same and start_s is not None else first
    placed, last = [], 0.0
    for number, (at_s, values) in enumerate(points):
        last = at_s - origin if at_s is not None else (last if times else float(number))
        placed.append(Evidence(last, path, values))
    note = "" if same else f"{path}: its clock does not meet the log's; its time starts at its own first line"
    return placed, note


def time_in(line: str, year: int) -> float | None:
    """Return the time that a log line carries, as seconds since 1970, or since the start of the server."""
    if found := _ISO.search(line):
        year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
        fraction = float(f"0.{found[7]}") if found[7] else 0.0
        try:
            at_s = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp() + fraction
        except ValueError:
            return None
        return at_s - _offset_s(found[8])
    if found := _MONTH_DAY.search(line):
        try:
            month, day, hour, minute, second = (int(g) for g in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
        except ValueError:
            return None
    if found := _UPTIME.match(line):
        return int(found[1]) * 60 + int(found[2]) + int(found[3]) / 1e3 + int(found[4]) / 1e6
    found = _EPOCH.search(line)
    return float(found[1]) if found else None


def _offset_s(zone: str | None) -> float:
    if not zone or zone == "Z":
        return 0.0
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return sign * (int(digits[:2]) * 3600.0 + int(digits[2:4]) * 60.0)


def server_points(lines: Iterable[str]) -> Iterator[Point]:
    """Yield what the lines of a server log say: ``hit_rate`` with ``usage``, or ``hits`` of ``queries`` in tokens."""
    year, asked = 1970, 0
    for line in lines:
        if found := _ISO.search(line):
            year = int(found[1])
        values: dict[str, float] = {}
        if found := _VLLM.search(line):
            values = {"usage": float(found[1]) / 100, "hit_rate": float(found[2]) / 100}
        elif found := _SGLANG.search(line):
            new, cached = int(found[1]), int(found[2])
            values = {"hits": cached, "queries": new + cached}
            if found[3]:
                values["usage"] = float(found[3])
        elif found := _LLAMA_NEW.search(line):
            asked = int(found[1])
        elif asked and (found := _LLAMA_HIT.search(line)):
            values, asked = {"hits": int(found[1]), "queries": asked}, 0
        elif found := _PREFIX_HIT.search(line):
            values = _prefix_hit(found[1] or "", found[2].lower(), line)
        if values:
            yield time_in(line, year), values


def _prefix_hit(kind: str, value: str, line: str) -> dict[str, float]:
    """Read a ``prefix_hit`` field: a yes or no, a count of tokens, or a rate."""
    if value in ("true", "yes"):
        return {"prefix_hits": 1.0, "prefix_lookups": 1.0}
    if value in ("false", "no"):
        return {"prefix_hits": 0.0, "prefix_lookups": 1.0}
    number = float(value)
    if kind == "_rate":
        return {"hit_rate": number / 100 if number > 1 else number}
    prompt = _PROMPT_TOKENS.search(line)
    if kind == "_tokens" or number > 1:
        return {"hits": number, **({"queries": float(prompt[1])} if prompt else {})}
    return {"prefix_hits": number, "prefix_lookups": 1.0}


def metric_points(lines: Iterable[str]) -> Iterator[Point]:
    """Yield one point per scrape of Prometheus text; counters become the hits and queries since the scrape before."""
    before: dict[str, float] = {}
    for at_s, sums in _scrapes(lines):
        values: dict[str, float] = {name: sums[name] for name in ("usage", "hit_rate") if name in sums}
        for name in ("hits", "queries"):
            if name in sums:
                values[name] = max(sums[name] - before.get(name, 0.0), 0.0)
                before[name] = sums[name]
        yield at_s, values


def _scrapes(lines: Iterable[str]) -> Iterator[Point]:
    """Group samples into scrapes: a series that comes again begins the next one; a comment may carry the time."""
    at_s: float | None = None
    sums: dict[str, float] = {}
    seen: set[str] = set()
    for line in lines:
        if line.startswith("#") and not line.startswith(("# HELP", "# TYPE")):
            found = time_in(line, 1970)
            if found is not None:
                if sums:
                    yield at_s, sums
                at_s, sums, seen = found, {}, set()
            continue
        match = _METRIC.match(line.strip())
        name = match[1].removesuffix("_total") if match else ""
        if match is None or not (name in _COUNTERS or name in _GAUGES) or match[2] in ("NaN", "Inf", "+Inf"):
            continue
        series = line.split(" ")[0]
        if series in seen:
            yield at_s, sums
            sums, seen = {}, set()
        seen.add(series)
        if match[3]:
            stamp = float(match[3])
            at_s = stamp / 1000 if stamp > 1e11 else stamp
        key = _COUNTERS.get(name) or _GAUGES[name]
        number = float(match[2])
        sums[key] = sums.get(key, 0.0) + number if name in _COUNTERS else number
    if sums:
        yield at_s, sums


def gpu_points(lines: Iterable[str]) -> Iterator[Point]:
    """Yield the memory used over time from the CSV of ``nvidia-smi --query-gpu=timestamp,memory.used --format=csv``.

    Several GPUs at one time are added up. Without a header the column with ``MiB`` counts.
    """
    rows = csv.reader(lines, skipinitialspace=True)
    memory: int | None = None
    together: dict[float | None, float] = {}
    for number, row in enumerate(rows):
        if not row:
            continue
        header = [cell.strip().lower() for cell in row]
        if any("memory.used" in cell for cell in header):
            memory = next(i for i, cell in enumerate(header) if "memory.used" in cell)
            continue
        column = memory if memory is not None else next((i for i, c in enumerate(header) if c.endswith("mib")), None)
        if column is None or column >= len(row):
            continue
        used = re.match(r"[\d.]+", row[column].strip())
        if used:
            at_s = time_in(",".join(row), 1970)
            key = at_s if at_s is not None else -1.0 - number
            together[key] = together.get(key, 0.0) + float(used[0]) / 1024
    for at, gib in together.items():
        yield (at if at is not None and at >= 0 else None), {"memory_gib": gib}
