"""Read MLflow traces (JSON or JSON lines); inputs and outputs of spans are JSON inside strings."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _response, _usage, _walk, _when
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "mlflow"
UNORDERED = True
_KINDS = {"CHAT_MODEL", "LLM"}


def claims(head: Head) -> bool:
    """Tell whether a record has ``info`` and ``data`` with spans."""
    return any({"info", "data"} <= r.keys() and "spans" in (_json.opened(r["data"]) or {}) for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every span that calls a model, of every trace."""

    def convert(record: Record) -> Iterator[Request]:
        info = _walk.value_of(record.members.get("info")) or {}
        for span in _json.loads(_json.child(record.members.get("data"), "spans") or b"[]"):
            attributes = {k: _unquoted(v) for k, v in (span.get("attributes") or {}).items()}
            if attributes.get("mlflow.spanType") in _KINDS:
                yield _request(record, info, span, attributes)

    yield from _walk.walk(source, convert, lists=("traces", "data"))


def _unquoted(value: Json) -> Json:
    """Decode short JSON strings; inputs stay raw text, since their bytes matter."""
    if not isinstance(value, str) or not value.startswith('"'):
        return value
    try:
        return _json.loads(value.encode("utf-8", "surrogatepass"))
    except _json.BrokenJsonError:
        return value


def _request(record: Record, info: dict[str, Json], span: dict[str, Json], attributes: dict[str, Json]) -> Request:
    body = _body(attributes)
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    context = span.get("context") or {}
    model = _json.text(body.get("model")) or attributes.get("mlflow.llm.model")
    return Request(
        id=str(span.get("span_id") or context.get("span_id") or ""),
        provider=_provider.provider_of(body),
        span=record.span(0),
        members=body,
        model=str(model) if model else None,
        session=metadata.get("mlflow.trace.session"),
        at_s=_when.seconds(span.get("start_time_unix_nano") or span.get("start_time")),
        usage=_usage_of(attributes),
        no_prompt=not body,
        rebuilt=True,
    )


def _raw(value: Json) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else _json.dumps(value)


def _body(attributes: dict[str, Json]) -> _json.Members:
    """Return the call's keyword arguments, or the messages that LangChain's tracer keeps as lists of lists."""
    from prefixlint.sources import _langchain

    raw = _raw(attributes.get("mlflow.spanInputs", ""))
    members = _json.opened(raw) or {}
    if _provider.is_body(members) and not members.get("messages", b"").startswith(b"[["):
        return members
    nested = members.get("messages", raw)
    if not nested.startswith(b"["):
        return {}
    value = _json.loads(nested)
    messages = value[0] if value and isinstance(value[0], list) else value
    if not messages or not all(isinstance(m, dict) for m in messages):
        return {}
    tools = _walk.value_of(_raw(attributes["mlflow.chat.tools"])) if "mlflow.chat.tools" in attributes else None
    return _walk.body(tools=tools, messages=[_langchain.message(m) for m in messages])


def _usage_of(attributes: dict[str, Json]) -> Usage | None:
    """Prefer the provider's own usage in the output: MLflow's own count may leave cached tokens out."""
    answer = _response.parse(_raw(attributes.get("mlflow.spanOutputs", "")))
    if answer.usage:
        return answer.usage
    counts = _walk.value_of(_raw(attributes.get("mlflow.chat.tokenUsage", "null")))
    if not isinstance(counts, dict):
        return None
    total, read, write, output = (
        _usage.count(counts, name)
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    )
    if (read or 0) + (write or 0) > (total or 0):
        return _usage.excluding(total, read, write, output)
    return Usage(total, read, write, output)
