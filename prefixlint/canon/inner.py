"""Spell JSON that lives inside a string: tool arguments, and JSON documents in prompts."""

from __future__ import annotations

import json
import re

from prefixlint.canon import number
from prefixlint.canon.edits import apply
from prefixlint.errors import InputError
from prefixlint.json_spans import Document, Node, parse
from prefixlint.model import Edit

MAX_DEPTH = 200  # deeper than any schema; beyond it the text is left alone
_SURROGATE = re.compile("[\ud800-\udfff]")


def document(text: str) -> Document | None:
    """Parse a string that is one JSON object or list without comments and duplicate keys; None for any other."""
    stripped = text.strip(" \t\r\n")
    if not stripped.startswith(("{", "[")) or not stripped.endswith(("}", "]")):
        return None
    try:
        found = parse(text.encode("utf-8"))
    except (InputError, UnicodeEncodeError):
        return None
    plain = not any(found.comments()) and not any(found.trailing_commas()) and not any(found.duplicates())
    return found if plain and depth(found.root) <= MAX_DEPTH else None


def canonical(text: str) -> str:
    """Return JSON text with sorted keys, literal characters, plain numbers and no blanks; other text as it is.

    ``canonical('{"b": 1.0, "a": "\\\\u00e9"}')`` is ``'{"a":"é","b":1}'``.
    """
    found = document(text)
    return text if found is None else spell(found, found.root)


def plain(text: str) -> str:
    """Return JSON text with literal characters and plain numbers; order and blanks stay.

    ``plain('{"b": 1.0, "a": "\\u00e9"}')`` is ``'{"b": 1, "a": "é"}'``.
    """
    found = document(text)
    if found is None:
        return text
    edits = []
    for _, node in found.walk():
        if node.key is not None:
            edits.append(Edit(node.key_start_byte, node.key_end_byte, quote(node.key).encode()))
        if node.kind == "string":
            edits.append(Edit(node.start_byte, node.end_byte, quote(found.text(node)).encode()))
        elif node.kind == "number":
            edits.append(Edit(node.start_byte, node.end_byte, number.canonical(found.raw(node).decode()).encode()))
    return apply(found.data, edits).decode()


def spell(found: Document, node: Node) -> str:
    """Write one value of a document canonically; numbers come from their own digits, never through a float."""
    if node.kind == "object":
        members = sorted(node.children, key=lambda c: c.key or "")
        return "{" + ",".join(f"{quote(c.key or '')}:{spell(found, c)}" for c in members) + "}"
    if node.kind == "array":
        return "[" + ",".join(spell(found, c) for c in node.children) + "]"
    if node.kind == "string":
        return quote(found.text(node))
    raw = found.raw(node).decode("ascii")
    return number.canonical(raw) if node.kind == "number" else raw


def quote(text: str) -> str:
    """Write a string with every character literal that JSON allows; lone surrogates stay escaped."""
    plain = json.dumps(text, ensure_ascii=False)
    if plain.isascii() or not _SURROGATE.search(plain):
        return plain
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", plain)


def depth(node: Node) -> int:
    """Return how deep containers nest, without recursion."""
    level, deepest = [node], 0
    while level:
        level = [c for n in level for c in n.children]
        deepest += 1
    return deepest
