"""Rebuild an OpenAI Chat body from the messages of GenAI spans and events."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.model import Json
from prefixlint.sources import _json
from prefixlint.sources._spans import Event, SpanData, decoded, numbered_groups

_MAX_OPEN = 10_000
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_DETAILS = "gen_ai.client.inference.operation.details"


def body_of(span: SpanData) -> tuple[dict[str, Json], bool]:
    """Return the body of a span, empty when it holds no prompt, and whether the log cut it."""
    body, truncated = _present(span.attributes)
    if not body:
        body, truncated = _older(span.attributes)
    if not body:
        body, truncated = _of_events(span.events)
    return body, truncated


def _present(attributes: dict[str, Json]) -> tuple[dict[str, Json], bool]:
    """Read ``gen_ai.system_instructions``, ``gen_ai.input.messages`` and ``gen_ai.tool.definitions``."""
    given, cut = decoded(attributes.get("gen_ai.input.messages"))
    system, system_cut = decoded(attributes.get("gen_ai.system_instructions"))
    tools, tools_cut = decoded(attributes.get("gen_ai.tool.definitions"))
    if given is None and system is None:
        return {}, False
    messages = _system(system) + _messages(given)
    return _with_tools(messages, tools), cut or system_cut or tools_cut


def _system(system: Json) -> list[Json]:
    if system is None:
        return []
    return [{"role": "system", "content": _content(system if isinstance(system, list) else [system])}]


def _messages(given: Json) -> list[Json]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [m for item in given or [] if isinstance(item, dict) for m in _message(item)]


def _message(item: dict[str, Json]) -> Iterator[Json]:
    """Turn one message with ``parts`` into chat messages; each tool answer becomes its own."""
    parts = item.get("parts")
    if not isinstance(parts, list):
        yield {k: v for k, v in item.items() if k in ("role", "content", "name", "tool_calls", "tool_call_id")}
        return
    kinds = [p.get("type") if isinstance(p, dict) else "text" for p in parts]
    for part, kind in zip(parts, kinds, strict=True):
        if kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            text = answer if isinstance(answer, str) else _json.dumps(answer).decode()
            yield {"role": "tool", "tool_call_id": part.get("id"), "content": text}
    calls = [_call(p) for p, kind in zip(parts, kinds, strict=True) if kind == "tool_call"]
    rest = [p for p, kind in zip(parts, kinds, strict=True) if kind not in ("tool_call", "tool_call_response")]
    if rest or calls or not parts:
        message: dict[str, Json] = {"role": item.get("role"), "content": _content(rest) if rest else None}
        yield {**message, "tool_calls": calls} if calls else message


def _content(parts: list[Json]) -> Json:
    """Return a text for one text part, else a list of content parts."""
    if len(parts) == 1 and (isinstance(parts[0], str) or parts[0].get("type", "text") == "text"):
        return parts[0] if isinstance(parts[0], str) else parts[0].get("content", parts[0].get("text"))
    return [_part(p) for p in parts]


def _part(part: Json) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.get("type", "text") == "text":
        return {"type": "text", "text": part.get("content", part.get("text"))}
    return part


def _call(part: dict[str, Json]) -> Json:
    arguments = part.get("arguments")
    text = arguments if isinstance(arguments, str) else _json.dumps(arguments).decode()
    return {"id": part.get("id"), "type": "function", "function": {"name": part.get("name"), "arguments": text}}


def _with_tools(messages: list[Json], tools: Json) -> dict[str, Json]:
    body: dict[str, Json] = {}
    if isinstance(tools, list) and tools:
        body["tools"] = [_tool(t) for t in tools]
    return {**body, "messages": messages}


def _tool(tool: Json) -> Json:
    """Nest a flat function definition as Chat has it."""
    if isinstance(tool, str):
        tool = decoded(tool)[0]
    if not isinstance(tool, dict) or "function" in tool or tool.get("type", "function") != "function":
        return tool
    return {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}


def _older(attributes: dict[str, Json]) -> tuple[dict[str, Json], bool]:
    """Read ``gen_ai.prompt`` (JSON or text), or the flattened ``gen_ai.prompt.N.role`` / ``.content``."""
    given, cut = decoded(attributes.get("gen_ai.prompt"))
    if isinstance(given, dict) and "messages" in given:
        given = given["messages"]
    if isinstance(given, list):
        return {"messages": _messages(given)}, cut
    if isinstance(given, str):
        return {"prompt": given}, cut
    flat = numbered_groups(attributes, "gen_ai.prompt")
    if not flat:
        return {}, False
    tools = [_flat_tool(t) for t in numbered_groups(attributes, "llm.request.functions")]
    return _with_tools([_flat_message(m) for m in flat], tools), False


def _flat_message(flat: dict[str, Json]) -> Json:
    content = decoded(flat.get("content"))[0]
    parts = content if isinstance(content, list) and all(isinstance(p, dict) for p in content) else None
    message: dict[str, Json] = {"role": flat.get("role"), "content": parts or flat.get("content")}
    calls = [_call(c) for c in numbered_groups(flat, "tool_calls")]
    if calls:
        message["tool_calls"] = calls
    return {**message, "tool_call_id": flat["tool_call_id"]} if "tool_call_id" in flat else message


def _flat_tool(flat: dict[str, Json]) -> Json:
    parameters = decoded(flat.get("parameters"))[0]
    return {"name": flat.get("name"), "description": flat.get("description"), "parameters": parameters}


def _of_events(events: tuple[Event, ...]) -> tuple[dict[str, Json], bool]:
    """Read the events that older conventions used for content: one for each message, or one for all."""
    messages: list[Json] = []
    for event in events:
        if event.name == _DETAILS:
            return _present(event.attributes)
        if event.name == "gen_ai.content.prompt":
            return _older(event.attributes)
        message = event_message(event)
        if message:
            messages.append(message)
    return ({"messages": messages}, False) if messages else ({}, False)


def event_message(event: Event) -> Json:
    """Turn a ``gen_ai.<role>.message`` event into a chat message; None for other events."""
    role = _EVENT_ROLES.get(event.name)
    if role is None:
        return None
    held = event.body if isinstance(event.body, dict) else event.attributes
    message: dict[str, Json] = {"role": held.get("role") or role, "content": held.get("content")}
    if held.get("tool_calls"):
        message["tool_calls"] = held["tool_calls"]
    return {**message, "tool_call_id": held["id"]} if role == "tool" and "id" in held else message


class LogEvents:
    """Gather message events of logs by their span until the answer (``gen_ai.choice``) shows that all are there."""

    def __init__(self) -> None:
        self._open: dict[str, list[Json]] = {}

    def add(self, events: list[Event]) -> Iterator[tuple[dict[str, Json], str]]:
        """Add events; yield the bodies that are complete, with the key of their span."""
        for event in events:
            if event.name == _DETAILS:
                body, _ = _present(event.attributes)
                if body:
                    yield body, event.span
            message = event_message(event)
            if message:
                self._open.setdefault(event.span, []).append(message)
            if event.name == "gen_ai.choice" or len(self._open) > _MAX_OPEN:
                key = event.span if event.name == "gen_ai.choice" else next(iter(self._open))
                messages = self._open.pop(key, None)
                if messages:
                    yield {"messages": messages}, key
