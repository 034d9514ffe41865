"""Canonicalize a single body in a file: its prompt parts, the rest keeps its order and spelling."""

from __future__ import annotations

from prefixlint.canon.agree import INSTRUCTIONS, TALK, TOOLS
from prefixlint.canon.body import Walk, is_developer
from prefixlint.model import Json

# Values that tools are called with: data, whose key order is free; around them the order of keys is the file's.
_DATA = ("input", "args", "arguments")


def canonical(body: dict[str, Json], walk: Walk) -> dict[str, Json]:
    """Return the body with canonical tools and developer text; other roles follow the options of the walk."""
    return {key: _member(key, value, walk) for key, value in body.items()}


def _member(key: str, value: Json, walk: Walk) -> Json:
    if key in TOOLS and isinstance(value, list):
        return walk.tools(value)
    if key == "toolConfig":
        if not isinstance(value, dict):
            return value
        return {k: walk.tools(v) if k == "tools" and isinstance(v, list) else v for k, v in value.items()}
    if key in INSTRUCTIONS:
        return outer_like(walk.member(key, value), value)
    if key in TALK and isinstance(value, list):
        return [outer_like(walk.message(m), m) if _covers(m, walk) else m for m in value]
    if key in ("prompt", "input") and isinstance(value, str):
        return walk.member(key, value)
    return value


def _covers(message: Json, walk: Walk) -> bool:
    return isinstance(message, dict) and (walk.options.all_roles or is_developer(message))


def outer_like(form: Json, first: Json) -> Json:
    """Give a canonical value the key order it had, down to the values that tools are called with."""
    if isinstance(form, dict) and isinstance(first, dict):
        return {key: form[key] if key in _DATA else outer_like(form[key], first[key]) for key in first if key in form}
    if isinstance(form, list) and isinstance(first, list) and len(form) == len(first):
        return [outer_like(a, b) for a, b in zip(form, first, strict=True)]
    return form
