"""Split JSON into raw slices without decoding it, and say where broken JSON breaks."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # there since 2.6, absent from typeshed
from typing import cast

import msgspec

from prefixlint.model import Json

Members = dict[str, bytes]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_GAP = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
# NaN and the infinities are no JSON, but Python's json writes them and loggers use it.
_SCALAR = re.compile(
    rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9.eE+\-])|(?:true|false|null|NaN|-?Infinity)\b"
)
_VALIDATE_BYTES = 1 << 22


class BrokenJsonError(ValueError):
    """Say what is wrong with a JSON text and at which byte; ``truncated`` when it just ends too early."""

    def __init__(self, message: str, byte: int, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.byte = byte
        self.truncated = truncated


def members(data: bytes) -> Members:
    """Map each member of an object to the raw bytes of its value, in document order; of duplicates the last counts.

    Raises BrokenJsonError. One pass of msgspec over the bytes; what msgspec refuses but people have in logs (lone
    surrogates, NaN, nesting deeper than the C stack allows) goes through the slower scanner.
    """
    try:
        return {key: bytes(raw) for key, raw in _OBJECT.decode(data).items()}
    except (msgspec.DecodeError, RecursionError):
        return {key: data[start:end] for key, start, end in member_places(data)}


def items(data: bytes) -> list[bytes]:
    """Return the raw bytes of each element of an array. Raises BrokenJsonError."""
    try:
        return [bytes(raw) for raw in _ARRAY.decode(data)]
    except (msgspec.DecodeError, RecursionError):
        return [data[start:end] for start, end in _scan_array(data)]


def places(data: bytes) -> list[tuple[int, int]]:
    """Return the byte range of each element of an array. Raises BrokenJsonError."""
    return list(_scan_array(data))


def documents(data: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the byte range of each of the values that follow one another. Raises BrokenJsonError."""
    at = _gap(data, start)
    while at < len(data):
        end = skip(data, at)
        yield at, end
        at = _gap(data, end)


def loads(data: bytes) -> Json:
    """Decode a whole value; lone surrogates survive. Raises BrokenJsonError."""
    try:
        return _ANY.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), strict=False)
    except json.JSONDecodeError as error:
        _finish(data, skip(data, _gap(data, 0)))  # our own scanner says better where it breaks
        byte = len(error.doc[: error.pos].encode("utf-8", "surrogatepass"))
        raise BrokenJsonError(_lower(error.msg), byte) from error
    except UnicodeDecodeError as error:
        raise BrokenJsonError("invalid UTF-8", error.start) from error
    except RecursionError:
        raise BrokenJsonError("nested too deeply to decode", 0) from None


def text(raw: bytes | None) -> str | None:
    """Decode a JSON string; None when the value is no string."""
    if raw is None or not raw.startswith(b'"'):
        return None
    if b"\\" not in raw and raw.endswith(b'"'):
        return raw[1:-1].decode("utf-8", "replace")
    value = loads(raw)
    return value if isinstance(value, str) else None


def number(raw: bytes | None) -> float | None:
    """Decode a JSON number; None when the value is none."""
    if not raw or raw[0] not in b"-0123456789":
        return None
    value = float(raw)
    return value if value - value == 0 else None


def integer(raw: bytes | None) -> int | None:
    """Decode a JSON number as an integer (``12.0`` counts); None when it is none."""
    value = number(raw)
    return None if value is None else int(value)


def is_object(raw: bytes | None) -> bool:
    """Tell whether a raw value is an object."""
    return raw is not None and raw.startswith(b"{")


def is_array(raw: bytes | None) -> bool:
    """Tell whether a raw value is an array."""
    return raw is not None and raw.startswith(b"[")


def child(raw: bytes | None, *path: str) -> bytes | None:
    """Follow object keys into a raw value; a string that holds JSON is looked into. None when a step is missing."""
    for key in path:
        inner = opened(raw)
        if inner is None:
            return None
        raw = inner.get(key)
    return raw


def opened(raw: bytes | None) -> Members | None:
    """Return the members of a raw object, or of the object inside a JSON string; None when it is neither."""
    if raw is None:
        return None
    try:
        raw = unquoted(raw)
        return members(raw) if raw.startswith(b"{") else None
    except BrokenJsonError:
        return None


def unquoted(raw: bytes) -> bytes:
    """Return the JSON inside a JSON string (one level), else the value unchanged."""
    if not raw.startswith(b'"') or len(raw) < 4 or raw[1:].lstrip()[:1] not in b"{[":
        return raw
    inner = text(raw) or ""
    return inner.encode("utf-8", "surrogatepass").strip()


