"""Read OpenTelemetry GenAI spans and events: the present names (``gen_ai.input.messages``) and the older ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

if TYPE_CHECKING:
    from prefixlint.sources import _spans

NAME = "otel-genai"
_NO_PROMPT = (
    "the spans hold no messages; set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_and_event "
    "(older instrumentations: true)"
)
_NOT_CHAT = {"embeddings", "execute_tool", "create_agent", "invoke_agent", "invoke_workflow"}
_MARKS = (b'"gen_ai.', b'"traceloop.')


def claims(head: Head) -> bool:
    """Tell whether spans or logs carry ``gen_ai.`` attributes or events."""
    return head.mentions_attribute(*_MARKS)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every span that calls a model; agent and tool spans repeat the same messages and are left out."""
    from prefixlint.sources import _otel_messages, _spans

    waiting = _otel_messages.LogEvents()

    def convert(record: Record) -> Iterator[Request]:
        for span in _spans.spans(record.members):
            made = _of_span(span, record)
            if made and made.no_prompt:
                _walk.note_once(source, _NO_PROMPT)
            if made:
                yield made
        for body, key in waiting.add(list(_spans.logs(record.members))):
            yield Request(key, _provider.CHAT, record.span(0), _walk.packed(body), rebuilt=True)

    yield from _walk.walk(source, convert)


def _of_span(span: _spans.SpanData, record: Record) -> Request | None:
    from prefixlint.sources import _otel_messages

    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name") or attributes.get("llm.request.type") or ""
    is_call = any(
        k.startswith(("gen_ai.request.", "gen_ai.prompt", "gen_ai.input", "gen_ai.usage")) for k in attributes
    )
    if operation in _NOT_CHAT or operation == "embedding" or not is_call:
        return None
    body, truncated = _otel_messages.body_of(span)
    model = attributes.get("gen_ai.request.model") or attributes.get("gen_ai.response.model")
    request = Request(
        id=str(attributes.get("gen_ai.response.id") or span.id),
        provider=_provider.CHAT,
        span=record.span(0),
        members=_walk.packed({"model": model, **body}) if body else {},
        model=str(model) if model else None,
        session=_session(attributes),
        at_s=span.at_s,
        usage=usage_of(attributes),
        truncated=truncated,
        no_prompt=not body,
        rebuilt=True,
    )
    return replace(request, provider=_provider.RAW) if "prompt" in body else request


def _session(attributes: dict[str, Json]) -> str | None:
    for key in (
        "gen_ai.conversation.id",
        "session.id",
        "traceloop.association.properties.session_id",
        "langfuse.session.id",
    ):
        if attributes.get(key):
            return str(attributes[key])
    return None


def usage_of(attributes: dict[str, Json]) -> Usage | None:
    """Read the counts; by the registry input includes what was cached, but some instrumentations leave it out."""

    def count(*names: str) -> int | None:
        return next((_as_int(attributes[n]) for n in names if n in attributes), None)

    total = count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    if total is None:
        return None
    read = count(
        "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cached_tokens"
    )
    write = count(
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",  # what opentelemetry-util-genai 1.3 writes
        "gen_ai.usage.cache_creation_input_tokens",
    )
    output = count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    if (read or 0) + (write or 0) > total:
        return _usage.excluding(total, read, write, output)
    return Usage(total, read, write, output)


def _as_int(value: Json) -> int | None:
    number = _json.number(str(value).encode()) if value is not None else None
    return None if number is None else int(number)
