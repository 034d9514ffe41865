"""Read what the answer of a request tells: usage, id, time, generated text; plain JSON or server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prefixlint.model import Json, Usage
from prefixlint.sources import _json, _usage, _when

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
    failed: bool = False


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
    return Response(usage, found.id, found.model, found.at_s, found.text, found.output, found.failed)


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
    for key in (
        "body",
        "json",
        "content",
        "response",
        "message",
        "result",
    ):  # HTTP envelopes; a plain answer has none of these as objects
        inner = found.get(key)
        if inner and _json.unquoted(inner).startswith(b"{") and "usage" not in found:
            return parse(inner)
    usage = _usage.usage_of(_object(found, "usage")) or _usage.usage_of(_object(found, "usageMetadata"))
    usage = usage or _usage.usage_of(_object(found, "timings")) or _usage.usage_of(_object(found, "meta_info"))
    if usage is None and "prompt_eval_count" in found:
        usage = _usage.usage_of({k: _json.integer(v) for k, v in found.items() if k.endswith("_count")})
    created = next((found[k] for k in ("created", "created_at", "createTime") if k in found), None)
    return Response(
        usage,
        _json.text(found.get("id")) or _json.text(found.get("responseId")),
        _json.text(found.get("model")) or _json.text(found.get("modelVersion")),
        _when.seconds(_json.loads(created)) if created else None,
        _text(found),
        found.get("output") if _json.is_array(found.get("output")) else None,
        "error" in found and found["error"] != b"null" and usage is None,
    )


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
