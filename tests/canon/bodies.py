"""Random request bodies and the disturbances that mean nothing."""

from __future__ import annotations

import json
import os
import random
import unicodedata
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("PREFIXLINT_FUZZ", "1000"))

WORDS = (
    "Résumé",
    "naïve",
    "plan",
    "Zoë",
    "日本語",
    "don't",
    "x = 1",
    "☕",
    "Ærø",
    "{n}",
    "- item",
    "1.5",
    "👩‍💻",
    "می‌خواهم",
    "3",
)
names = st.sampled_from(["read", "write", "wiki__open", "bash", "http_get", "Zeta", "alpha", "list_files"])
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
prose = st.lists(lines | st.just(""), min_size=1, max_size=5).map(lambda parts: ("\n".join(parts)).strip() or "x")
scalars = (
    st.integers(-1000, 10**20)
    | st.booleans()
    | st.none()
    | st.sampled_from([0.5, 1e-7, 2.25, 1e300])
    | prose
    | st.just("")
)
data = st.recursive(
    scalars, lambda below: st.lists(below, max_size=3) | st.dictionaries(prose, below, max_size=3), max_leaves=6
)
leaf_schema = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "object"])},
    optional={
        "description": prose,
        "enum": st.lists(scalars, max_size=3),
        "default": data,
        "maximum": st.integers(0, 99),
    },
)
schema = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(names, leaf_schema, max_size=4)},
    optional={"required": st.lists(names, max_size=3, unique=True), "additionalProperties": st.booleans()},
)


@st.composite
def anthropic(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a body of the Messages API."""
    tools = [
        {"name": name, "description": draw(prose), "input_schema": draw(schema)}
        for name in draw(st.lists(names, max_size=4, unique=True))
    ]
    body: dict[str, Any] = {"model": "claude-x", "max_tokens": draw(st.integers(1, 4096)), "system": draw(prose)}
    if tools:
        body["tools"] = tools
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "read",
        "input": draw(st.dictionaries(names, data, max_size=3)),
    }
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": draw(prose)}
    body["messages"] = [
        {"role": "user", "content": draw(prose)},
        {"role": "assistant", "content": [{"type": "text", "text": draw(prose)}, call]},
        {"role": "user", "content": [result]},
    ]
    return body


@st.composite
def chat(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a body of the Chat Completions API."""
    tools = [
        {"type": "function", "function": {"name": name, "description": draw(prose), "parameters": draw(schema)}}
        for name in draw(st.lists(names, max_size=4, unique=True))
    ]
    arguments = json.dumps(draw(st.dictionaries(names, data, max_size=3)), ensure_ascii=False)
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": arguments}}
    messages: list[dict[str, Any]] = [
        {"role": draw(st.sampled_from(["system", "developer"])), "content": draw(prose)},
        {"role": "user", "content": draw(prose)},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": draw(prose)},
    ]
    return {"model": "gpt-x", "messages": messages, **({"tools": tools} if tools else {})}


bodies = anthropic() | chat()


def shuffle_keys(value: Any, draw: random.Random) -> Any:
    """Shuffle the keys of every object, those of ``properties`` included."""
    if isinstance(value, dict):
        return {k: shuffle_keys(value[k], draw) for k in draw.sample(list(value), len(value))}
    return [shuffle_keys(v, draw) for v in value] if isinstance(value, list) else value


def shuffle_tools(body: Any, draw: random.Random) -> Any:
    """Shuffle the tool list."""
    tools = body.get("tools")
    return {**body, "tools": draw.sample(tools, len(tools))} if tools else body


def float_integers(value: Any, draw: random.Random) -> Any:
    """Write some integers as floats."""
    if isinstance(value, dict):
        return {k: float_integers(v, draw) for k, v in value.items()}
    if isinstance(value, list):
        return [float_integers(v, draw) for v in value]
    if type(value) is int and abs(value) < 2**53 and draw.random() < 0.5:
        return float(value)
    return value


def on_prose(
    change: Callable[[str, random.Random], str], *, all_roles: bool = False
) -> Callable[[Any, random.Random], Any]:
    """Make a disturbance of the text that the developer wrote, or of every text."""

    def disturb(body: Any, draw: random.Random) -> Any:
        new = json.loads(json.dumps(body))
        if isinstance(new.get("system"), str):
            new["system"] = change(new["system"], draw)
        for tool in new.get("tools", ()):
            home = tool.get("function", tool)
            home["description"] = change(home["description"], draw)
        for message in new["messages"]:
            wanted = all_roles or message["role"] in ("system", "developer")
            if wanted and isinstance(message["content"], str):
                message["content"] = change(message["content"], draw)
            for block in message["content"] if all_roles and isinstance(message["content"], list) else ():
                for key in {"text", "content"} & set(block):
                    block[key] = change(block[key], draw)
        return new

    return disturb


def respell_arguments(body: Any, draw: random.Random) -> Any:
    """Write tool arguments with other key order, escapes, blanks and number spelling."""
    new = json.loads(json.dumps(body))
    for message in new["messages"]:
        for call in message.get("tool_calls", ()):
            value = float_integers(shuffle_keys(json.loads(call["function"]["arguments"]), draw), draw)
            call["function"]["arguments"] = json.dumps(
                value, indent=draw.choice([None, 1]), ensure_ascii=draw.random() < 0.5
            )
    return new


def other_shape(body: Any, draw: random.Random) -> Any:
    """Give content as one text block instead of a string, or the other way round."""
    new = json.loads(json.dumps(body))
    for holder, key in [(m, "content") for m in new["messages"]] + [(new, "system")] * ("system" in new):
        content = holder[key]
        if isinstance(content, str) and draw.random() < 0.5:
            holder[key] = [{"type": "text", "text": content}]
    return new


def blanks(text: str, draw: random.Random) -> str:
    """Add a blank to the end of some lines; two would be a line break in Markdown."""
    return "\n".join(line + draw.choice(["", " ", "\t"]) for line in text.split("\n"))


SAFE: dict[str, Callable[[Any, random.Random], Any]] = {
    "keys": shuffle_keys,
    "tools": shuffle_tools,
    "numbers": float_integers,
    "shape": other_shape,
    "crlf": on_prose(lambda t, _: t.replace("\n", "\r\n")),
    "nfd": on_prose(lambda t, _: unicodedata.normalize("NFD", t)),
    "blanks": on_prose(blanks),
    "bom": on_prose(lambda t, _: "\ufeff" + t),
    "zero-width": on_prose(lambda t, r: t.replace(" ", " \u200b" if r.random() < 0.5 else " ")),
}
SAFE_ALL_ROLES = {
    **SAFE,
    "arguments": respell_arguments,
    "crlf": on_prose(lambda t, _: t.replace("\n", "\r\n"), all_roles=True),
    "nfd": on_prose(lambda t, _: unicodedata.normalize("NFD", t), all_roles=True),
    "blanks": on_prose(blanks, all_roles=True),
    "bom": on_prose(lambda t, _: "\ufeff" + t, all_roles=True),
}
