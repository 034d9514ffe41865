"""Draw curves: a few rows of block characters for the terminal, SVG without any library, PNG and PDF by matplotlib."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefixlint.errors import ConfigError
from prefixlint.replays import ReplayResult

_BARS = " ▁▂▃▄▅▆▇█"
_COLORS = ("#2563eb", "#dc2626", "#059669", "#9333ea", "#d97706", "#0891b2")
_W, _H, _LEFT, _TOP, _BOTTOM = 640, 260, 64, 34, 40


@dataclass(frozen=True, slots=True)
class Curve:
    """Hold one named line."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Hold one chart; ``top`` fixes the upper end of the y axis (1 for rates)."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    top: float | None = None
    percent: bool = False


def charts(result: ReplayResult) -> list[Chart]:
    """Choose the charts that a result has points for: hit rate over a sweep, hit rate and memory over time."""
    found = []
    swept = [(p, _number(p.value)) for p in result.sweep]
    if len([n for _, n in swept if n is not None]) > 1:
        rates = tuple((n, p.rate.high) for p, n in swept if n is not None)
        curves = [Curve("predicted", rates)]
        ceiling = tuple((n, p.ceiling) for p, n in swept if n is not None and p.ceiling is not None)
        curves += [Curve("Belady's optimum", ceiling)] if ceiling else []
        found.append(Chart(f"hit rate over {result.sweep[0].setting}", result.sweep[0].setting, "token hit rate",
                           tuple(curves), 1.0, percent=True))  # fmt: skip
    if len(result.samples) > 1:
        found += [_rates(result), _memory(result)]
    return found


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _rates(result: ReplayResult) -> Chart:
    """Hit rate between two samples, beside what the server counted."""
    points, before = [], (0, 0)
    for s in result.samples:
        asked, hit = s.input_tokens - before[0], s.hit_tokens - before[1]
        before = (s.input_tokens, s.hit_tokens)
        if asked:
            points.append((s.at_s, hit / asked))
    curves = [Curve("predicted", tuple(points))]
    counted = tuple((e.at_s, rate) for e in result.evidence if (rate := measured_rate(e.values)) is not None)
    curves += [Curve("counted by the server", counted)] if counted else []
    return Chart("hit rate over time", "seconds", "token hit rate", tuple(curves), 1.0, percent=True)


def measured_rate(values: Iterable[str] | dict[str, float]) -> float | None:
    """Return the hit rate of one piece of evidence."""
    if not isinstance(values, dict):
        values = dict.fromkeys(values, 0.0)
    if "hit_rate" in values:
        return values["hit_rate"]
    for part, whole in (("hits", "queries"), ("prefix_hits", "prefix_lookups")):
        if values.get(whole):
            return values.get(part, 0.0) / values[whole]
    return None


def _memory(result: ReplayResult) -> Chart:
    size = result.kv_bytes_per_token
    scale, unit = (size / 2**30, "GiB") if size else (1.0, "tokens")
    curves = [Curve("held by the cache", tuple((s.at_s, s.held_tokens * scale) for s in result.samples))]
    gpu = tuple((e.at_s, e.values["memory_gib"]) for e in result.evidence if "memory_gib" in e.values)
    if gpu and size:
        curves.append(Curve("GPU memory used", gpu))
    elif gpu:
        curves.append(Curve("GPU memory used (GiB)", gpu))
    return Chart("memory over time", "seconds", unit, tuple(curves))


def terminal(chart: Chart, *, width: int = 60, rows: int = 6) -> list[str]:
    """Draw each curve as rows of block characters, with the ends of both axes."""
    lines = [chart.title]
    xs = [x for curve in chart.curves for x, _ in curve.points]
    low, high = min(xs), max(xs)
    for curve in chart.curves:
        columns = _resampled(curve.points, width, low, high)
        top = chart.top or max(columns, default=0.0) or 1.0
        for row in range(rows - 1, -1, -1):
            cells = "".join(_BARS[max(0, min(8, round((v / top * rows - row) * 8)))] for v in columns)
            label = _axis(top * (row + 1) / rows, percent=chart.percent) if row in (rows - 1, 0) else ""
            lines.append(f"{label:>9} |{cells}")
        ends = f"{_axis(low)} .. {_axis(high)} {chart.x}"
        lines.append(f"{'':>9} +{'-' * width}")
        lines.append(f"{'':>11}{ends}   {curve.name}")
    return lines


