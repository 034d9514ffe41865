"""Rebuild the requests of one Inspect AI sample from its model events."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.model import Json, Request, Usage
from prefixlint.sources import _json, _provider, _usage, _walk, _when
from prefixlint.sources._records import Record

_ATTACHMENT = "attachment://"


def requests(sample: Json, eval_name: str, record: Record) -> Iterator[Request]:
    """Yield one request for each model event of a sample; a sample and epoch is a session."""
    session = "/".join(str(p) for p in (eval_name, sample.get("id"), sample.get("epoch")) if p not in (None, ""))
    for event in sample.get("events") or []:
        if event.get("event") != "model" or event.get("pending"):
            continue
        body = _body(event, sample)
        model = body.get("model") if isinstance(body.get("model"), str) else None
        members = _walk.packed(body)
        found = _provider.candidates(members)
        yield Request(
            id=str(event.get("uuid") or ""),
            provider=found[0] if found else _provider.CHAT,
            span=record.span(0),
            members=members if found else {},
            model=str(event.get("model") or model or "") or None,
            session=session,
            at_s=_when.seconds(event.get("timestamp")),
            usage=_usage_of(event),
            no_prompt=not found,
            rebuilt=True,
        )


def _body(event: Json, sample: Json) -> dict[str, Json]:
    """Prefer the provider's own request; its messages are in the pool of calls."""
    pools = sample.get("events_data") or {}
    attachments = sample.get("attachments") or {}
    call = event.get("call") or {}
    body = dict(call.get("request") or {})
    if call.get("call_refs"):
        body[call.get("call_key") or "messages"] = _referred(call["call_refs"], pools.get("calls") or [])
    tools = [_tool(t) for t in event.get("tools") or []]
    if not any(key in body for key in ("messages", "input", "contents")):
        given = event.get("input") or _referred(event.get("input_refs"), pools.get("messages") or [])
        body["messages"] = [_message(m) for m in given]
    elif call.get("call_refs") and body.get("messages"):
        body["messages"] = [_without_none(m) for m in body["messages"]]
    if tools and "messages" in body and "tools" not in body:
        body["tools"] = tools
    return {key: _resolved(value, attachments) for key, value in body.items()}


def _referred(refs: Json, pool: list[Json]) -> list[Json]:
    """Return the items of a pool that half-open ranges name."""
    return [item for start, end in refs or [] for item in pool[start:end]]


def _resolved(value: Json, attachments: dict[str, Json]) -> Json:
    """Put attached texts back into their places."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolved(v, attachments) for v in value]
    if isinstance(value, dict):
        return {k: _resolved(v, attachments) for k, v in value.items()}
    return value


# What Inspect keeps about its own messages and does not send.
_OWN = {"id", "source", "metadata", "model", "internal", "error"}


def _without_none(message: Json) -> Json:
    if not isinstance(message, dict):
        return message
    return {k: v for k, v in message.items() if v is not None and not (k in _OWN and k in ("source", "metadata", "id"))}


def _message(message: Json) -> Json:
    """Turn Inspect's message into a chat message."""
    made = {k: v for k, v in message.items() if k not in _OWN and v is not None}
    if made.get("tool_calls"):
        made["tool_calls"] = [_call(c) for c in made["tool_calls"]]
    return made


def _call(call: Json) -> Json:
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else _json.dumps(arguments).decode()
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("function"), "arguments": text}}


def _tool(tool: Json) -> Json:
    kept = {k: tool.get(k) for k in ("name", "description", "parameters")}
    return {"type": "function", "function": kept}


def _usage_of(event: Json) -> Usage | None:
    """Read the counts; whether input includes cached tokens follows the provider, so the totals decide."""
    if event.get("cache") == "read":  # Inspect's own cache of answers
        return None
    output = event.get("output") or {}
    usage = output.get("usage")
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens")
    given, read, write, answered = (_usage.count(usage, name) for name in names)
    if given is None:
        return None
    whole = _usage.count(output, "input_context_tokens")
    if whole is not None:
        return Usage(whole, read, write, answered)
    if given < (read or 0) + (write or 0) or _usage.count(usage, "total_tokens") != given + (answered or 0):
        return _usage.excluding(given, read, write, answered)
    return Usage(given, read, write, answered)
