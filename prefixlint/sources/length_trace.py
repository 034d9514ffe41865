"""Read traces of lengths and times only, as CSV: Azure LLM inference traces and BurstGPT."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _walk, _when
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "length-trace"
_NOTE = "this trace holds lengths and times only; no prefixes can be compared"
_AZURE = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
_BURST = ("Timestamp", "Request tokens", "Response tokens")


def claims(head: Head) -> bool:
    """Tell whether the columns are those of a known data set."""
    return head.kind == "csv" and (head.any_record(*_AZURE) or head.any_record(*_BURST))


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request without a prompt for each row."""
    _walk.note_once(source, _NOTE)

    def convert(record: Record) -> Iterator[Request]:
        row = record.members
        names = _AZURE if "ContextTokens" in row else _BURST
        time, given, output = (_json.text(row.get(name)) for name in names)
        usage = Usage(_whole(given), None, None, _whole(output))
        model = _json.text(row.get("Model"))
        yield Request("", NAME, record.span(0), model=model, at_s=_when.seconds(time), usage=usage, no_prompt=True)

    yield from _walk.walk(source, convert)


def _whole(value: str | None) -> int | None:
    return int(value) if value and value.strip().isdigit() else None
