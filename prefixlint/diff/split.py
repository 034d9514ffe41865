"""Split a JSON array into its elements without decoding them, whatever is in its strings."""

from __future__ import annotations

import re

import msgspec

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]', re.DOTALL)


def elements(raw: bytes) -> list[bytes]:
    """Return the raw elements of an array.

    msgspec does it fast, but refuses lone surrogates and deep nesting, which logs do hold; then a scan does it.

    >>> elements(b'[1, {"a": [2, 3]}, "x,y"]')
    [b'1', b'{"a": [2, 3]}', b'"x,y"']
    """
    try:
        return [bytes(item) for item in _ARRAY.decode(raw)]
    except (msgspec.MsgspecError, RecursionError):
        return [raw[start:end].strip() for start, end in _pieces(raw)]


def is_one(raw: bytes) -> bool:
    """Say whether some bytes are exactly one JSON value."""
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def _pieces(raw: bytes) -> list[tuple[int, int]]:
    """Return where the elements of an array or the members of an object lie."""
    found, depth, start = [], 0, 0
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start() : token.start() + 1]
        if mark in (b"[", b"{"):
            depth += 1
            start = token.end() if depth == 1 else start
        elif mark in (b"]", b"}"):
            depth -= 1
            if not depth:
                found += [(start, token.start())] if raw[start : token.start()].strip() else []
                break
        elif mark == b"," and depth == 1:
            found.append((start, token.start()))
            start = token.end()
    return found


def member(raw: bytes, path: tuple[str, ...]) -> bytes | None:
    """Return the raw value behind a path of keys; None where one is missing.

    >>> member(b'{"role": "user", "parts": [1]}', ("parts",))
    b'[1]'
    """
    for key in path:
        wanted = msgspec.json.encode(key)
        pieces = [raw[start:end].strip() for start, end in _pieces(raw)]
        found = [piece[len(wanted) :].lstrip()[1:].strip() for piece in pieces if piece.startswith(wanted)]
        if not found:
            return None
        raw = found[-1]
    return raw
