"""Read spans: OTLP JSON (``resourceSpans``), or what SDK console exporters print; attributes become a dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prefixlint.model import Json
from prefixlint.sources import _json, _when


@dataclass(frozen=True, slots=True)
class Event:
    """Hold one event of a span, or one log record."""

    name: str
    attributes: dict[str, Json]
    body: Json
    span: str


@dataclass(frozen=True, slots=True)
class SpanData:
    """Hold one span."""

    id: str
    trace: str
    name: str
    at_s: float | None
    attributes: dict[str, Json]
    events: tuple[Event, ...] = ()


def spans(record: _json.Members) -> Iterator[SpanData]:
    """Yield the spans of a record, in the order of their start."""
    found = list(_spans({k: _json.loads(v) for k, v in record.items()}))
    yield from sorted(found, key=lambda s: s.at_s or 0.0)


def logs(record: _json.Members) -> Iterator[Event]:
    """Yield the log records of an OTLP logs export."""
    if not record.keys() & {"resourceLogs", "resource_logs"}:
        return
    whole = {k: _json.loads(v) for k, v in record.items()}
    for resource in _list(whole, "resourceLogs", "resource_logs"):
        for scope in _list(resource, "scopeLogs", "scope_logs"):
            for log in _list(scope, "logRecords", "log_records"):
                attributes = attributes_of(log.get("attributes"))
                name = log.get("eventName") or log.get("event_name") or attributes.get("event.name") or ""
                key = f"{log.get('traceId', '')}{log.get('spanId', '')}"
                yield Event(str(name), attributes, plain(log.get("body")), key)


def _spans(whole: Json) -> Iterator[SpanData]:
    if "attributes" in whole:
        yield _span(whole)
        return
    for resource in _list(whole, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for span in _list(scope, "spans"):
                yield _span(span)


def _span(span: Json) -> SpanData:
    context = span.get("context") if isinstance(span.get("context"), dict) else {}
    start = next((span[k] for k in ("startTimeUnixNano", "start_time_unix_nano", "start_time") if k in span), None)
    events = tuple(
        Event(str(e.get("name", "")), attributes_of(e.get("attributes")), plain(e.get("body")), "")
        for e in _list(span, "events")
    )
    return SpanData(
        str(span.get("spanId") or span.get("span_id") or context.get("span_id") or ""),
        str(span.get("traceId") or span.get("trace_id") or context.get("trace_id") or ""),
        str(span.get("name", "")),
        _when.seconds(start),
        attributes_of(span.get("attributes")),
        events,
    )


def _list(value: Json, *keys: str) -> list[Json]:
    for key in keys:
        found = value.get(key) if isinstance(value, dict) else None
        if isinstance(found, list):
            return [f for f in found if isinstance(f, dict)]
    return []


def attributes_of(value: Json) -> dict[str, Json]:
    """Turn a list of OTLP key-values, or a plain object, into a dict."""
    if isinstance(value, dict):
        return value
    pairs = value if isinstance(value, list) else []
    return {str(p["key"]): plain(p.get("value")) for p in pairs if isinstance(p, dict) and "key" in p}


def plain(value: Json) -> Json:
    """Turn an OTLP AnyValue into a plain value; 64-bit numbers are strings in OTLP JSON."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    if kind in ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value"):
        return inner
    if kind in ("intValue", "int_value"):
        return int(inner)
    if kind in ("arrayValue", "array_value"):
        return [plain(v) for v in (inner or {}).get("values", [])]
    if kind in ("kvlistValue", "kvlist_value"):
        return attributes_of((inner or {}).get("values", []))
    return value


def numbered_groups(attributes: dict[str, Json], prefix: str) -> list[dict[str, Json]]:
    """Collect flattened attributes ``prefix.N.rest`` into one dict of ``rest`` for each N, by number."""
    groups: dict[int, dict[str, Json]] = {}
    start = prefix + "."
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        number, _, rest = key[len(start) :].partition(".")
        if number.isdigit():
            groups.setdefault(int(number), {})[rest] = value
    return [groups[n] for n in sorted(groups)]


def decoded(value: Json) -> tuple[Json, bool]:
    """Decode JSON in a string attribute; the flag says that it was cut off (attribute length limits do that)."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value, False
    try:
        return _json.loads(value.encode("utf-8", "surrogatepass")), False
    except _json.BrokenJsonError as error:
        return value, error.truncated
