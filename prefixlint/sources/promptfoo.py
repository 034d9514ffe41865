"""Read promptfoo results: ``prompt.raw`` is what was sent, a JSON array of messages or a text."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _records, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "promptfoo"


def claims(head: Head) -> bool:
    """Tell whether this is a results document."""
    record = head.records[0] if head.records else {}
    results = _json.opened(record.get("results")) if "evalId" in record else None
    return results is not None and "version" in results


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every result; ``tokenUsage.cached`` is promptfoo's own disk cache, no prefix cache."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    for record in _records.inside(source, "results", "results"):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, _convert)


def _convert(record: Record) -> Iterator[Request | InputError]:
    members = record.members
    raw = _json.child(members.get("prompt"), "raw")
    text = _json.text(raw)
    if text is None:
        yield record.error("'prompt.raw' is missing; is this a promptfoo result?")
        return
    name = _json.text(_json.child(members.get("provider"), "id")) or _json.text(members.get("provider")) or ""
    model = name.rpartition(":")[2] or None
    body = _body(text)
    yield Request(
        id=_json.text(members.get("id")) or "",
        provider=_provider.ANTHROPIC if name.startswith("anthropic:messages") else _provider.provider_of(body),
        span=record.span(0),
        members={"model": _json.dumps(model), **body},
        model=model,
        at_s=_record.time_of((members,)),
        usage=_usage_of(members),
        rebuilt=True,
    )


def _body(text: str) -> _json.Members:
    """Return the body of a prompt: chat messages, a body, or a text that is sent as one user message."""
    data = text.encode("utf-8", "surrogatepass").strip()
    try:
        if data.startswith(b"["):
            _json.items(data)
            return {"messages": data}
        if data.startswith(b"{") and _provider.is_body(_json.members(data)):
            return _json.members(data)
    except _json.BrokenJsonError:
        pass
    return _walk.body(messages=[{"role": "user", "content": text}])


def _usage_of(members: _json.Members) -> Usage | None:
    """Read the provider's counts; an answer from promptfoo's own cache cost nothing."""
    response = _json.opened(members.get("response")) or {}
    counts = _walk.value_of(response.get("tokenUsage"))
    if response.get("cached") == b"true" or not isinstance(counts, dict):
        return None
    total = _usage.count(counts, "prompt")
    return None if total is None else Usage(total, None, None, _usage.count(counts, "completion"))
