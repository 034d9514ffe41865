"""Read HAR captures (browser tools, mitmproxy, Charles): ``postData.text`` is the body as it was sent."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _record, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "har"


def claims(head: Head) -> bool:
    """Tell whether this is a document with ``/log/entries``."""
    log = _json.opened(head.records[0].get("log")) if head.records else None
    return log is not None and _json.is_array(log.get("entries"))


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the entries that call a model; others (pages, images, token refreshes) are left out."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    left_out = 0
    for record in _records.inside(source, "log", "entries"):
        if isinstance(record, InputError):
            yield record
            continue
        made = list(_walk.guarded(record, _entry))
        left_out += not made
        yield from made
    if left_out:
        _walk.note_once(source, f"{left_out} entries are no model requests")


def _entry(record: _records.Record) -> Iterator[Request]:
    from prefixlint.sources import _http

    request = _json.opened(record.members.get("request")) or {}
    content = _json.opened(_json.child(record.members.get("response"), "content")) or {}
    sent = _json.opened(request.get("postData")) or {}
    body = (_json.text(sent.get("text")) or "").encode("utf-8", "surrogatepass")
    if _json.text(sent.get("encoding")) == "base64":
        body = _http.unbase64(body.decode())
    answered = _json.text(content.get("text")) or ""
    encoded = _json.text(content.get("encoding")) == "base64"
    made = _http.exchange(
        url=_json.text(request.get("url")) or "",
        headers=_headers(request.get("headers")),
        sent=body,
        answered=_http.unbase64(answered) if encoded else answered.encode("utf-8", "surrogatepass"),
        at_s=_record.time_of(({k: v for k, v in record.members.items() if k == "startedDateTime"},)),
        span=record.span(0),
        pointer="/request/postData/text",
    )
    if made:
        yield made


def _headers(raw: bytes | None) -> dict[str, str]:
    pairs = _json.loads(raw) if raw and raw.startswith(b"[") else []
    return {str(p["name"]): str(p.get("value", "")) for p in pairs if isinstance(p, dict) and "name" in p}
