"""Turn LangChain messages, serialised in any of its ways, into chat messages."""

from __future__ import annotations

from prefixlint.model import Json
from prefixlint.sources import _json

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
_ROLES |= {"HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool"}
_ROLES |= {"HumanMessageChunk": "user", "AIMessageChunk": "assistant", "FunctionMessage": "function"}


def message(value: Json) -> Json:
    """Return a chat message; what is one already stays as it is."""
    if not isinstance(value, dict) or "role" in value:
        return value
    fields = value.get("kwargs") or value.get("data") or value
    kind = fields.get("type") or value.get("type") or ""
    path = value.get("id")
    name = path[-1] if isinstance(path, list) and path else kind
    role = _ROLES.get(str(kind)) or _ROLES.get(str(name)) or fields.get("role") or str(kind or name)
    made: dict[str, Json] = {"role": role, "content": fields.get("content")}
    calls = _calls(fields)
    if calls:
        made["tool_calls"] = calls
    if fields.get("tool_call_id"):
        made["tool_call_id"] = fields["tool_call_id"]
    return made


def _calls(fields: dict[str, Json]) -> list[Json]:
    """Return tool calls; those of the provider keep the spelling of their arguments."""
    raw = (fields.get("additional_kwargs") or {}).get("tool_calls")
    if raw:
        return list(raw)
    return [
        {
            "id": call.get("id"),
            "type": "function",
            "function": {"name": call.get("name"), "arguments": _json.dumps(call.get("args")).decode()},
        }
        for call in fields.get("tool_calls") or []
    ]
