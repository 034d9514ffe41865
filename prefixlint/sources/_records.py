"""Walk over the JSON records of an input: JSON lines, one document, an array, or documents one behind the other."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from prefixlint.errors import InputError
from prefixlint.model import Span
from prefixlint.sources import _csv, _json
from prefixlint.sources._head import Head
from prefixlint.sources._stream import BOM, Input, Line, wide_encoding


class Record(NamedTuple):
    """Hold one JSON object of an input with its place; bytes count in the decompressed file."""

    members: _json.Members
    path: str
    start_byte: int
    end_byte: int
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def span(self, number: int) -> Span:
        """Return the place as that of the request ``number`` of the file."""
        return Span(
            self.path, number, self.start_byte, self.end_byte, self.line, self.column, self.end_line, self.end_column
        )

    def error(self, message: str) -> InputError:
        """Build an error at this place."""
        return InputError(message, path=self.path, line=self.line, column=self.column)


def records(source: Input, *, lists: tuple[str, ...] = ()) -> Iterator[Record | InputError]:
    """Yield every record of an input; ``lists`` names members of a document whose arrays hold the records."""
    kind = source.kind or Head(source).kind
    if kind == "json":
        yield from _document(source, lists)
    elif kind == "csv":
        for row in _csv.rows(source):
            yield row if isinstance(row, InputError) else Record(row[3], source.path, row[1], row[2], row[0])
    else:
        yield from json_lines(source)


def json_lines(source: Input) -> Iterator[Record | InputError]:
    """Yield the record of every line that is not blank; a broken line is an InputError with its place."""
    for line in source.lines():
        data = line.data
        if not data or data.isspace():
            continue
        try:
            bad = _json.invalid_utf8(data)
            if bad is not None:
                raise _json.BrokenJsonError("invalid UTF-8", bad)
            members = _json.members(data)
        except _json.BrokenJsonError as error:
            yield broken_line(source.path, line, error)
            continue
        end = len(data) - 1 if data.endswith(b"\r") else len(data)
        yield Record(members, source.path, line.start_byte, line.start_byte + end, line.number)


def broken_line(path: str, line: Line, error: _json.BrokenJsonError) -> InputError:
    """Describe a broken line; columns count code points from 1."""
    if wide_encoding(line.data):
        return InputError("the file is UTF-16; convert it to UTF-8", path=path, line=line.number, column=1)
    if not line.data.strip(b"\0 \t\r"):
        return InputError("the line holds only NUL bytes", path=path, line=line.number, column=1)
    column = len(line.data[: error.byte].decode("utf-8", "replace")) + 1
    return InputError(f"broken JSON: {error.message}", path=path, line=line.number, column=column)


def inside(source: Input, *path: str) -> Iterator[Record | InputError]:
    """Yield the elements of an array that lies deeper in one document, as records."""
    data = source.data()
    start = len(data) - len(data.removeprefix(BOM).lstrip())
    body = data[start:]
    try:
        for key in path:
            at = place_of(body, key)
            start += at
            body = body[at:]
            body = body[: _json.skip(body, 0)]
        places = Places(data)
        for a, b in _json.places(body):
            yield _record(source.path, data, places, start + a, start + b)
    except _json.BrokenJsonError as error:
        line, column = Places(data).of(start + error.byte)
        yield InputError(f"broken JSON: {error.message}", path=source.path, line=line, column=column)


def _document(source: Input, lists: tuple[str, ...]) -> Iterator[Record | InputError]:
    data = source.data()
    skip = 3 if data.startswith(BOM) else 0
    bad = _json.invalid_utf8(data)
    if bad is not None:
        line, column = Places(data).of(bad)
        yield InputError("invalid UTF-8", path=source.path, line=line, column=column)
        return
    start = skip + len(data[skip:]) - len(data[skip:].lstrip())
    yield from _objects(source.path, data, start, lists)


def _objects(path: str, data: bytes, start: int, lists: tuple[str, ...]) -> Iterator[Record | InputError]:
    places = Places(data)
    try:
        for begin, end in _ranges(data, start, lists):
            yield _record(path, data, places, begin, end)
    except _json.BrokenJsonError as error:
        line, column = places.of(error.byte)
        yield InputError(f"broken JSON: {error.message}", path=path, line=line, column=column)


def _record(path: str, data: bytes, places: Places, begin: int, end: int) -> Record | InputError:
    line, column = places.of(begin)
    if data[begin : begin + 1] != b"{":
        return InputError("expected an object", path=path, line=line, column=column)
    end_line, end_column = places.of(end)
    return Record(_json.members(data[begin:end]), path, begin, end, line, column, end_line, end_column)


def _ranges(data: bytes, start: int, lists: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of the records of a document, or of several that follow one another."""
    for begin, end in _json.documents(data, start):
        body = data[begin:end]
        if body.startswith(b"["):
            yield from ((begin + a, begin + b) for a, b in _json.places(body))
            continue
        members = _json.members(body) if lists else {}
        listed = next((key for key in lists if members.get(key, b"").startswith(b"[")), None)
        if listed is None:
            yield begin, end
            continue
        at = begin + place_of(body, listed)
        yield from ((at + a, at + b) for a, b in _json.places(members[listed]))


def place_of(data: bytes, key: str) -> int:
    """Return the byte at which the value of a member of an object starts."""
    for name, start, _ in _json.member_places(data):
        if name == key:
            return start
    raise _json.BrokenJsonError(f"{key!r} is missing", 0)


class Places:
    """Convert byte offsets of a text to lines and columns, both from 1, columns in code points."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *(m.end() for m in re.finditer(rb"\n", data))]

    def of(self, byte: int) -> tuple[int, int]:
        """Return line and column of a byte; a byte order mark takes no column."""
        line = bisect_right(self._starts, byte)
        before = self._data[self._starts[line - 1] : byte]
        return line, len(before.removeprefix(BOM).decode("utf-8", "replace")) + 1
