"""Parse JSON and JSONC into spans: every value, key, comment and comma keeps its place in the original bytes.

Nothing is decoded before it is asked for, nesting is bounded by memory alone, and duplicate keys all stay.
"""

from __future__ import annotations

import decimal
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # there since 2.6, absent from typeshed
from typing import Literal

from prefixlint.errors import InputError
from prefixlint.model import Json
from prefixlint.pointers import escape_token as escape_token
from prefixlint.pointers import split_pointer as split_pointer

Kind = Literal["object", "array", "string", "number", "literal"]

# Possessive quantifiers keep every expression linear: a failed match never tries a shorter run.
_COMMENT = rb"(?://[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)"
_GAP = rb"[ \t\r\n]*+(?:" + _COMMENT + rb"[ \t\r\n]*+)*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9.eE+\-])"
_VALUE_AT = re.compile(rb"(?:(" + _STRING + rb")|(" + _NUMBER + rb")|((?:true|false|null)\b)|([{\[]))" + _GAP, re.S)
_KEY_AT = re.compile(rb"(" + _STRING + rb")" + _GAP + rb":" + _GAP, re.S)
_COMMA_AT = re.compile(rb"," + _GAP, re.S)
_GAP_AT = re.compile(_GAP, re.S)
_LEXEME = re.compile(rb"(" + _STRING + rb")|(" + _COMMENT + rb")|,(?=" + _GAP + rb"[}\]])", re.S)
_ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_KINDS: dict[int, Kind] = {1: "string", 2: "number", 3: "literal"}
_LITERALS = {b"true": True, b"false": False, b"null": None}
_BOM = b"\xef\xbb\xbf"
_CLOSER = {"object": 0x7D, "array": 0x5D}


@dataclass(slots=True, eq=False)
class Node:
    """Hold one value with its place; an object's children carry the key, its decoded text and its span.

    Treat it as frozen; it is not, since a frozen one takes three times as long to make.
    """

    kind: Kind
    start_byte: int
    end_byte: int
    key: str | None = None
    key_start_byte: int = -1
    key_end_byte: int = -1
    children: list[Node] = field(default_factory=list)

    def child(self, token: str) -> Node | None:
        """Return the member or element that a pointer token names; of duplicate keys the last, as decoders do."""
        if self.kind == "object":
            return next((c for c in reversed(self.children) if c.key == token), None)
        if self.kind != "array" or not _is_index(token) or int(token) >= len(self.children):
            return None
        return self.children[int(token)]

    def keys(self) -> list[str]:
        """Return the keys of an object in document order, duplicates included."""
        return [c.key for c in self.children if c.key is not None]


