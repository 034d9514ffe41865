"""Arrange tools, blocks and messages into elements, in the way that all chat APIs have in common.

Top-level members of a message or block have no order of their own, so they are put in one; below a tool, a tool input
or a schema the order of keys is prompt text. ``cache_control`` is no prompt text: it becomes a mark.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence

from prefixlint.elements import Element, Number, Pieces, join
from prefixlint.model import Json, SegmentKind

MESSAGE_ORDER = (
    "type role name reasoning reasoning_content reasoning_details thinking content parts refusal "
    "function_call tool_calls tool_call_id"
).split()
BLOCK_ORDER = (
    "type thought id call_id tool_use_id toolUseId name text thinking signature summary content encrypted_content "
    "data function arguments input args output response source image_url"
).split()
JSON_MEMBERS = frozenset(
    "input args response json parameters input_schema inputSchema function_call functionCall".split()
)
NO_TEXT = frozenset(("cache_control", "cachePoint", "cache_point"))
NO_PROMPT = NO_TEXT | {"index", "annotations", "logprobs"}
MEDIA_KEYS = ("media_type", "mimeType", "mime_type", "format")
OPAQUE = (
    "type",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "detail",
    "media_type",
    "mimeType",
)

Marks = list[tuple[str, str]]


def arrange(value: Json, order: Sequence[str], pointer: str, marks: Marks) -> Json:
    """Put the members of a message or block in send order and take the cache markers out."""
    if isinstance(value, list):
        return _blocks(value, pointer, marks)
    if not isinstance(value, dict):
        return value
    _mark(value, pointer, marks)
    known = [k for k in order if k in value]
    rest = sorted(k for k in value if k not in order and k not in NO_PROMPT)
    found = {}
    for key in (*known, *rest):
        item = value[key]
        if item is None and key != "content":
            continue
        nested = isinstance(item, (dict, list)) and key not in JSON_MEMBERS
        found[key] = arrange(item, BLOCK_ORDER, join(pointer, key), marks) if nested else item
    return found


def _blocks(blocks: list[Json], pointer: str, marks: Marks) -> Json:
    """Arrange a list of blocks; one that is only a cache marker (Bedrock) marks the block before it."""
    found = []
    for index, block in enumerate(blocks):
        if isinstance(block, dict) and block.keys() & {"cachePoint", "cache_point"} and len(block) == 1:
            marks.append((f"{pointer}/{max(index - 1, 0)}", _ttl(next(iter(block.values())))))
            continue
        found.append(arrange(block, BLOCK_ORDER, f"{pointer}/{index}", marks))
    return found


def _mark(value: dict[str, Json], pointer: str, marks: Marks) -> None:
    control = value.get("cache_control")
    if control:
        marks.append((pointer, _ttl(control)))


def _ttl(control: Json) -> str:
    ttl = control.get("ttl") if isinstance(control, dict) else None
    return ttl if isinstance(ttl, str) and not isinstance(ttl, Number) else "5m"


def message(value: Json, order: Sequence[str] = MESSAGE_ORDER) -> Element:
    """Arrange a message: its role, then its content, then its tool calls."""
    marks: Marks = []
    arranged = arrange(value, order, "", marks)
    role = value.get("role") if isinstance(value, dict) else None
    pieces = Pieces()
    write_text(arranged, "", pieces)
    return Element(arranged, pieces.marked(marks), role if isinstance(role, str) else "", tuple(marks))


def block(value: Json, role: str = "system") -> Element:
    """Arrange a block of the system prompt, or the whole of it when it is one string."""
    marks: Marks = []
    arranged = arrange(value, BLOCK_ORDER, "", marks)
    pieces = Pieces()
    write_text(arranged, "", pieces)
    return Element(arranged, pieces.marked(marks), role, tuple(marks))


def tool(value: Json) -> Element:
    """Arrange a tool definition: every key counts and keeps its place, but for the cache marker."""
    marks: Marks = []
    arranged = value
    if isinstance(value, dict):
        _mark(value, "", marks)
        arranged = {k: v for k, v in value.items() if k not in NO_TEXT}
        if not arranged:
            marks.append(("", _ttl(next(iter(value.values()), None))))
    pieces = Pieces()
    if arranged or not isinstance(arranged, dict):
        pieces.json(arranged, "")
    return Element(arranged, pieces.marked(marks), "tools", tuple(marks))


def setting(value: Json) -> Element:
    """Arrange a setting that the model is told about (a choice of tools, an output schema)."""
    pieces = Pieces()
    if isinstance(value, str) and not isinstance(value, Number):
        pieces.add("", value, "json")
    else:
        pieces.json(value, "")
    return Element(value, tuple(pieces.found), "setting")


def write_text(value: Json, pointer: str, pieces: Pieces) -> None:
    """Write the strings of a message or block; tool inputs are written as JSON, binary data as a hash."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            write_text(item, f"{pointer}/{index}", pieces)
    elif isinstance(value, dict):
        for key, item in value.items():
            _write_member(value, key, item, join(pointer, key), pieces)
    elif isinstance(value, str) and not isinstance(value, Number):
        pieces.add(pointer, *_text_or_image(value))
    elif value is not None:
        pieces.json(value, pointer)


def _write_member(owner: dict[str, Json], key: str, item: Json, pointer: str, pieces: Pieces) -> None:
    if key == "role" and isinstance(item, str):
        pieces.add(pointer, item, "role")
    elif key in OPAQUE and isinstance(item, str):
        return
    elif key == "data" and isinstance(item, str) and any(k in owner for k in MEDIA_KEYS):
        pieces.add(pointer, _image(item), "image")
    elif key in JSON_MEMBERS and isinstance(item, (dict, list)):
        pieces.json(item, pointer)
    else:
        write_text(item, pointer, pieces)


def _text_or_image(text: str) -> tuple[str, SegmentKind]:
    if text.startswith("data:") and ";base64," in text[:200]:
        return _image(text.partition(",")[2]), "image"
    return text, "text"


def _image(data: str) -> str:
    """Name binary data by the hash of its bytes, so that it is compared and never printed."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        content = data.encode("utf-8", "surrogatepass")
    return f"<image {hashlib.sha256(content).hexdigest()[:16]}>"
