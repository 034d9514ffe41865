"""Look at the beginning of an input once, so that every format can say whether it is its own."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath

from prefixlint.model import Json
from prefixlint.sources import _csv, _json
from prefixlint.sources._stream import BOM, Input

_LOOK_LINES = 60
_OTLP = frozenset(("resourceSpans", "resource_spans", "resourceLogs", "resource_logs"))
_SPAN = frozenset(("context", "span_id", "spanId", "start_time"))
_WHOLE_BYTES = 1 << 40


class Head:
    """Hold the beginning of an input and what it looks like: ``json``, ``jsonl`` or ``text``."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self.path = source.path
        self.name = PurePath(source.path).name
        self.data = source.peek_line().removeprefix(BOM)

    @cached_property
    def lines(self) -> list[bytes]:
        """Return the first whole lines that are not blank."""
        lines = self.data.split(b"\n")
        if len(self.data) >= 1 << 16 and len(lines) > 1:
            lines.pop()  # cut off where the head ends
        return [line for line in (x.strip() for x in lines) if line][:_LOOK_LINES]

    @cached_property
    def records(self) -> list[_json.Members]:
        """Return the members of the first records: JSON lines, the elements of an array, or the one document."""
        if self._lines_are_records:
            found = [self._first, *map(_members, self.lines[1:])]
            return [m for m in found if m is not None]
        if self.kind == "csv":
            return [row for line in self.lines[:1] if (row := _csv.header_members(line))]
        document = self.document
        if document is None:
            return []
        if document.startswith(b"["):
            return [m for m in map(_members, _json.items(document)[:_LOOK_LINES]) if m is not None]
        members = _members(document)
        return [] if members is None else [members]

    @cached_property
    def values(self) -> list[dict[str, Json]]:
        """Return the first records decoded."""
        return [{k: _json.loads(v) for k, v in record.items()} for record in self.records[:5]]

    @cached_property
    def document(self) -> bytes | None:
        """Return the input when it is one JSON document, the first one of several, else None."""
        if self._lines_are_records or self.data.lstrip()[:1] not in (b"{", b"["):
            return None
        data = self._source.peek(_WHOLE_BYTES).removeprefix(BOM).strip()
        try:
            _json.items(data) if data.startswith(b"[") else _json.members(data)
        except _json.BrokenJsonError:
            return self._first_of_many(data)
        return data

    def _first_of_many(self, data: bytes) -> bytes | None:
        """Return the first of several pretty-printed objects, when it is whole."""
        try:
            start, end = next(_json.documents(data))
        except (_json.BrokenJsonError, StopIteration):
            return None
        rest = data[end:].lstrip()
        return data[start:end] if data.startswith(b"{") and rest.startswith(b"{") else None

    @property
    def kind(self) -> str:
        """Say ``jsonl``, ``csv``, ``json`` or ``text``."""
        if not self._source.kind:
            self._source.kind = self._kind()
        return self._source.kind

    def _kind(self) -> str:
        if self._lines_are_records:
            return "jsonl"
        if self.lines and _csv.is_header(self.lines[0]):
            return "csv"
        return "json" if self.document is not None else "text"

    @cached_property
    def _first(self) -> _json.Members | None:
        return _members(self.lines[0]) if self.lines else None

    @cached_property
    def _lines_are_records(self) -> bool:
        """Tell JSON lines from one document: the first line, or most lines, are whole objects.

        One line alone is taken as a record too; an array that opens on the first line is a document.
        """
        if not self.lines or self.lines[0].startswith(b"["):
            return False
        if self._first is not None:
            return True
        whole = sum(_members(line) is not None for line in self.lines)
        return whole * 2 >= len(self.lines)  # the first line is broken, most others are not

    def seen(self) -> str:
        """Describe the input for somebody whose file is not recognised."""
        if self.records:
            return f"JSON with the members {', '.join(list(self.records[0])[:10]) or '(none)'}"
        start = self.data[:60].decode("utf-8", "replace")
        return f"a file that begins with {start!r}"

    def broken_at(self) -> tuple[str, int, int] | None:
        """Say how JSON that no decoder takes is broken: message, line, column; None when this is no JSON at all."""
        if self.records or self.data.lstrip()[:1] not in (b"{", b"["):
            return None
        data = self._source.peek(_WHOLE_BYTES).removeprefix(BOM)
        bad = _json.invalid_utf8(data)
        message, byte = "invalid UTF-8", bad or 0
        try:
            start = len(data) - len(data.lstrip())
            _json.skip(data, start)
            if bad is None:
                return None
        except _json.BrokenJsonError as error:
            message, byte = f"broken JSON: {error.message}", error.byte
        before = data[:byte]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        return message, before.count(b"\n") + 1, column

    def mentions_attribute(self, *names: bytes) -> bool:
        """Tell whether spans or logs among the first records mention an attribute, without decoding them."""
        found = [r for r in self.records if not _OTLP.isdisjoint(r) or ("attributes" in r and not _SPAN.isdisjoint(r))]
        return any(name in raw for record in found for raw in record.values() for name in names)

    def keys(self) -> set[str]:
        """Return the member names of the first record."""
        return set(self.records[0]) if self.records else set()

    def any_record(self, *names: str) -> bool:
        """Tell whether one of the first records has all of these members."""
        return any(record.keys() >= set(names) for record in self.records)


def _members(line: bytes) -> _json.Members | None:
    if not line.startswith(b"{"):
        return None
    try:
        return _json.members(line)
    except _json.BrokenJsonError:
        return None
