"""Read Helicone exports (JSON or JSON lines): the raw body of each request with its answer."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _response, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "helicone"
UNORDERED = True
_NO_PROMPT = "no bodies in this export, only signed_body_url; fetch them, or export with bodies included"


def claims(head: Head) -> bool:
    """Tell whether a record has the export's members."""
    return any("request_id" in r and r.keys() & {"request_body", "signed_body_url"} for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every request."""

    def convert(record: Record) -> Iterator[Request]:
        made = _request(record)
        if made.no_prompt:
            _walk.note_once(source, _NO_PROMPT)
        yield made

    yield from _walk.walk(source, convert, lists=("data", "requests"))


def _request(record: Record) -> Request:
    members = record.members
    body = _json.opened(members.get("request_body")) or {}
    found = _record.find(body)
    address = _json.text(members.get("request_path")) or ""
    properties = {k.lower(): v for k, v in (_json.opened(members.get("request_properties")) or {}).items()}
    held = found.members if found else {}
    return Request(
        id=_json.text(members.get("request_id")) or "",
        provider=_provider.from_url(address) or _provider.provider_of(held),
        span=record.span(0),
        members=held,
        model=_json.text(held.get("model")) or _json.text(members.get("request_model")),
        session=_record.first_text((properties,), ("helicone-session-id", "session_id")),
        at_s=_record.time_of(({"created_at": members.get("request_created_at", b"null")},)),
        usage=_usage_of(members),
        body_pointer="/request_body" + (found.pointer if found else ""),
        no_prompt=found is None,
    )


def _usage_of(members: _json.Members) -> Usage | None:
    """Prefer the provider's own counts; the columns leave cached tokens out for Anthropic only."""
    answer = _response.parse(members.get("response_body", b"null"))
    if answer.usage:
        return answer.usage
    names = ("prompt_tokens", "prompt_cache_read_tokens", "prompt_cache_write_tokens", "completion_tokens")
    counts: dict[str, Json] = {name: _json.integer(members.get(name)) for name in names}
    total, read, write, output = (_usage.count(counts, name) for name in names)
    if total is None:
        return None
    if (_json.text(members.get("provider")) or "").upper() == "ANTHROPIC":
        return _usage.excluding(total, read, write, output)
    return Usage(total, read, write, output)
