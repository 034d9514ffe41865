"""Turn the body of any chat API into messages and tools as chat templates expect them.

The form is that of transformers and vLLM: ``role`` and ``content``, tool calls with ``function``, tool results as
messages of the role ``tool``, functions as ``{"type": "function", "function": {...}}``. Servers of open models do the
same with the bodies of other APIs; where they differ, vLLM is followed (vllm/entrypoints, 2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from prefixlint.model import Json, Request
from prefixlint.render._traced import dump, joined, trace

Message = dict[str, Any]
TEXT_TYPES = frozenset(("text", "input_text", "output_text", "refusal"))
IMAGE_TYPES = frozenset(("image", "image_url", "input_image"))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Hold what a template is given; ``options`` are the request's own arguments for it."""

    messages: list[Message]
    tools: list[Json] | None = None
    options: dict[str, Json] = field(default_factory=dict)


def conversation(request: Request, *, with_places: bool = True) -> Conversation:
    """Read the body of a request; every string knows its pointer."""
    body = {name: _decode(raw) for name, raw in request.members.items()}
    if with_places:
        body = {name: trace(value, f"/{name}") for name, value in body.items()}
    readers = {
        "anthropic": _anthropic,
        "openai-responses": _responses,
        "gemini": _gemini,
        "bedrock-converse": _converse,
    }
    messages, tools = readers.get(request.provider, _chat)(body)
    options = body.get("chat_template_kwargs")
    return Conversation(messages, tools or None, dict(options) if isinstance(options, dict) else {})


def _decode(raw: bytes) -> Json:
    return json.loads(raw.decode("utf-8", "surrogatepass"), strict=False)


