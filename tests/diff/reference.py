"""A second, plain implementation of what a fork is, after the text of the cases' README: slow and without memory."""

from __future__ import annotations

import json
from typing import Any

from prefixlint.model import Segment, Tokenizer

ORDER = {
    "anthropic": ("model", "tools", "system", "tool_choice", "thinking", "output_config", "messages"),
    "chat": ("model", "tools", "response_format", "reasoning_effort", "tool_choice", "messages"),
    "responses": ("model", "tools", "text", "reasoning", "tool_choice", "instructions", "input"),
    "gemini": ("model", "systemInstruction", "tools", "toolConfig", "contents"),
}
GROWING = ("messages", "input", "contents")
Place = tuple[str, int | None, str]


class Raw(str):
    """Hold a number as it is written."""


def load(line: str) -> Any:
    """Decode a body and keep the spelling of numbers."""
    return json.loads(line, parse_int=Raw, parse_float=Raw)


def first_difference(provider: str, left: Any, right: Any) -> Place | None:
    """Return pointer, offset and kind of the first difference of two bodies, None for an append."""
    for member in ORDER[provider]:
        if (member in left) != (member in right):
            return f"/{member}", None, "key-set"
        found = _walk(left.get(member), right.get(member), f"/{member}")
        if found:
            is_append = member in GROWING and found == (f"/{member}/{len(left[member])}", None, "missing")
            return None if is_append else found
    return None


def _walk(left: Any, right: Any, at: str) -> Place | None:
    if type(left) is not type(right):
        return at, None, "type"
    if isinstance(left, str):
        return _strings(left, right, at)
    if isinstance(left, dict):
        return _objects(left, right, at)
    if isinstance(left, list):
        for index, (ours, theirs) in enumerate(zip(left, right, strict=False)):
            found = _walk(ours, theirs, f"{at}/{index}")
            if found:
                return found
        return None if len(left) == len(right) else (f"{at}/{min(len(left), len(right))}", None, "missing")
    return None if left == right else (at, None, "type")


def _strings(left: str, right: str, at: str) -> Place | None:
    if left == right:
        return None
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return at, same, "number" if isinstance(left, Raw) else "string"


def _objects(left: dict[str, Any], right: dict[str, Any], at: str) -> Place | None:
    for ours, theirs in zip(left, right, strict=False):
        if ours != theirs:
            return at, None, "key-order" if set(left) == set(right) else "key-set"
        found = _walk(left[ours], right[theirs], f"{at}/{ours}")
        if found:
            return found
    return None if len(left) == len(right) else (at, None, "key-set")


def first_token(left: tuple[Segment, ...], right: tuple[Segment, ...], tokenizer: Tokenizer) -> int:
    """Return the index of the first token that differs: both prompts are tokenized as a whole, segment by segment."""
    ours = [token for segment in left for token in tokenizer.encode(segment.text)]
    theirs = [token for segment in right for token in tokenizer.encode(segment.text)]
    return next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