def dumps(value: Json) -> bytes:
    """Encode a value that we built; key order is kept."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError, RecursionError):
        return json.dumps(value, separators=(",", ":")).encode()


def joined(values: list[bytes]) -> bytes:
    """Build a raw array of raw values."""
    return b"[" + b",".join(values) + b"]"


def invalid_utf8(data: bytes) -> int | None:
    """Return the place of the first byte that is no UTF-8, None when all is well; memory stays small."""
    if data.isascii():
        return None
    if len(data) <= _VALIDATE_BYTES:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            return error.start
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _VALIDATE_BYTES):
        chunk = data[start : start + _VALIDATE_BYTES]
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk, final=start + _VALIDATE_BYTES >= len(data))
        except UnicodeDecodeError as error:
            return start - held + error.start
    return None


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def member_places(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end byte of each member's value of an object. Raises BrokenJsonError."""
    at = _gap(data, 0)
    if data[at : at + 1] != b"{":
        raise BrokenJsonError("expected an object" if at < len(data) else "no value", at)
    at = _gap(data, at + 1)
    while data[at : at + 1] != b"}":
        end = _string(data, at)
        key = cast(str, scanstring(_decoded(data, at, end), 1)[0])
        at = _gap(data, _expect(data, _gap(data, end), b":"))
        end = skip(data, at)
        yield key, at, end
        at = _next(data, end, b"}")
    _finish(data, at + 1)


def _scan_array(data: bytes) -> Iterator[tuple[int, int]]:
    at = _gap(data, 0)
    if data[at : at + 1] != b"[":
        raise BrokenJsonError("expected an array", at)
    at = _gap(data, at + 1)
    while data[at : at + 1] != b"]":
        end = skip(data, at)
        yield at, end
        at = _next(data, end, b"]")
    _finish(data, at + 1)


def _next(data: bytes, end: int, closer: bytes) -> int:
    """Step over the comma behind a value; stay on the closing bracket."""
    at = _gap(data, end)
    if data[at : at + 1] == closer:
        return at
    at = _gap(data, _expect(data, at, b","))
    if data[at : at + 1] == closer:
        raise BrokenJsonError("trailing comma", at)
    return at


def _finish(data: bytes, end: int) -> None:
    at = _gap(data, end)
    if at < len(data):
        raise BrokenJsonError("more text behind the end of the value", at)


def skip(data: bytes, at: int) -> int:
    """Return the end of the value that starts at ``at``, without recursion. Raises BrokenJsonError."""
    stack = bytearray()
    while True:
        opener = data[at : at + 1]
        if opener in (b"{", b"["):
            stack += b"}" if opener == b"{" else b"]"
            at = _gap(data, at + 1)
            if data[at : at + 1] != stack[-1:]:
                at = _key(data, at) if opener == b"{" else at
                continue
        elif opener == b'"':
            at = _string(data, at)
        else:
            at = _scalar(data, at)
        at, done = _close(data, at, stack)
        if done:
            return at


def _close(data: bytes, at: int, stack: bytearray) -> tuple[int, bool]:
    """Close what ends behind a value, and step to the next value where there is one."""
    while stack:
        at = _gap(data, at)
        if data[at : at + 1] == stack[-1:]:
            at += 1
            del stack[-1]
            continue
        closer = bytes(stack[-1:])
        at = _next(data, at, closer)
        return (_key(data, at) if closer == b"}" else at), False
    return at, True


def _key(data: bytes, at: int) -> int:
    return _gap(data, _expect(data, _gap(data, _string(data, at)), b":"))


def _gap(data: bytes, at: int) -> int:
    found = _GAP.match(data, at)
    return found.end() if found else at


def _expect(data: bytes, at: int, mark: bytes) -> int:
    if data[at : at + 1] != mark:
        raise _broken(data, at, f"expected {mark.decode()!r}")
    return at + 1


def _string(data: bytes, at: int) -> int:
    found = _STRING.match(data, at)
    if found:
        return found.end()
    if data[at : at + 1] != b'"':
        raise _broken(data, at, "expected a string")
    bad = re.compile(rb'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+').match(data, at + 1)
    raise _broken(data, bad.end() if bad else at, "invalid character in a string")


def _scalar(data: bytes, at: int) -> int:
    found = _SCALAR.match(data, at)
    if not found:
        raise _broken(data, at, "expected a value")
    return found.end()


def _broken(data: bytes, at: int, message: str) -> BrokenJsonError:
    if at >= len(data.rstrip()):
        return BrokenJsonError("the text ends in the middle of a value", min(at, len(data)), truncated=True)
    return BrokenJsonError(message, at)


def _decoded(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")
