"""Read Langfuse observations (JSON, JSON lines or CSV export, blob storage)."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "langfuse"
UNORDERED = True
_TYPES = {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
_COLUMNS = frozenset(
    ("usageDetails", "usage_details", "modelParameters", "model_parameters", "startTime", "start_time")
)
_NO_PROMPT = "observations without input; check the masking of the Langfuse client"


def claims(head: Head) -> bool:
    """Tell whether a record is a Langfuse observation."""
    return any(_is_observation(r, head.kind) for r in head.records)


def _is_observation(record: _json.Members, kind: str) -> bool:
    if not (_get(record, "traceId") or "modelParameters" in record) or "type" not in record:
        return False
    known = kind == "csv" or (_json.text(record["type"]) or "").upper() in _TYPES
    return known and not _COLUMNS.isdisjoint(record)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every generation; spans and events are left out."""

    def convert(record: Record) -> Iterator[Request]:
        members = record.members
        if (_json.text(members.get("type")) or "").upper() != "GENERATION":
            return
        body, truncated = _body(members)
        if not body:
            _walk.note_once(source, _NO_PROMPT)
        yield Request(
            id=_json.text(members.get("id")) or "",
            provider=_provider.provider_of(body),
            span=record.span(0),
            members=body,
            model=_json.text(members.get("model") or members.get("providedModelName")),
            session=_record.first_text((members,), ("sessionId", "session_id")),
            at_s=_record.time_of(({"startTime": _get(members, "startTime") or b"null"},)),
            usage=_usage_of(members),
            truncated=truncated,
            no_prompt=not body,
            rebuilt=True,
        )

    yield from _walk.walk(source, convert, lists=("data", "observations"))


def _get(members: _json.Members, name: str) -> bytes | None:
    """Return a member by its camelCase name, or its snake_case name as blob storage exports have it."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return members.get(name) or members.get(snake)


def _body(members: _json.Members) -> tuple[_json.Members, bool]:
    """Build the body; ``input`` is an array of messages, an object with them, or text, possibly as JSON in a string."""
    given = _json.unquoted(members.get("input", b"null"))
    parameters = _json.opened(_get(members, "modelParameters")) or {}
    tools = _tools(_get(members, "toolDefinitions")) or parameters.pop("tools", None)
    settings = {"model": members.get("model") or b"null", **parameters, **({"tools": tools} if tools else {})}
    if given.startswith(b"{"):
        inner = _json.opened(given)
        if inner and _provider.is_body(inner):
            return {**settings, **inner}, False
        return {**settings, "messages": b'[{"role":"user","content":%s}]' % _quoted(given)}, inner is None
    if given.startswith(b"["):
        return {**settings, "messages": given}, False
    if given.startswith(b'"') and len(given) > 2:
        return {**settings, "prompt": given}, (_json.text(given) or "").lstrip()[:1] in ("[", "{")
    return {}, False


def _quoted(raw: bytes) -> bytes:
    return _json.dumps(raw.decode("utf-8", "surrogatepass"))


def _tools(raw: bytes | None) -> bytes | None:
    """Return tool definitions: an array, or an object of name to definition (each a JSON string)."""
    value = _walk.value_of(raw)
    if isinstance(value, dict):
        value = [_walk.value_of(_json.dumps(v)) for v in value.values()]
    return _json.dumps(value) if isinstance(value, list) and value else None


def _usage_of(members: _json.Members) -> Usage | None:
    """Read ``usageDetails``: ``input`` leaves out what has a key of its own, unless the total says otherwise."""
    details = _walk.value_of(_get(members, "usageDetails")) or _walk.value_of(members.get("usage"))
    if not isinstance(details, dict) or not details:
        return None
    output = sum(v for k, v in details.items() if k.startswith("output") and isinstance(v, int))
    read = _usage.count(details, "input_cached_tokens", "input_cache_read", "cache_read_input_tokens", "input_cached")
    write = _usage.count(details, "input_cache_creation", "cache_creation_input_tokens", "input_cache_write")
    total = _usage.count(details, "total")
    fresh = _usage.count(details, "input", "prompt_tokens")
    if fresh is None:
        return None
    every = sum(v for k, v in details.items() if (k.startswith(("input", "cache_"))) and isinstance(v, int))
    whole = fresh if total is not None and total - output == fresh else every
    return Usage(max(whole, fresh), read, write, output)
