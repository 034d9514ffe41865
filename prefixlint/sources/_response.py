"""Read what the answer of a request tells: usage, id, time, generated text; plain JSON or server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from prefixlint.model import Json, Usage
from prefixlint.sources import _json, _usage, _when

_ENVELOPES = ("body", "json", "content", "response", "message", "result")  # a plain answer has none as an object
_CREATED = ("created", "created_at", "createTime")
KEYS = ("response", "output", "result", "completion", "response_body", "responseBody", "resp", "answer", "reply")


@dataclass(frozen=True, slots=True)
class Response:
    """Hold what an answer tells; ``output`` are the raw output items of the Responses API."""

    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    at_s: float | None = None
    text: str | None = None
    output: bytes | None = None


class _Answer(msgspec.Struct):
    """Name the few members of a plain answer that nearly every record needs, for a decoder that skips the rest."""

    id: str | None = None
    model: str | None = None
    created: int | float | None = None
    created_at: int | float | None = None
    usage: dict[str, Json] | None = None


_PLAIN = msgspec.json.Decoder(_Answer)


def quick(record: _json.Members) -> Response | None:
    """Read a plain answer without its text; None where ``beside`` has to look more closely."""
    for key in KEYS:
        raw = record.get(key)
        if raw is None or raw == b"null":
            continue
        try:
            answer = _PLAIN.decode(raw)
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
            return None
        usage = _usage.usage_of(answer.usage)
        at = answer.created if answer.created is not None else answer.created_at
        return Response(usage, answer.id, answer.model, _when.seconds(at)) if usage else None
    return None if "usage" in record or "usageMetadata" in record else Response()


def beside(record: _json.Members) -> Response:
    """Find the answer in a log record, and the usage that stands in the record itself."""
    found = Response()
    for key in KEYS:
        raw = record.get(key)
        if raw and raw[:1] in b'{["':
            found = parse(raw)
            break
    usage = (
        found.usage or _usage.usage_of(_object(record, "usage")) or _usage.usage_of(_object(record, "usageMetadata"))
    )
    return found if usage is found.usage else replaced(found, usage)


def replaced(found: Response, usage: Usage | None) -> Response:
    """Return the response with another usage."""
    return Response(usage, found.id, found.model, found.at_s, found.text, found.output)


def parse(raw: bytes) -> Response:
    """Read an answer: an object, an object in a string, a list of stream events, or server-sent events as text."""
    raw = _json.unquoted(raw)
    try:
        if raw.startswith(b"{"):
            return _of_object(_json.members(raw))
        if raw.startswith(b"["):
            return _of_events([_json.members(i) for i in _json.items(raw) if i.startswith(b"{")])
        if raw.startswith(b'"'):
            value = _json.text(raw) or ""
            events = list(sse(value))
            return _of_events(events) if events else Response(text=value)
    except _json.BrokenJsonError:
        pass
    return Response()


def sse(value: str) -> Iterator[_json.Members]:
    """Yield the data of server-sent events; what is no JSON object (``[DONE]``) is left out."""
    for line in value.splitlines():
        if not line.startswith("data:"):
            continue
        data = line[5:].strip().encode("utf-8", "surrogatepass")
        if not data.startswith(b"{"):
            continue
        try:
            yield _json.members(data)
        except _json.BrokenJsonError:
            continue


def _of_object(found: _json.Members) -> Response:
    if "usage" not in found:
        for key in _ENVELOPES:
            inner = found.get(key)
            if inner and inner[0] in b'{"' and _json.unquoted(inner).startswith(b"{"):
                return parse(inner)
    created = next((found[k] for k in _CREATED if k in found), None)
    return Response(
        _usage_of(found),
        _json.text(found.get("id") or found.get("responseId")),
        _json.text(found.get("model") or found.get("modelVersion")),
        _when.seconds(_json.loads(created)) if created else None,
        _text(found),
        found["output"] if found.get("output", b"").startswith(b"[") else None,
    )


def _usage_of(found: _json.Members) -> Usage | None:
    for key in ("usage", "usageMetadata", "timings", "meta_info"):
        raw = found.get(key)
        if raw is not None and raw.startswith(b"{"):
            usage = _usage.usage_of(_json.loads(raw))
            if usage:
                return usage
    if "prompt_eval_count" in found:
        return _usage.usage_of({k: _json.integer(v) for k, v in found.items() if k.endswith("_count")})
    return None


def _text(found: _json.Members) -> str | None:
    """Return generated text where the answer is one text: llama.cpp, completions, SGLang, Ollama."""
    for key in ("content", "text", "generated_text", "response", "completion", "output"):
        value = _json.text(found.get(key))
        if value is not None:
            return value
    choices = found.get("choices")
    if not _json.is_array(choices) or choices is None:
        return None
    first = next(iter(_json.items(choices)), None)
    return _json.text(_json.child(first, "text"))


def _of_events(events: list[_json.Members]) -> Response:
    """Join stream events: the last full answer counts, Anthropic's message_start and message_delta add up."""
    usage: dict[str, Json] = {}
    best = Response()
    for event in events:
        inner = event.get("response") or event.get("message")
        found = _of_object(_json.opened(inner) or event)
        for holder in (_json.opened(inner) or {}, event):
            usage.update({k: v for k, v in (_object(holder, "usage") or {}).items() if v is not None})
        best = Response(
            found.usage or best.usage,
            best.id or found.id,
            best.model or found.model,
            best.at_s or found.at_s,
            None,
            found.output or best.output,
        )
    return replaced(best, _usage.usage_of(usage) or best.usage)


def _object(found: _json.Members, key: str) -> dict[str, Json] | None:
    raw = found.get(key)
    if raw is None or not raw.startswith(b"{"):
        return None
    value = _json.loads(raw)
    return value if isinstance(value, dict) else None
