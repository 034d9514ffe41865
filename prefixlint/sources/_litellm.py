"""What LiteLLM's two log forms share."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.model import Json, Request, Usage
from prefixlint.sources import _json, _provider, _record, _response, _usage, _walk
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input


def convert(record: Record, source: Input, no_prompt: str) -> Iterator[Request]:
    """Build the request of one call: the raw body where the proxy kept it, else messages and model parameters."""
    members = record.members
    call = (_json.text(members.get("call_type")) or "").lower()
    if "embedding" in call or "image" in call or "speech" in call or "moderation" in call:
        return
    pointer, body = _body(members)
    found = _provider.candidates(body)
    if not found:
        _walk.note_once(source, no_prompt)
    yield Request(
        id=_record.first_text((members,), ("request_id", "id", "litellm_call_id")) or "",
        provider=found[0] if found else _provider.CHAT,
        span=record.span(0),
        members=body if found else {},
        model=_json.text(members.get("model")),
        session=_session(members),
        at_s=_record.time_of((members,)),
        usage=_usage_of(members),
        body_pointer=pointer,
        no_prompt=not found,
        rebuilt=bool(found) and pointer == "",
    )


def _body(members: _json.Members) -> tuple[str, _json.Members]:
    raw = members.get("proxy_server_request")
    outer = _json.opened(raw) or {}
    inner = _json.opened(outer.get("body"))
    for pointer, body in (("/proxy_server_request/body", inner), ("/proxy_server_request", outer)):
        if body and _provider.is_body(body):
            return pointer, body
    messages = _json.unquoted(members.get("messages", b""))
    parameters = _json.opened(members.get("model_parameters")) or {}
    body = {"model": members.get("model", b'""'), **parameters}
    if messages.startswith(b"["):
        return "", {**body, _key(members, messages): messages}
    text = _json.text(members.get("messages"))
    if text and "redacted-by-litellm" not in text:
        return "", {**body, "prompt": members["messages"]}
    return "", {}


def _key(members: _json.Members, messages: bytes) -> str:
    """Name the member: Responses calls log their input items as messages too."""
    responses = "responses" in (_json.text(members.get("call_type")) or "")
    return "input" if responses and b'"type"' in messages[:512] else "messages"


def _session(members: _json.Members) -> str | None:
    inner = _json.opened(members.get("metadata")) or {}
    requester = _json.opened(inner.get("requester_metadata")) or {}
    return _record.first_text((members, inner, requester), ("session_id", "litellm_session_id"))


def _usage_of(members: _json.Members) -> Usage | None:
    """Take the provider's own usage; ``prompt_tokens`` includes what was cached."""
    if _json.unquoted(members.get("cache_hit", b"")).strip(b'"').lower() == b"true":
        return None
    inner = _json.opened(members.get("metadata")) or {}
    counts: dict[str, Json] = {k: _json.integer(members.get(k)) for k in ("prompt_tokens", "completion_tokens")}
    additional = _walk.value_of(inner.get("additional_usage_values"))
    if isinstance(additional, dict):
        counts.update(additional)
    found = _usage.usage_of(_walk.value_of(inner.get("usage_object")))
    answer = _response.parse(members["response"]) if "response" in members else _response.Response()
    return found or answer.usage or _usage.usage_of(counts)