def _dicts(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _function(name: Json, arguments: Json, call_id: Json = None) -> Message:
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return call if call_id is None else {"id": call_id, **call}


def _tool(name: Json, description: Json, parameters: Json) -> Json:
    members = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": {key: value for key, value in members.items() if value is not None}}


def parts_of(content: Json) -> list[Message]:
    """Read content as parts: text, and images by their kind alone."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for block in _dicts(content) if (part := _part(block))]


def _part(block: dict[str, Json]) -> Message | None:
    kind = block.get("type", "text" if "text" in block else "")
    if kind in TEXT_TYPES:
        return {"type": "text", "text": block.get("text") or block.get("refusal") or ""}
    if kind in IMAGE_TYPES or "inlineData" in block or "inline_data" in block:
        return {"type": "image"}
    return None


def _plain(content: Json, separator: str = "\n") -> str:
    """Join the text of content, as servers do for the system prompt and for tool results."""
    return joined(separator, (part["text"] for part in parts_of(content) if part["type"] == "text"))


# OpenAI Chat Completions: the form that templates know.


def _chat(body: dict[str, Json]) -> tuple[list[Message], list[Json]]:
    tools = _dicts(body.get("tools"))
    return _dicts(body.get("messages")), tools or [
        {"type": "function", "function": f} for f in _dicts(body.get("functions"))
    ]


# Anthropic Messages and, with other names, Bedrock Converse.


def _anthropic(body: dict[str, Json]) -> tuple[list[Message], list[Json]]:
    messages = _system(_plain(body.get("system"), ""))
    for message in _dicts(body.get("messages")):
        content = message.get("content")
        blocks = parts_of(content) if isinstance(content, str) else _dicts(content)
        messages += _turn(message.get("role"), blocks)
    tools = [
        _tool(tool.get("name"), tool.get("description"), tool.get("input_schema")) for tool in _dicts(body.get("tools"))
    ]
    return messages, tools


def _system(text: str) -> list[Message]:
    return [{"role": "system", "content": text}] if text else []


def _turn(role: Json, blocks: list[Message]) -> Iterator[Message]:
    """Yield the tool results of a turn, then the rest of it as one message."""
    calls, thoughts, parts = [], [], []
    for block in blocks:
        match block.get("type"):
            case "tool_result":
                yield {
                    "role": "tool",
                    "tool_call_id": block.get("tool_use_id"),
                    "content": _plain(block.get("content")),
                }
            case "tool_use":
                calls.append(_function(block.get("name"), block.get("input"), block.get("id")))
            case "thinking":
                thoughts.append(block.get("thinking") or "")
            case _:
                parts += [block] if block.get("type") == "image" else parts_of([block])
    extra: Message = {"tool_calls": calls} if calls else {}
    if thoughts:
        extra["reasoning_content"] = joined("\n", thoughts)
    if parts or extra:
        yield {"role": role, "content": [_image_or_text(part) for part in parts], **extra}


def _image_or_text(part: Message) -> Message:
    return {"type": "image"} if part.get("type") == "image" else part


def _converse(body: dict[str, Json]) -> tuple[list[Message], list[Json]]:
    messages = _system(_plain(body.get("system"), ""))
    for message in _dicts(body.get("messages")):
        messages += _turn(message.get("role"), [_converse_block(block) for block in _dicts(message.get("content"))])
    config = body.get("toolConfig")
    specs = [tool.get("toolSpec") for tool in _dicts(config.get("tools") if isinstance(config, dict) else None)]
    tools = [
        _tool(spec.get("name"), spec.get("description"), (spec.get("inputSchema") or {}).get("json"))
        for spec in _dicts(specs)
    ]
    return messages, tools


def _converse_block(block: dict[str, Json]) -> Message:
    match block:
        case {"text": text}:
            return {"type": "text", "text": text}
        case {"toolUse": {**use}}:
            return {"type": "tool_use", "id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
        case {"toolResult": {**result}}:
            texts = [
                {"text": item["text"] if "text" in item else json.dumps(item.get("json"), ensure_ascii=False)}
                for item in _dicts(result.get("content"))
            ]
            return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": texts}
        case {"image": _}:
            return {"type": "image"}
    return {}


# OpenAI Responses.


def _responses(body: dict[str, Json]) -> tuple[list[Message], list[Json]]:
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _dicts(given)
    messages = _system(body.get("instructions") or "")
    for item in items:
        _add_item(messages, item)
    tools = [
        _tool(tool.get("name"), tool.get("description"), tool.get("parameters"))
        for tool in _dicts(body.get("tools"))
        if tool.get("type") == "function"
    ]
    return messages, tools


def _add_item(messages: list[Message], item: dict[str, Json]) -> None:
    """Append an input item; calls and reasoning join the assistant's message before them."""
    kind = str(item.get("type", "message"))
    if kind in ("function_call", "custom_tool_call"):
        given = item.get("arguments") if kind == "function_call" else item.get("input")
        call = _function(item.get("name"), given, item.get("call_id"))
        _assistant(messages, new=False).setdefault("tool_calls", []).append(call)
    elif kind.endswith("_call_output"):
        messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": _plain(item.get("output"))})
    elif kind == "reasoning":
        thoughts = [block.get("text") or "" for block in _dicts(item.get("content") or item.get("summary"))]
        _assistant(messages, new=True)["reasoning_content"] = joined("\n", thoughts)
    elif kind == "message":
        content = item.get("content")
        content = content if isinstance(content, str) else parts_of(content)
        if item.get("role") == "assistant":
            _assistant(messages, new=True)["content"] = content
        else:
            messages.append({"role": item.get("role"), "content": content})


def _assistant(messages: list[Message], *, new: bool) -> Message:
    """Return the assistant's message that is being put together; with ``new`` it must not have content or calls yet."""
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and not (new and (last["content"] or last.get("tool_calls"))):
        return last
    messages.append({"role": "assistant", "content": ""})
    return messages[-1]


# Gemini generateContent.


def _gemini(body: dict[str, Json]) -> tuple[list[Message], list[Json]]:
    instruction = body.get("systemInstruction") or body.get("system_instruction")
    messages = _system(_plain(instruction.get("parts") if isinstance(instruction, dict) else None))
    for content in _dicts(body.get("contents")):
        role = "assistant" if content.get("role") == "model" else "user"
        messages += _turn(role, [_gemini_block(part) for part in _dicts(content.get("parts"))])
    declared = [
        function
        for tool in _dicts(body.get("tools"))
        for function in _dicts(tool.get("functionDeclarations") or tool.get("function_declarations"))
    ]
    tools = [
        _tool(
            function.get("name"),
            function.get("description"),
            function.get("parameters") or function.get("parametersJsonSchema"),
        )
        for function in declared
    ]
    return messages, tools


def _gemini_block(part: dict[str, Json]) -> Message:
    call = part.get("functionCall") or part.get("function_call")
    if isinstance(call, dict):
        return {"type": "tool_use", "id": call.get("id"), "name": call.get("name"), "input": call.get("args")}
    result = part.get("functionResponse") or part.get("function_response")
    if isinstance(result, dict):
        text = json.dumps(result.get("response"), ensure_ascii=False)
        return {"type": "tool_result", "tool_use_id": result.get("name"), "content": text}
    if part.get("thought"):
        return {"type": "thinking", "thinking": part.get("text")}
    return _part(part) or {}


# Arguments of tool calls are sent as text by some APIs and as an object by others.


def with_objects(message: Message) -> Message:
    """Read the arguments of tool calls as objects, as most servers do before they render."""
    return _with_arguments(message, _as_object)


def with_texts(message: Message) -> Message:
    """Write the arguments of tool calls as text, for templates that join them to other text."""
    return _with_arguments(message, lambda given: given if isinstance(given, str) else dump(given, ensure_ascii=False))


def _with_arguments(message: Message, change: Callable[[Json], Json]) -> Message:
    calls = _dicts(message.get("tool_calls"))
    if not calls:
        return message
    return {**message, "tool_calls": [_changed_call(call, change) for call in calls]}


def _changed_call(call: Message, change: Callable[[Json], Json]) -> Message:
    function = call.get("function")
    if not isinstance(function, dict) or "arguments" not in function:
        return call
    return {**call, "function": {**function, "arguments": change(function["arguments"])}}


def _as_object(given: Json) -> Json:
    if not isinstance(given, str):
        return given
    try:
        return _Placer(given).place(json.loads(given or "{}"))
    except (ValueError, RecursionError):
        return given


class _Placer:
    """Give parsed strings their places in the text they were parsed from, where they stand there unescaped."""

    def __init__(self, source: str) -> None:
        self._source, self._at = source, 0

    def place(self, value: Json) -> Json:
        """Go through a value in the order in which it is written."""
        if isinstance(value, dict):
            return {key: self.place(item) for key, item in value.items() if self._string(key) is not None}
        if isinstance(value, list):
            return [self.place(item) for item in value]
        return self._string(value) if isinstance(value, str) else value

    def _string(self, text: str) -> str:
        start = self._source.find(f'"{text}"', self._at) + 1
        if not start:
            return text
        self._at = start + len(text) + 1
        return self._source[start : start + len(text)]
