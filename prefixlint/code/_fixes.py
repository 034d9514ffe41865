"""Repairs of source code as edits by byte spans; whoever writes them parses the result first."""

from __future__ import annotations

import ast
import re

from prefixlint.code import _sinks
from prefixlint.model import Edit, Fix, Trust

_SHOW = {
    "timestamp": "format the date only, or move the clock into the last user message",
    "epoch": "move the clock into the last user message",
    "date": "move the date into the last user message",
    "uuid": "move the id into a header or the last user message",
    "random-id": "move it into a header or the last user message, or derive it from stable input",
    "tool-call-id": "derive the id from the name, the arguments and the position",
    "tool-set-change": "send the same tools in every call and restrict them with tool_choice or in text",
    "param-change": "send the same setting in every call",
    "sliding-window": "cut rarely and in large steps, or compact once",
    "instructions-edited": "keep the system message and append what is new",
    "message-inserted": "append it to the end",
    "counter": "move the counter into the last user message",
    "cached-tokens-dropped": "add the cache_read and cache_creation fields",
}


def fix(item: _sinks.Found, data: bytes) -> Fix:
    """Return the repair of a finding: edits where the text can be changed safely, else advice."""
    taint = item.taint
    if item.rule == "key-order" and taint.fix == "sort_keys" and taint.place.path.endswith(".py"):
        made = _sort_keys(data, taint.place.start, taint.place.end)
        if made is not None:
            return Fix("sort the keys", "safe", (made,))
    wrap = taint.wrap
    if item.rule == "list-order" and wrap is not None and wrap.path == taint.place.path and wrap.path.endswith(".py"):
        trust: Trust = "safe" if taint.fix == "listing" else "unsafe"
        edits = _wrapped(data, wrap.start, wrap.end)
        if edits is not None:
            return Fix("sort the items", trust, edits)
    return Fix(_SHOW.get(item.rule, "make it stable, or move it behind the stable part"), "display")


def _sort_keys(data: bytes, start: int, end: int) -> Edit | None:
    call = data[start:end]
    if not call.endswith(b")") or b"orjson" in call.split(b"(")[0] or b"yaml" in call.split(b"(")[0] or b"#" in call:
        return None
    inner = call[:-1].rstrip()
    lead = b"" if inner.endswith((b",", b"(")) else b","
    space = b" " if not inner.endswith(b"(") else b""
    at = start + len(inner)
    return Edit(at, at, lead + space + b"sort_keys=True", "key-order")


def _wrapped(data: bytes, start: int, end: int) -> tuple[Edit, Edit] | None:
    text = data[start:end]
    if (
        re.match(rb"(?:glob\.|os\.|Path|[\w.]+)", text) is None
        or b"os.walk" in text
        or b"scandir" in text
        or b"as_completed" in text
    ):
        return None
    return Edit(start, start, b"sorted(", "list-order"), Edit(end, end, b")", "list-order")


def still_parses(data: bytes) -> bool:
    """Tell whether edited Python source is still valid."""
    try:
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
