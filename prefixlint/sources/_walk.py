"""What the formats share: number the requests of a file, build requests from parts, report what breaks inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from prefixlint.errors import InputError
from prefixlint.model import Json, Request
from prefixlint.sources import _json, _records
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

Item = Request | InputError


def walk(source: Input, convert: Callable[[Record], Iterable[Item]], *, lists: tuple[str, ...] = ()) -> Iterator[Item]:
    """Convert every record of an input into requests, numbered from 0; a fault stays with its record."""
    number = 0
    for record in _records.records(source, lists=lists):
        if isinstance(record, InputError):
            yield record
            continue
        for item in guarded(record, convert):
            if isinstance(item, Request):
                item = numbered(item, number)
                number += 1
            yield item


def guarded(record: Record, convert: Callable[[Record], Iterable[Item]]) -> Iterator[Item]:
    """Run a conversion; what is broken inside a record is an error at the place of the record.

    Converters take members as the format has them. A log may hold a number where an object belongs, anywhere, and
    then the first use of it fails: that is the record's fault, not ours, and must not end the reading.
    """
    try:
        yield from convert(record)
    except _json.BrokenJsonError as error:
        yield record.error(f"broken JSON inside the record: {error.message}")
    except InputError as error:
        yield record.error(error.message)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, RecursionError) as error:
        yield record.error(f"the record has not the shape of its format: {error}")


def counted(items: Iterable[Item]) -> Iterator[Item]:
    """Number the requests of a file from 0."""
    number = 0
    for item in items:
        if isinstance(item, Request):
            item = numbered(item, number)
            number += 1
        yield item


def numbered(request: Request, number: int) -> Request:
    """Return the request as the one with this number in its file; without an id the number is the id."""
    span = request.span if request.span.record == number else replace(request.span, record=number)
    return replace(request, span=span, id=request.id or str(number))


def body(**parts: bytes | Json) -> _json.Members:
    """Build a body from raw and decoded values; None is left out, and keys keep their order."""
    return packed(parts)


def packed(parts: Mapping[str, bytes | Json]) -> _json.Members:
    """Build a body from a mapping of raw and decoded values; None is left out."""
    return {
        key: value if isinstance(value, bytes) else _json.dumps(value)
        for key, value in parts.items()
        if value is not None
    }


def value_of(raw: bytes | None) -> Json:
    """Decode a raw value; JSON inside a string (one level) is decoded too, None stays None."""
    if raw is None or raw == b"null":
        return None
    inner = _json.unquoted(raw)
    try:
        return _json.loads(inner)
    except _json.BrokenJsonError:
        return _json.loads(raw)


def note_once(source: Input, note: str) -> None:
    """Keep a note about the whole input, once."""
    if note not in source.notes:
        source.notes.append(note)