@dataclass(slots=True, eq=False)
class Document:
    """Hold the original bytes with the tree of their spans."""

    data: bytes
    root: Node
    _starts: list[int] = field(default_factory=list)

    def node(self, pointer: str) -> Node | None:
        """Return the node at an RFC 6901 pointer, or None where the document has none."""
        found: Node | None = self.root
        for token in split_pointer(pointer):
            found = found.child(token) if found else None
        return found

    def raw(self, node: Node) -> bytes:
        """Return the bytes of a value as they are written."""
        return self.data[node.start_byte : node.end_byte]

    def text(self, node: Node) -> str:
        """Decode a string; lone surrogates stay, as in ``json.loads``."""
        return decode_string(self.data[node.start_byte : node.end_byte])

    def value(self, node: Node | None = None) -> Json:
        """Decode a value and all below it; of duplicate keys the last wins."""
        return _value(self, node or self.root)

    def walk(self) -> Iterator[tuple[str, Node]]:
        """Yield every value with its pointer, in document order."""
        todo = [("", self.root)]
        while todo:
            pointer, node = todo.pop()
            yield pointer, node
            below = (
                (f"{pointer}/{escape_token(c.key) if c.key is not None else i}", c) for i, c in enumerate(node.children)
            )
            todo.extend(reversed(list(below)))

    def duplicates(self) -> Iterator[tuple[str, Node, Node]]:
        """Yield (pointer of the object, earlier member, member that repeats its key)."""
        for pointer, node in self.walk():
            if node.kind != "object" or len(set(node.keys())) == len(node.children):
                continue
            seen: dict[str | None, Node] = {}
            for member in node.children:
                if member.key in seen:
                    yield pointer, seen[member.key], member
                seen[member.key] = member

    def comments(self) -> Iterator[tuple[int, int]]:
        """Yield the byte span of every comment."""
        return (m.span() for m in _LEXEME.finditer(self.data) if m.lastindex == 2)

    def trailing_commas(self) -> Iterator[int]:
        """Yield the byte of every comma that stands before a closing bracket."""
        return (m.start() for m in _LEXEME.finditer(self.data) if m.lastindex is None)

    def byte_of(self, pointer: str, char_offset: int = 0) -> int:
        """Return the raw byte at which a decoded character of the string at ``pointer`` begins.

        The end of the text is the closing quote; in a number or literal characters are bytes; ValueError without
        such a value. ``byte_of("/a", 1)`` of ``{"a": "\\u00e9x"}`` is 13.
        """
        node = self.node(pointer)
        if node is None:
            raise ValueError(f"no value at {pointer!r}")
        if node.kind != "string":
            return min(node.start_byte + char_offset, node.end_byte)
        return node.start_byte + raw_offset(self.raw(node), char_offset)

    def char_of(self, node: Node, byte: int) -> int:
        """Return the decoded character of a string in whose spelling a raw byte lies."""
        raw = self.data[node.start_byte + 1 : min(byte, node.end_byte - 1)]
        return sum(_widths(raw))

    def line_column(self, byte: int) -> tuple[int, int]:
        """Return line and column of a byte, both from 1, columns in code points."""
        if not self._starts:
            self._starts = [0, *(m.end() for m in re.finditer(b"\n", self.data))]
        line = bisect_right(self._starts, byte)
        return line, len(self.data[self._starts[line - 1] : byte].decode("utf-8", "ignore")) + 1


def parse(data: bytes, *, path: str = "") -> Document:
    """Parse JSON with or without comments and trailing commas; InputError has line and column."""
    _check_encoding(data, path)
    pos = _skip(data, len(_BOM) if data.startswith(_BOM) else 0)
    if pos == len(data):
        raise InputError("is empty, expected JSON", path=path)
    root, pos = _tree(data, pos, path)
    if pos < len(data):
        raise _error(data, pos, "unexpected text after the JSON value", path)
    return Document(data, root)


