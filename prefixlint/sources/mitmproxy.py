"""Read mitmproxy flow files: one tnetstring after the other (https://tnetstrings.info), without mitmproxy."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Span
from prefixlint.sources import _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "mitmproxy"
_MAX_DIGITS = 12


def claims(head: Head) -> bool:
    """Tell whether the file begins with the length of a dictionary that has a flow's members."""
    digits, colon, rest = head.data[:_MAX_DIGITS].partition(b":")
    return bool(colon) and digits.isdigit() and bool(rest) and b":version;" in head.data and b":type;" in head.data


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the HTTP flows that call a model, one flow in memory at a time."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    for start, data, problem in _values(source):
        if problem:
            yield InputError(f"{problem} at byte {start}; the rest of the file is lost", path=source.path)
            return
        try:
            flow, _ = _parse(data, 0)
        except (ValueError, IndexError, UnicodeDecodeError, RecursionError) as error:
            yield InputError(f"broken flow at byte {start}: {error}", path=source.path)
            continue
        made = _request(flow, Span(source.path, 0, start, start + len(data))) if isinstance(flow, dict) else None
        if made:
            yield made


def _values(source: Input) -> Iterator[tuple[int, bytes, str]]:
    """Yield place and bytes of each top-level tnetstring, or a problem that ends the file."""
    buffer, start = bytearray(), 0
    chunks = source.chunks()
    while True:
        size = _size(buffer)
        if size and len(buffer) >= size:
            yield start, bytes(buffer[:size]), ""
            del buffer[:size]
            start += size
            continue
        if size is None and len(buffer) > _MAX_DIGITS:
            yield start, b"", "no tnetstring"
            return
        chunk = next(chunks, b"")
        if not chunk:
            break
        buffer += chunk
    if buffer:
        yield start, b"", "the last flow is cut off"


def _size(buffer: bytearray) -> int | None:
    """Return the length of the tnetstring at the front with its head and mark; None while it is unknown."""
    digits, colon, _ = bytes(buffer[:_MAX_DIGITS]).partition(b":")
    return len(digits) + 2 + int(digits) if colon and digits.isdigit() else None


def _parse(data: bytes, at: int) -> tuple[Json, int]:
    colon = data.index(b":", at, at + _MAX_DIGITS)
    start = colon + 1
    end = start + int(data[at:colon])
    mark = data[end : end + 1]
    if not mark:
        raise ValueError("cut off")
    return _value(mark, data, start, end), end + 1


def _value(mark: bytes, data: bytes, start: int, end: int) -> Json:
    raw = data[start:end]
    if mark == b",":
        return raw
    if mark == b";":
        return raw.decode("utf-8")
    if mark == b"#":
        return int(raw)
    if mark == b"^":
        return float(raw)
    if mark == b"!":
        return raw == b"true"
    if mark == b"~":
        return None
    if mark not in (b"]", b"}"):
        raise ValueError(f"unknown type {mark!r}")
    values = []
    at = start
    while at < end:
        value, at = _parse(data, at)
        values.append(value)
    return values if mark == b"]" else dict(zip(values[::2], values[1::2], strict=True))


def _request(flow: dict[Json, Json], span: Span) -> Request | None:
    from prefixlint.sources import _http

    request, response = flow.get("request"), flow.get("response")
    if flow.get("type") != "http" or not isinstance(request, dict):
        return None
    response = response if isinstance(response, dict) else {}
    headers = _headers(request)
    host = _text(request.get("host")) or headers.get("host", "")
    return _http.exchange(
        url=f"{_text(request.get('scheme'))}://{host}{_text(request.get('path'))}",
        headers=headers,
        sent=_content(request, headers),
        answered=_content(response, _headers(response)),
        at_s=request.get("timestamp_start"),
        span=span,
        pointer="",
    )


def _headers(message: dict[Json, Json]) -> dict[str, str]:
    return {_text(pair[0]).lower(): _text(pair[1]) for pair in message.get("headers") or [] if len(pair) == 2}


def _content(message: dict[Json, Json], headers: dict[str, str]) -> bytes:
    from prefixlint.sources import _http

    content = message.get("content")
    return _http.decompressed(content, headers.get("content-encoding", "")) if isinstance(content, bytes) else b""


def _text(value: Json) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value or "")
