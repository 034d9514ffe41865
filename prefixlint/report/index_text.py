"""Write in the terminal what an index says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from prefixlint.display import count, escape, plural
from prefixlint.indexes import Branch, Family, IndexedRequest, IndexReport, Parting
from prefixlint.model import ReportOptions

NAME = "text"
_T = TypeVar("_T")
_WHERE = {"front": "tools and system prompt", "history": "the history", "fresh": "the fresh turn"}


def index_report(report: IndexReport, options: ReportOptions) -> str:
    """Write the totals, then what the verb asks for: partings, hits by family, or branches."""
    lines = [*_inputs(report), *_summary(report)]
    if report.view == "diff":
        lines += _diff(report, options)
    elif report.view == "replay":
        lines += ["", *_table(report, options)]
    else:
        lines += ["", *(_branch(b, report) for b in _top(report.branches, options))]
        lines += _hidden(report.branches, options, "branch")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines) + "\n"


def _top(items: tuple[_T, ...], options: ReportOptions) -> tuple[_T, ...]:
    return items[: options.top] if options.top else items


def _hidden(items: Sequence[object], options: ReportOptions, noun: str) -> list[str]:
    hidden = len(items) - options.top if options.top else 0
    plurals = {"family": "families", "branch": "branches"}
    return (
        [f"  {count(hidden)} more {plurals.get(noun, noun + 's')} not shown; --top 0 shows all"] if hidden > 0 else []
    )


def _inputs(report: IndexReport) -> Iterator[str]:
    total = sum(i.requests for i in report.inputs)
    formats = ", ".join(sorted({i.format for i in report.inputs}))
    yield f"index of {plural(len(report.inputs), 'file')} ({formats}, {plural(total, 'request')})"
    errors = [error for i in report.inputs for error in i.errors]
    yield from (f"  {escape(error)}" for error in errors[:5])
    if len(errors) > 5:
        yield f"  {plural(len(errors) - 5, 'more broken record')} left out"


def _summary(report: IndexReport) -> Iterator[str]:
    sessions = f" in {plural(report.sessions, 'session')}" if report.sessions else ""
    yield f"  {plural(report.requests, 'prompt')}{sessions}, {count(report.bytes)} bytes"
    yield (
        f"  {plural(report.blocks, 'block')} of {report.block_bytes} bytes, {count(report.distinct)} different, "
        f"{count(report.shared_blocks)} of them in several prompts"
    )
    name = "hit by a cache without limits" if report.view == "replay" else "shared with earlier prompts"
    yield f"  {name}  {_share(report.shared_bytes, report.bytes)}  {count(report.shared_bytes)} bytes"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "- %"


def _diff(report: IndexReport, options: ReportOptions) -> Iterator[str]:
    if not report.partings:
        yield "  no prompt parts from an earlier one in its tools, system prompt or history"
    for rank, parting in enumerate(_top(report.partings, options), 1):
        yield ""
        yield from _parting(rank, parting, report, options)
    yield from _hidden(report.partings, options, "parting")
    yield ""
    yield from _table(report, options)
    for family in _top(report.families, options):
        yield from _histogram(family)


def _parting(rank: int, parting: Parting, report: IndexReport, options: ReportOptions) -> Iterator[str]:
    at = parting.position * report.block_bytes
    place = f"at byte {count(at)}" if parting.where == "front" else f"from byte {count(at)} on"
    yield (
        f"  {rank}. family {parting.family}: {plural(parting.requests, 'request')} part in {_WHERE[parting.where]} "
        f"{place}, {count(parting.bytes_behind)} bytes behind it"
    )
    yield f"     {_place(parting.before)} -> {_place(parting.example)}"
    if parting.example.session and not options.redact:
        yield f"     look: prefixlint diff {escape(parting.example.path)} --session {escape(parting.example.session)}"


def _place(request: IndexedRequest) -> str:
    return f"{escape(request.path)} record {request.record} (byte {count(request.start_byte)})"


_COLUMNS = ("family", "model", "requests", "bytes", "shared", "first", "append", "repeat", "front", "history", "fresh")


def _table(report: IndexReport, options: ReportOptions) -> list[str]:
    """Write one row for each family, numbers to the right."""
    rows = [_COLUMNS, *(_row(f) for f in _top(report.families, options))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    lines = []
    for row in rows:
        cells = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  " + "  ".join(cells))
    return [*lines, *_hidden(report.families, options, "family")]


def _row(family: Family) -> tuple[str, ...]:
    numbers = (family.first, family.appended, family.repeated, family.front, family.history, family.fresh)
    share = _share(family.shared_bytes, family.bytes)
    model = escape(family.model) or "-"
    return (family.name, model, count(family.requests), count(family.bytes), share, *map(count, numbers))


def _histogram(family: Family) -> Iterator[str]:
    if family.histogram:
        bars = "  ".join(f"{count(byte)}+: {count(number)}" for byte, number in family.histogram)
        yield f"  {family.name} parts at byte  {bars}"


def _branch(branch: Branch, report: IndexReport) -> str:
    start, end = branch.first_block, branch.first_block + branch.blocks
    span = f"{count(start * report.block_bytes)}..{count(end * report.block_bytes)}"
    return f"  {branch.family}  bytes {span}  x{count(branch.requests)}  {_place(branch.example)}"