def line_column(data: bytes, byte: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1, columns in code points."""
    start = data.rfind(b"\n", 0, byte) + 1
    return data.count(b"\n", 0, byte) + 1, len(data[start:byte].decode("utf-8", "ignore")) + 1


def decode_string(raw: bytes) -> str:
    """Decode the bytes of a string, quotes included."""
    text = raw.decode("utf-8")
    return str(scanstring(text, 1, True)[0]) if "\\" in text else text[1:-1]


def raw_offset(raw: bytes, char_offset: int) -> int:
    """Return where a decoded character begins in the bytes of a string, quotes included; the end is clamped."""
    if raw.isascii() and b"\\" not in raw:
        return min(char_offset + 1, len(raw) - 1)
    left, pos = char_offset, 1
    for match in _ESCAPE.finditer(raw, 1, len(raw) - 1):
        plain = raw[pos : match.start()].decode("utf-8")
        if left < len(plain):
            return pos + len(plain[:left].encode("utf-8"))
        left -= len(plain)
        if left < 1:
            return match.start()
        left, pos = left - 1, match.end()
    return pos + len(raw[pos:-1].decode("utf-8")[:left].encode("utf-8"))


def _widths(raw: bytes) -> Iterator[int]:
    """Count the characters of a raw piece of string, run by run; a cut escape or character does not count."""
    pos = 0
    for match in _ESCAPE.finditer(raw):
        yield len(raw[pos : match.start()].decode("utf-8", "ignore"))
        # A pair that is cut in the middle looks like a lone escape but is one character, not yet passed.
        whole = match.group()
        cut = match.end() == len(raw) and len(whole) == 6 and whole[2:4].lower() in _HIGH
        yield 0 if cut else 1
        pos = match.end()
    yield len(raw[pos:].split(b"\\")[0].decode("utf-8", "ignore"))


_HIGH = {b"d8", b"d9", b"da", b"db"}


def _check_encoding(data: bytes, path: str) -> None:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("is UTF-16, expected UTF-8; save it again as UTF-8", path=path)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error(data, error.start, f"byte 0x{data[error.start]:02x} is not UTF-8", path) from error


def _tree(data: bytes, pos: int, path: str) -> tuple[Node, int]:
    """Build the tree without recursion; one turn of the loop reads one value or closes one container.

    Longer than the house likes: calls in here would double the time of every parse.
    """
    root = Node("array", pos, pos)
    stack: list[Node] = []
    top, is_object, closer = root, False, -1
    value_at, key_at, comma_at = _VALUE_AT.match, _KEY_AT.match, _COMMA_AT.match
    size = len(data)
    while True:
        if pos < size and data[pos] == closer:
            top.end_byte = pos + 1
            pos = _skip(data, pos + 1)
            top = stack.pop()
        else:
            key, key_start, key_end = None, -1, -1
            if is_object:
                match = key_at(data, pos)
                if match is None:
                    raise _key_error(data, pos, path)
                key_start, key_end = match.span(1)
                key, pos = decode_string(match[1]), match.end()
            match = value_at(data, pos)
            if match is None:
                raise _value_error(data, pos, path)
            group = match.lastindex or 0
            start, end = match.span(group)
            pos = match.end()
            kind = _KINDS.get(group) or ("object" if data[start] == 0x7B else "array")
            node = Node(kind, start, end, key, key_start, key_end)
            top.children.append(node)
            if group == 4:
                stack.append(top)
                top, is_object, closer = node, kind == "object", _CLOSER[kind]
                continue
        if top is root:
            return root.children[0], pos
        is_object = top.kind == "object"
        closer = _CLOSER[top.kind]
        match = comma_at(data, pos)
        if match is not None:
            pos = match.end()
        elif pos >= size or data[pos] != closer:
            raise _error(data, pos, f"expected ',' or {chr(closer)!r}", path)


def _skip(data: bytes, pos: int) -> int:
    match = _GAP_AT.match(data, pos)
    assert match is not None
    return match.end()


def _error(data: bytes, pos: int, message: str, path: str) -> InputError:
    line, column = line_column(data, pos)
    if pos >= len(data):
        message = f"the file ends here, {message}" if message.startswith("expected") else message
    return InputError(message, path=path, line=line, column=column)


def _key_error(data: bytes, pos: int, path: str) -> InputError:
    match = re.compile(_STRING + _GAP).match(data, pos)
    if match is not None:
        return _error(data, match.end(), "expected ':' after the key", path)
    if data[pos : pos + 1] == b'"':
        return _value_error(data, pos, path)
    return _error(data, pos, "expected a key in double quotes or '}'", path)


def _value_error(data: bytes, pos: int, path: str) -> InputError:
    if data[pos : pos + 1] != b'"':
        return _error(data, pos, "expected a JSON value", path)
    end = re.compile(_STRING[:-1]).match(data, pos)
    at = end.end() if end else pos
    if at >= len(data):
        return _error(data, pos, "the string has no end", path)
    if data[at] < 0x20:
        return _error(data, at, f"control character 0x{data[at]:02x} in a string must be escaped", path)
    return _error(data, at, "unknown escape in a string", path)


def _value(document: Document, node: Node) -> Json:
    """Decode without recursion: containers are made first and filled afterwards."""
    if not node.children:
        return _scalar(document, node)
    made: Json = {} if node.kind == "object" else []
    todo: list[tuple[Node, Json]] = [(node, made)]
    while todo:
        parent, target = todo.pop()
        for child in parent.children:
            value = _scalar(document, child)
            if isinstance(target, dict):
                target[child.key] = value
            else:
                target.append(value)
            if child.children:
                todo.append((child, value))
    return made


def _scalar(document: Document, node: Node) -> Json:
    if node.kind == "string":
        return document.text(node)
    if node.kind == "object":
        return {}
    if node.kind == "array":
        return []
    raw = document.raw(node)
    return _number(raw) if node.kind == "number" else _LITERALS[raw]


def _number(raw: bytes) -> int | float:
    # Python refuses to read integers of over 4,300 digits from text; Decimal takes another way.
    if len(raw) > 4000 and raw.lstrip(b"-").isdigit():
        return int(decimal.Decimal(raw.decode("ascii")))
    number: int | float = json.loads(raw)
    return number


def _is_index(token: str) -> bool:
    return token.isascii() and token.isdigit() and (token == "0" or token[0] != "0")
