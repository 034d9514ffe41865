"""Parse TOML into spans: every value and key keeps its place in the original bytes.

``tomllib`` decides what is valid; this scanner only finds where things are, so it may assume valid input. The text is
scanned as Latin-1, in which one character is one byte; strings are decoded as UTF-8 when asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from prefixlint.errors import InputError
from prefixlint.json_spans import Document, Node, line_column
from prefixlint.model import Json

_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
_LITERAL = re.compile(r"'[^']*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.S)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.S)
_SCALAR = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]*|[^\s,\]}#]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([ \t]*\r?\n[ \t\r\n]*)|(.))", re.S)
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True, eq=False)
class TomlDocument(Document):
    """Hold the original bytes, the tree of their spans and the decoded value."""

    decoded: Json = field(default_factory=dict)

    def value(self, node: Node | None = None) -> Json:
        """Return the decoded document, or decode one string of it."""
        return self.decoded if node is None or node is self.root else self.text(node)

    def text(self, node: Node) -> str:
        """Decode a string; other scalars come as they are written."""
        return "".join(char for char, _ in _characters(self.raw(node)))

    def byte_of(self, pointer: str, char_offset: int = 0) -> int:
        """Return the raw byte at which a decoded character of the string at ``pointer`` begins."""
        node = self.node(pointer)
        if node is None:
            raise ValueError(f"no value at {pointer!r}")
        raw = self.raw(node)
        for index, (_, byte) in enumerate(_characters(raw)):
            if index == char_offset:
                return node.start_byte + byte
        return node.end_byte - len(_quote(raw.decode("latin-1")))


def parse(data: bytes, *, path: str = "") -> TomlDocument:
    """Parse TOML; InputError has line and column."""
    decoded = load(data, path=path)
    return TomlDocument(data, _Scanner(data).document(), decoded=decoded)


def load(data: bytes, *, path: str = "") -> Json:
    """Decode TOML without looking for places."""
    import tomllib

    try:
        return tomllib.loads(data.removeprefix(_BOM).decode("utf-8"))
    except RecursionError as error:
        raise InputError("nested too deeply to be settings", path=path) from error
    except UnicodeDecodeError as error:
        line, column = line_column(data, error.start)
        raise InputError(f"byte 0x{data[error.start]:02x} is not UTF-8", path=path, line=line, column=column) from error
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line, column = (int(found[1]), int(found[2])) if found else (data.count(b"\n") + 1, 1)
        message = _PLACE.sub("", str(error)).replace("(at end of document)", "").strip()
        raise InputError(f"not valid TOML: {message}", path=path, line=line, column=column) from error


class _Scanner:
    """Walk over valid TOML and build the tree of spans."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("latin-1")
        self.pos = len(_BOM) if data.startswith(_BOM) else 0
        self.root = Node("object", self.pos, len(data))

    def document(self) -> Node:
        """Read tables and members up to the end."""
        table = self.root
        while self.skip() < len(self.text):
            if self.text[self.pos] == "[":
                table = self.header()
                continue
            self.member(table)
        return self.root

    def skip(self) -> int:
        """Pass blanks, line ends and comments."""
        self.pos = self.match(_SKIP).end()
        return self.pos

    def match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Match at the current place; valid input always does."""
        found = pattern.match(self.text, self.pos)
        assert found is not None, (self.pos, pattern.pattern)
        return found

    def header(self) -> Node:
        """Read ``[a.b]`` or ``[[a.b]]`` and return the table that it opens."""
        is_array = self.text.startswith("[[", self.pos)
        start = self.pos
        self.pos += 2 if is_array else 1
        path = self.key()
        self.pos = self.text.index("]", self.pos) + (2 if is_array else 1)
        table = self.root
        for token, key_start, key_end in path[:-1]:
            table = _into(_open(table, token, key_start, key_end))
        token, key_start, key_end = path[-1]
        if not is_array:
            found = _into(_open(table, token, key_start, key_end))
            found.end_byte = self.pos
            return found
        array = _open(table, token, key_start, key_end, kind_array=True)
        array.children.append(Node("object", start, self.pos))
        return array.children[-1]

    def key(self) -> list[tuple[str, int, int]]:
        """Read a dotted key: each part decoded, with its bytes."""
        parts = []
        while True:
            self.pos = self.match(_BLANK).end()
            quoted = self.text[self.pos] in "\"'"
            found = self.match(_string_pattern(self.text, self.pos) if quoted else _BARE_KEY)
            raw = found.group().encode("latin-1")
            token = "".join(c for c, _ in _characters(raw)) if quoted else found.group()
            parts.append((token, *found.span()))
            self.pos = found.end()
            self.pos = self.match(_BLANK).end()
            if self.text[self.pos] != ".":
                return parts
            self.pos += 1

    def member(self, table: Node) -> None:
        """Read ``key = value`` into a table."""
        path = self.key()
        self.pos = self.text.index("=", self.pos) + 1
        self.skip()
        for token, key_start, key_end in path[:-1]:
            table = _into(_open(table, token, key_start, key_end))
        node = self.value()
        node.key, node.key_start_byte, node.key_end_byte = path[-1]
        table.children.append(node)
        table.end_byte = max(table.end_byte, node.end_byte)

    def value(self) -> Node:
        """Read one value."""
        start, char = self.pos, self.text[self.pos]
        if char == "[":
            return self.array()
        if char == "{":
            return self.inline_table()
        quoted = char in "\"'"
        self.pos = self.match(_string_pattern(self.text, start) if quoted else _SCALAR).end()
        return Node("string" if quoted else "literal", start, self.pos)

    def array(self) -> Node:
        """Read ``[value, value]``."""
        node = Node("array", self.pos, self.pos)
        self.pos += 1
        while self.text[self.skip()] != "]":
            node.children.append(self.value())
            if self.text[self.skip()] == ",":
                self.pos += 1
        self.pos += 1
        node.end_byte = self.pos
        return node

    def inline_table(self) -> Node:
        """Read ``{key = value, key = value}``."""
        node = Node("object", self.pos, self.pos)
        self.pos += 1
        while self.text[self.skip()] != "}":
            self.member(node)
            if self.text[self.skip()] == ",":
                self.pos += 1
        self.pos += 1
        node.end_byte = self.pos
        return node


def _open(table: Node, token: str, key_start: int, key_end: int, *, kind_array: bool = False) -> Node:
    found = table.child(token)
    if found is None:
        found = Node("array" if kind_array else "object", key_start, key_end, token, key_start, key_end)
        table.children.append(found)
    return found


def _into(node: Node) -> Node:
    """Return the table itself, or the newest of an array of tables."""
    return node.children[-1] if node.kind == "array" else node


def _string_pattern(text: str, pos: int) -> re.Pattern[str]:
    if text.startswith('"""', pos):
        return _LONG_BASIC
    if text.startswith("'''", pos):
        return _LONG_LITERAL
    return _BASIC if text[pos] == '"' else _LITERAL


def _quote(raw: str) -> str:
    return raw[:3] if raw[:3] in ('"""', "'''") else raw[:1] if raw[:1] in ('"', "'") else ""


def _characters(raw: bytes) -> Iterator[tuple[str, int]]:
    """Yield each decoded character of a string with the byte at which its spelling begins."""
    text = raw.decode("utf-8")
    quote = _quote(text)
    pos, end = len(quote), len(text) - len(quote)
    if len(quote) == 3:
        pos += 2 if text.startswith("\r\n", pos) else 1 if text.startswith("\n", pos) else 0
    byte = len(text[:pos].encode())
    while pos < end:
        found = _ESCAPE.match(text, pos) if quote[:1] == '"' and text[pos] == "\\" else None
        width = found.end() - pos if found else 1
        char = _unescape(found) if found else text[pos]
        if char:
            yield char, byte
        byte += len(text[pos : pos + width].encode())
        pos += width


def _unescape(found: re.Match[str]) -> str:
    """Decode one escape; a backslash at a line end stands for nothing."""
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16))
    return "" if found[4] is not None else _SHORT.get(found[5], found[5])
