"""Read vLLM server logs written with ``--enable-log-requests``.

The best line is the JSON body; then the rendered prompt, a Python repr that ``--max-log-len`` may have cut; at the
level INFO no prompt is logged at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Span
from prefixlint.sources import _json, _provider, _record, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import broken_line
from prefixlint.sources._stream import Input, Line

NAME = "vllm-log"
_NO_PROMPT = "no prompt text in this log; set VLLM_LOGGING_LEVEL=DEBUG besides --enable-log-requests"
_MARK = re.compile(rb"\[(?:request_)?logger\.py:\d+\] (?:Received request|Request) |Engine \d+: Avg prompt throughput")
_BODY = re.compile(rb"\] Request (\S+) JSON body: (?=\{)")
_DETAILS = re.compile(rb"\] (?:Request (\S+) details|Received request (\S+)): prompt: ")
_BARE = re.compile(rb"\] Received request (\S+?):")
_IDS = re.compile(rb"prompt_token_ids: \[([\d, ]*)\]")
_TIME = re.compile(rb"\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
_RATE = re.compile(rb"Prefix cache hit rate: ([\d.]+)%")
_STRING = re.compile(rb"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""")
_REMEMBERED = 100_000


def claims(head: Head) -> bool:
    """Tell whether lines come from vLLM's request logger or its statistics."""
    return head.kind == "text" and bool(_MARK.search(head.data))


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each id, from the best line about it."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    seen: dict[bytes, None] = {}
    written = _written_at(source.path)
    rate = b""
    for line in source.lines():
        if found := _RATE.search(line.data):
            rate = found[1]
        key = _key(line.data)
        if key is None or key in seen:
            continue
        seen[key] = None
        if len(seen) > _REMEMBERED:
            del seen[next(iter(seen))]
        made = _request(source.path, line, key, written)
        if isinstance(made, Request) and made.no_prompt:
            _walk.note_once(source, _NO_PROMPT)
        yield made
    if rate:
        _walk.note_once(source, f"the server's last prefix cache hit rate is {rate.decode()} %")


def _key(data: bytes) -> bytes | None:
    if b"logger.py:" not in data:
        return None
    found = _BODY.search(data) or _DETAILS.search(data) or _BARE.search(data)
    return next(g for g in found.groups() if g) if found else None


def _request(path: str, line: Line, key: bytes, written: datetime | None) -> Request | InputError:
    span = Span(path, 0, line.start_byte, line.start_byte + len(line.data), line.number)
    at_s = _at_s(line.data, written)
    name = key.decode("utf-8", "replace")
    if body := _BODY.search(line.data):
        return _of_body(path, line, span, body.end(), name, at_s)
    details = _DETAILS.search(line.data)
    if details:
        return _of_details(path, line, span, details.end(), name, at_s)
    return Request(name, _provider.RAW, span, at_s=at_s, no_prompt=True)


def _of_body(path: str, line: Line, span: Span, start: int, name: str, at_s: float | None) -> Request | InputError:
    try:
        end = _json.skip(line.data, start)
        members = _json.members(line.data[start:end])
    except _json.BrokenJsonError as error:
        error.byte += start
        return broken_line(path, line, error)
    found = _record.find(members)
    if found is None:
        return Request(name, _provider.RAW, span, at_s=at_s, no_prompt=True)
    model = _json.text(found.members.get("model"))
    return Request(name, _provider.provider_of(found.members), span, found.members, model, at_s=at_s)


def _of_details(path: str, line: Line, span: Span, start: int, name: str, at_s: float | None) -> Request | InputError:
    tokens = _IDS.search(line.data, start)
    ids = [int(i) for i in tokens[1].split(b",") if i.strip()] if tokens else None
    literal = _STRING.match(line.data, start)
    if literal is None:
        if ids:
            return Request(name, _provider.TOKENS, span, at_s=at_s, tokens=ids)
        return Request(name, _provider.RAW, span, at_s=at_s, no_prompt=True)
    try:
        text = ast.literal_eval(literal[0].decode("utf-8"))
    except (SyntaxError, ValueError, UnicodeDecodeError):
        return InputError("the logged prompt is no Python string", path=path, line=line.number, column=start + 1)
    # --max-log-len cuts text and ids to the same number, and a prompt never has as many tokens as characters.
    cut = ids is not None and len(ids) == len(text) > 1
    return Request(name, _provider.RAW, span, text=text, at_s=at_s, truncated=cut)


def _written_at(path: str) -> datetime | None:
    """Return when the file was last written, since its lines have no year."""
    return None if path == "-" else datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)


def _at_s(data: bytes, written: datetime | None) -> float | None:
    """Return the time of a line: the last such day before the file was written (a day more, for time zones)."""
    found = _TIME.search(data)
    if found is None or written is None:
        return None
    month, day, hour, minute, second = (int(g) for g in found.groups())
    try:
        at = datetime(written.year, month, day, hour, minute, second, tzinfo=UTC)
        if at > written + timedelta(days=1):
            at = at.replace(year=written.year - 1)
    except ValueError:
        return None
    return at.timestamp()
