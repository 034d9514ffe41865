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
NAMES = ("read", "write", "wiki__open", "bash", "http_get", "Zeta", "alpha", "list_files")


def prose(draw: random.Random) -> str:
    """Draw a few lines of text in several scripts."""
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(0, 5))) for _ in range(draw.randint(1, 5))]
    return "\n".join(lines).strip() or "x"


def data(draw: random.Random, depth: int = 0) -> Any:
    """Draw any JSON value."""
    kind = draw.randint(0, 8 if depth < 3 else 5)
    if kind > 6:
        return {prose(draw): data(draw, depth + 1) for _ in range(draw.randint(0, 3))}
    if kind == 6:
        return [data(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    number = draw.choice([draw.randint(-1000, 1000), draw.randint(0, 10**20), 2**53])
    return (None, draw.random() < 0.5, number, draw.choice([0.5, 1e-7, 2.25, 1e300]), prose(draw), "")[kind]


def some(draw: random.Random, most: int) -> list[str]:
    """Draw different names."""
    return draw.sample(NAMES, draw.randint(0, most))


def schema(draw: random.Random, depth: int = 0) -> dict[str, Any]:
    """Draw the schema of a tool."""
    found: dict[str, Any] = {"type": draw.choice(["string", "integer", "object"])}
    extras = {
        "description": prose, "default": data, "enum": lambda d: [data(d, 3) for _ in range(2)],
        "maximum": lambda d: d.randint(0, 99),
        "required": lambda d: some(d, 3), "additionalProperties": lambda d: False,
    }  # fmt: skip
    found |= {key: extras[key](draw) for key in draw.sample(sorted(extras), draw.randint(0, 4))}
    if depth < 2:
        found["properties"] = {name: schema(draw, depth + 1) for name in some(draw, 3)}
    return found


def anthropic(draw: random.Random) -> dict[str, Any]:
    """Draw a body of the Messages API."""
    tools = [{"name": n, "description": prose(draw), "input_schema": schema(draw)} for n in some(draw, 4)]
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {n: data(draw) for n in some(draw, 3)}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": prose(draw)}
    messages = [
        {"role": "user", "content": prose(draw)},
        {"role": "assistant", "content": [{"type": "text", "text": prose(draw)}, call]},
        {"role": "user", "content": [result]},
    ]
    body = {"model": "claude-x", "max_tokens": draw.randint(1, 4096), "system": prose(draw), "messages": messages}
    return {**body, "tools": tools} if tools else body


def chat(draw: random.Random) -> dict[str, Any]:
    """Draw a body of the Chat Completions API."""
    functions = [{"name": n, "description": prose(draw), "parameters": schema(draw)} for n in some(draw, 4)]
    arguments = json.dumps({n: data(draw) for n in some(draw, 3)}, ensure_ascii=False)
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": arguments}}
    messages: list[dict[str, Any]] = [
        {"role": draw.choice(["system", "developer"]), "content": prose(draw)},
        {"role": "user", "content": prose(draw)},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": prose(draw)},
    ]
    tools = [{"type": "function", "function": f} for f in functions]
    return {"model": "gpt-x", "messages": messages, **({"tools": tools} if tools else {})}


def body_of(seed: int) -> dict[str, Any]:
    """Make the body of a seed; drawing it piece by piece with hypothesis takes fifty times as long."""
    draw = random.Random(seed)
    return draw.choice([anthropic, chat])(draw)


seeds = st.integers(0, 2**63)
bodies = seeds.map(body_of)


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
