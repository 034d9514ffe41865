"""Read OpenInference spans (Phoenix, Arize): the raw body in ``input.value``, else the flattened attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

if TYPE_CHECKING:
    from prefixlint.sources import _spans

NAME = "openinference"
_NO_PROMPT = "the spans hold no messages; unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_INPUT_MESSAGES"


def claims(head: Head) -> bool:
    """Tell whether spans carry ``openinference.span.kind``."""
    return head.mentions_attribute(b"openinference.span.kind")


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every span of the kind LLM."""
    from prefixlint.sources import _spans

    def convert(record: Record) -> Iterator[Request]:
        for span in _spans.spans(record.members):
            if span.attributes.get("openinference.span.kind") == "LLM":
                made = _of_span(span, record)
                if made.no_prompt:
                    _walk.note_once(source, _NO_PROMPT)
                yield made

    yield from _walk.walk(source, convert)


def _of_span(span: _spans.SpanData, record: Record) -> Request:
    attributes = span.attributes
    body, truncated = _body(attributes)
    model = attributes.get("llm.model_name")
    return Request(
        id=span.id,
        provider=_provider.provider_of(body),
        span=record.span(0),
        members=body,
        model=str(model) if model else None,
        session=str(attributes["session.id"]) if attributes.get("session.id") else None,
        at_s=span.at_s,
        usage=_usage_of(attributes),
        truncated=truncated,
        no_prompt=not body,
        rebuilt=True,
    )


def _body(attributes: dict[str, Json]) -> tuple[_json.Members, bool]:
    """Return the body and whether it was cut; the raw one keeps key order and spelling."""
    from prefixlint.sources import _spans

    raw = attributes.get("input.value")
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            members = _json.members(raw.encode("utf-8", "surrogatepass"))
        except _json.BrokenJsonError:
            members = {}
        if _provider.is_body(members):
            return members, False
    messages = [_message(m) for m in _spans.numbered_groups(attributes, "llm.input_messages")]
    if messages:
        tools = [_spans.decoded(t.get("tool.json_schema"))[0] for t in _spans.numbered_groups(attributes, "llm.tools")]
        return _walk.body(model=attributes.get("llm.model_name"), tools=tools or None, messages=messages), False
    prompts = _spans.numbered_groups(attributes, "llm.prompts")
    if prompts:
        return _walk.body(prompt=prompts[0].get("prompt.text")), False
    if isinstance(raw, str) and raw and raw != "__REDACTED__":
        return _walk.body(messages=[{"role": "user", "content": raw}]), raw.lstrip()[:1] in ("{", "[")
    return {}, False


def _message(flat: dict[str, Json]) -> Json:
    from prefixlint.sources import _spans

    flat = {key.removeprefix("message."): value for key, value in flat.items()}
    parts = [_part(p) for p in _spans.numbered_groups(flat, "contents")]
    message: dict[str, Json] = {"role": flat.get("role"), "content": flat.get("content", parts or None)}
    calls = [_call(c) for c in _spans.numbered_groups(flat, "tool_calls")]
    if calls:
        message["tool_calls"] = calls
    return {**message, "tool_call_id": flat["tool_call_id"]} if "tool_call_id" in flat else message


def _part(flat: dict[str, Json]) -> Json:
    kind = flat.get("message_content.type", "text")
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": flat.get("message_content.image.image.url")}}
    return {"type": kind, "text": flat.get("message_content.text")}


def _call(flat: dict[str, Json]) -> Json:
    name, arguments = flat.get("tool_call.function.name"), flat.get("tool_call.function.arguments")
    return {"id": flat.get("tool_call.id"), "type": "function", "function": {"name": name, "arguments": arguments}}


def _usage_of(attributes: dict[str, Json]) -> Usage | None:
    start = "llm.token_count."
    counts = {k[len(start) :]: v for k, v in attributes.items() if k.startswith(start)}
    total = _usage.count(counts, "prompt")
    if total is None:
        return None
    flat = {k.replace(".", "_"): v for k, v in counts.items()}
    read = _usage.count(flat, "prompt_details_cache_read")
    write = _usage.count(flat, "prompt_details_cache_write")
    output = _usage.count(counts, "completion")
    if (read or 0) + (write or 0) > total:
        return _usage.excluding(total, read, write, output)
    return Usage(total, read, write, output)
