"""Read and replace values of a decoded document by pointer; what does not change is shared."""

from __future__ import annotations

from prefixlint.json_spans import escape_token, split_pointer
from prefixlint.model import Json


def at(value: Json, pointer: str) -> Json:
    """Return the value at a pointer, or None where there is none."""
    for token in split_pointer(pointer):
        if isinstance(value, list):
            value = value[int(token)] if token.isdigit() and int(token) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(token)
        else:
            return None
    return value


def with_value(value: Json, pointer: str, new: Json) -> Json:
    """Return a document with another value at a pointer that exists."""
    tokens = split_pointer(pointer)
    if not tokens:
        return value if type(new) is str and type(value) is str and new == value else new
    below = "".join(f"/{escape_token(t)}" for t in tokens[1:])
    if isinstance(value, list):
        index = int(tokens[0])
        changed = with_value(value[index], below, new)
        return value if changed is value[index] else [*value[:index], changed, *value[index + 1 :]]
    changed = with_value(value[tokens[0]], below, new)
    return value if changed is value[tokens[0]] else {**value, tokens[0]: changed}


def replaced(value: Json, old: str, new: str) -> Json:
    """Replace every string that equals ``old``, at any depth."""
    if type(value) is str:
        return new if value == old else value
    if isinstance(value, list):
        items = [replaced(v, old, new) for v in value]
        return value if all(a is b for a, b in zip(value, items, strict=True)) else items
    if isinstance(value, dict):
        members = {k: replaced(v, old, new) for k, v in value.items()}
        return value if all(members[k] is value[k] for k in members) else members
    return value