def _resampled(points: Sequence[tuple[float, float]], width: int, low: float, high: float) -> list[float]:
    """Return one value per column of the common axis: the last point at or before it, 0 before the first."""
    points = sorted(points)
    step = (high - low) / (width - 1) if high > low else 0.0
    columns, at = [], 0
    for column in range(width):
        x = low + column * step
        while at + 1 < len(points) and points[at + 1][0] <= x + 1e-9:
            at += 1
        columns.append(points[at][1] if points[at][0] <= x + 1e-9 else 0.0)
    return columns


def _axis(value: float, *, percent: bool = False) -> str:
    if percent:
        return f"{value:.0%}"
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"


def write(result: ReplayResult, path: str) -> None:
    """Write all charts of a result to a file; the suffix says how. Raises ConfigError when nothing can be drawn."""
    found = charts(result)
    if not found:
        raise ConfigError("nothing to plot: a curve needs two requests, or a sweep over numbers")
    suffix = Path(path).suffix.lower()
    if suffix in (".svg", ""):
        Path(path).write_text(svg(found), encoding="utf-8")
    elif suffix in (".html", ".htm"):
        page = f"<!doctype html><meta charset=utf-8><title>prefixlint replay</title>{svg(found)}"
        Path(path).write_text(page, encoding="utf-8")
    else:
        _matplotlib(found, path)


def svg(found: Sequence[Chart]) -> str:
    """Draw charts below one another as one SVG."""
    height = _H * len(found)
    parts = [_one(chart, index * _H) for index, chart in enumerate(found)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W} {height}" width="{_W}" height="{height}"'
    style = "<style>text{font:12px sans-serif;fill:#333}.t{font-weight:bold}</style>"
    return f'{head} role="img">{style}<rect width="{_W}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'


def _one(chart: Chart, offset: int) -> str:
    xs = [x for c in chart.curves for x, _ in c.points]
    ys = [y for c in chart.curves for _, y in c.points]
    low, high = min(xs), max(xs)
    top = chart.top or max(ys) or 1.0
    plot_w, plot_h = _W - _LEFT - 20, _H - _TOP - _BOTTOM

    def place(x: float, y: float) -> str:
        across = (x - low) / (high - low) if high > low else 0.0
        return f"{_LEFT + across * plot_w:.1f},{offset + _TOP + plot_h * (1 - min(y / top, 1.0)):.1f}"

    out = [f'<text class="t" x="{_LEFT}" y="{offset + 16}">{html.escape(chart.title)}</text>']
    for part in range(5):
        y = offset + _TOP + plot_h * (1 - part / 4)
        label = _axis(top * part / 4, percent=chart.percent)
        out.append(f'<path d="M{_LEFT} {y:.1f}H{_W - 20}" stroke="#ddd"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        x = _LEFT + plot_w * part / 4
        place_x = _axis(low + (high - low) * part / 4)
        out.append(f'<text x="{x:.1f}" y="{offset + _TOP + plot_h + 16}" text-anchor="middle">{place_x}</text>')
    out.append(f'<text x="{_W - 20}" y="{offset + _H - 8}" text-anchor="end">{html.escape(chart.x)}</text>')
    for number, curve in enumerate(chart.curves):
        color = _COLORS[number % len(_COLORS)]
        line = " ".join(place(x, y) for x, y in curve.points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        x = _LEFT + 150 + number * 170
        out.append(f'<text x="{x}" y="{offset + 16}" style="fill:{color}">{html.escape(curve.name)}</text>')
    return "".join(out)


def _matplotlib(found: Sequence[Chart], path: str) -> None:
    try:
        from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        message = f"{path}: this format needs matplotlib (pip install prefixlint[plot]); .svg needs nothing"
        raise ConfigError(message) from error
    figure = Figure(figsize=(8, 3.2 * len(found)), layout="tight")
    for number, chart in enumerate(found):
        axes = figure.add_subplot(len(found), 1, number + 1)
        for curve in chart.curves:
            axes.plot(*zip(*curve.points, strict=True), label=curve.name)
        axes.set(title=chart.title, xlabel=chart.x, ylabel=chart.y)
        axes.set_ylim(0, chart.top)
        axes.legend()
    figure.savefig(path)
