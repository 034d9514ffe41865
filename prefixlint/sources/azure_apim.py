"""Read Azure API Management LLM logs: the body of a request is spread over rows of one ``CorrelationId``."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "azure-apim"
UNORDERED = True
_MAX_OPEN = 2_000
_NO_PROMPT = "no messages in these rows; turn on logging of prompts in the API's LLM diagnostic settings"


def claims(head: Head) -> bool:
    """Tell whether a record is a row of the LLM log table."""
    return any({"CorrelationId", "SequenceNumber"} <= _row(r).keys() for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each correlation id."""
    yield from _walk.counted(_read(source))


def _row(members: _json.Members) -> _json.Members:
    """Look one level down: Event Hub puts the columns into ``properties``."""
    inner = _json.opened(members.get("properties"))
    return {**members, **inner} if inner and "SequenceNumber" in inner else members


def _read(source: Input) -> Iterator[Request | InputError]:
    waiting: dict[str, list[tuple[Record, _json.Members]]] = {}
    for record in _records.records(source, lists=("records", "value", "data")):
        if isinstance(record, InputError):
            yield record
            continue
        row = _row(record.members)
        waiting.setdefault(_json.text(row.get("CorrelationId")) or "", []).append((record, row))
        if len(waiting) > _MAX_OPEN:
            yield _request(source, waiting.pop(next(iter(waiting))))
    for rows in waiting.values():
        yield _request(source, rows)


def _request(source: Input, rows: list[tuple[Record, _json.Members]]) -> Request:
    rows = sorted(rows, key=lambda r: _json.integer(r[1].get("SequenceNumber")) or 0)
    record, first = rows[0]
    text = "".join(_json.text(row.get("RequestMessages")) or "" for _, row in rows)
    members, truncated = _body(text)
    if not members:
        _walk.note_once(source, _NO_PROMPT)
    model = _json.text(first.get("ModelName")) or _json.text(first.get("DeploymentName"))
    return Request(
        id=_json.text(first.get("CorrelationId")) or "",
        provider=_provider.CHAT,
        span=record.span(0),
        members={"model": _json.dumps(model), **members} if members else {},
        model=model,
        at_s=_record.time_of(({"time": first.get("TimeGenerated") or first.get("time") or b"null"},)),
        usage=_usage_of([row for _, row in rows]),
        truncated=truncated,
        no_prompt=not members,
        rebuilt=True,
    )


def _body(text: str) -> tuple[_json.Members, bool]:
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        return {}, False
    try:
        _json.items(data)
    except _json.BrokenJsonError:  # a row is missing
        return _walk.body(messages=[{"role": "user", "content": text}]), True
    return {"messages": data}, False


def _usage_of(rows: list[_json.Members]) -> Usage | None:
    """Read the counts; the table has none for cached tokens."""
    for row in rows:
        total = _json.integer(row.get("PromptTokens"))
        if total:
            return Usage(total, None, None, _json.integer(row.get("CompletionTokens")))
    return None
