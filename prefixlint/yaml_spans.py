"""Parse YAML into spans: every value and key keeps its place in the original bytes.

PyYAML's ``compose`` says where each scalar begins and ends; within a scalar this module aligns the decoded text with
its spelling (block indentation, folded line breaks, quotes, escapes).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from prefixlint.errors import InputError
from prefixlint.json_spans import Document, Node, line_column
from prefixlint.model import Json

_PROPERTY = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")
_HEADER = re.compile(r"[|>][^\n]*\n")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(\r?\n[ \t]*)|(.))", re.S)
_SHORT = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_BLANKS = " \t\r\n"
_BOM = "\ufeff"
_MAX_REPEATED = 20_000  # aliases of aliases ("billion laughs") end here


@dataclass(slots=True, eq=False)
class YamlDocument(Document):
    """Hold the original bytes, the tree of their spans and the decoded value."""

    source: str = ""
    decoded: Json = None
    scalars: dict[int, Any] = field(default_factory=dict)
    aligned: dict[int, list[int]] = field(default_factory=dict)

    def value(self, node: Node | None = None) -> Json:
        """Return the decoded document, or the text of one scalar."""
        return self.decoded if node is None or node is self.root else self.text(node)

    def text(self, node: Node) -> str:
        """Return the decoded text of a scalar."""
        return str(self.scalars[id(node)].value) if id(node) in self.scalars else ""

    def byte_of(self, pointer: str, char_offset: int = 0) -> int:
        """Return the raw byte at which a decoded character of the scalar at ``pointer`` begins."""
        node = self.node(pointer)
        if node is None:
            raise ValueError(f"no value at {pointer!r}")
        scalar = self.scalars.get(id(node))
        if scalar is None:
            return node.start_byte
        start, end = scalar.start_mark.index, scalar.end_mark.index
        if id(node) not in self.aligned:
            self.aligned[id(node)] = align(self.source[start:end], scalar.value, scalar.style or "")
        places = self.aligned[id(node)]
        return len(self.source[: start + places[min(char_offset, len(places) - 1)]].encode())


def parse(data: bytes, *, path: str = "") -> YamlDocument:
    """Parse YAML; several documents become one list. InputError has line and column."""
    import yaml

    source = _decode(data, path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        roots = list(yaml.compose_all(source.removeprefix(_BOM), Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise InputError(f"not valid YAML: {error.problem}", path=path, line=place[0], column=place[1]) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"not valid YAML: {str(error).splitlines()[0]}", path=path) from error
    return _Builder(data, source).document([r for r in roots if r is not None])


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = line_column(data, error.start)
        raise InputError(f"byte 0x{data[error.start]:02x} is not UTF-8", path=path, line=line, column=column) from error


class _Builder:
    """Turn PyYAML's nodes into spans and values."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data = data
        self.is_ascii = source.isascii()
        self.bom = len(_BOM) if source.startswith(_BOM) else 0
        self.source = source.removeprefix(_BOM)
        self.scalars: dict[int, Any] = {}
        self.seen: set[int] = set()
        self.repeated = 0
        self.open: set[int] = set()

    def document(self, roots: list[Any]) -> YamlDocument:
        """Build the document; no root at all is an empty file."""
        if len(roots) == 1:
            root, value = self.node(roots[0])
        else:
            built = [self.node(r) for r in roots]
            root, value = Node("array", 0, len(self.data)), [v for _, v in built]
            root.children.extend(n for n, _ in built)
            value = value or None
        found = YamlDocument(self.data, root, source=self.source, decoded=value, scalars=self.scalars)
        if self.bom:
            found.source = _BOM + self.source
            found.scalars = {k: _Shifted(s) for k, s in self.scalars.items()}
        return found

    def byte(self, index: int) -> int:
        """Turn a character index of PyYAML into a byte of the file."""
        return (index if self.is_ascii else len(self.source[:index].encode())) + 3 * self.bom

    def node(self, found: Any) -> tuple[Node, Json]:
        """Build one node and its value; an alias repeats the place of its anchor."""
        self.repeated += id(found) in self.seen
        self.seen.add(id(found))
        if self.repeated > _MAX_REPEATED or id(found) in self.open:
            raise InputError("not valid YAML: an anchor that contains itself, or too many aliases")
        start, end = found.start_mark.index, found.end_mark.index
        if found.id == "scalar":
            skipped = _PROPERTY.match(self.source, start, end) if self.source[start : start + 1] in "&!" else None
            place = (self.byte(skipped.end() if skipped else start), self.byte(end))
            node = Node("string" if found.tag.endswith(":str") else "literal", *place)
            self.scalars[id(node)] = found
            return node, _scalar(found)
        self.open.add(id(found))
        node = Node("object" if found.id == "mapping" else "array", self.byte(start), self.byte(end))
        value = self.mapping(found, node) if found.id == "mapping" else self.sequence(found, node)
        self.open.discard(id(found))
        return node, value

    def mapping(self, found: Any, node: Node) -> dict[str, Json]:
        """Build a mapping; keys become text, merged ones (``<<``) come first so that own ones win."""
        value: dict[str, Json] = {}
        for key, member in found.value:
            child, decoded = self.node(member)
            # A key that is no scalar has no pointer; its place among the members tells it from others.
            name = str(key.value) if key.id == "scalar" else f"?{len(node.children)}"
            child.key = name
            child.key_start_byte, child.key_end_byte = self.byte(key.start_mark.index), self.byte(key.end_mark.index)
            node.children.append(child)
            if name == "<<" and isinstance(decoded, dict):
                node.children[:0] = child.children
                value = {**decoded, **value}
                continue
            value[name] = decoded
        return value

    def sequence(self, found: Any, node: Node) -> list[Json]:
        """Build a sequence."""
        built = [self.node(member) for member in found.value]
        node.children.extend(n for n, _ in built)
        return [v for _, v in built]


class _Mark:
    def __init__(self, index: int) -> None:
        self.index = index


class _Shifted:
    """Hold a scalar of a file with a BOM, its marks moved by the BOM."""

    def __init__(self, scalar: Any) -> None:
        self.value, self.style = scalar.value, scalar.style
        self.start_mark, self.end_mark = _Mark(scalar.start_mark.index + 1), _Mark(scalar.end_mark.index + 1)


def _scalar(found: Any) -> Json:
    """Decode a plain scalar; dates stay text, since nothing here computes with them."""
    text = str(found.value)
    kind = found.tag.rpartition(":")[2]
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if kind == "null":
        return None
    try:
        return int(text.replace("_", ""), 0) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text


def align(raw: str, value: str, style: str) -> list[int]:
    """Return, for each character of the decoded value and for its end, where it stands in the spelling.

    Blanks around line breaks are matched piece by piece; where the two cannot be matched everything stands at the
    start of the scalar, which is always true and never precise.
    """
    aligned = _Alignment(raw, value, style)
    return aligned.places() or [aligned.start] * (len(value) + 1)


class _Alignment:
    def __init__(self, raw: str, value: str, style: str) -> None:
        self.raw, self.value, self.style = raw, value, style
        skipped = _PROPERTY.match(raw) if raw[:1] and raw[0] in "&!" else None
        self.start = skipped.end() if skipped else 0
        self.is_block = style in "|>" and style != ""
        self.found: list[int] = []
        # What is spelled in another way than it reads; in block and plain scalars nothing is.
        self.quoting = {'"': "\\", "'": "'"}.get(style, "\n")

    def places(self) -> list[int]:
        """Walk over both; empty when they do not fit."""
        pos, index, fresh = self.begin(), 0, True
        while index < len(self.value):
            char = self.raw[pos : pos + 1]
            if fresh and char and char not in _BLANKS:
                stop, fresh = self.line(pos, index), False
                pos, index = pos + stop - index, stop
            elif char in _BLANKS and char:
                before = pos
                pos, index = self.blanks(pos, index)
                fresh = fresh or "\n" in self.raw[before:pos]
            elif char == "\\" and self.style == '"':
                pos, index = self.escape(pos, index)
            else:
                pos, index = self.plain(pos, index)
            if pos < 0:
                return []
        return [*self.found, min(pos, len(self.raw))]

    def line(self, pos: int, index: int) -> int:
        """Take the rest of a line at once where both spell it alike; return where the decoded line ends."""
        stop = self.value.find("\n", index)
        stop = len(self.value) if stop < 0 else stop
        text = self.value[index:stop]
        if self.quoting in text or not self.raw.startswith(text, pos):
            return index
        self.found += range(pos, pos + stop - index)
        return stop

    def begin(self) -> int:
        if self.is_block:
            header = _HEADER.match(self.raw, self.start)
            # One step back: the line end of the header makes the first line look like every other one.
            return header.end() - 1 if header else self.start
        return self.start + (1 if self.style in "\"'" and self.style else 0)

    def plain(self, pos: int, index: int) -> tuple[int, int]:
        if self.raw[pos : pos + 1] != self.value[index]:
            return -1, index
        self.found.append(pos)
        doubled = self.style == "'" and self.raw.startswith("''", pos)
        return pos + (2 if doubled else 1), index + 1

    def escape(self, pos: int, index: int) -> tuple[int, int]:
        match = _ESCAPE.match(self.raw, pos)
        if match is None:
            return -1, index
        if match[4] is not None:
            return match.end(), index
        code = match[1] or match[2] or match[3]
        char = chr(int(code, 16)) if code else _SHORT.get(match[5], match[5])
        if char != self.value[index]:
            return -1, index
        self.found.append(pos)
        return match.end(), index + 1

    def blanks(self, pos: int, index: int) -> tuple[int, int]:
        """Match a run of blanks and line ends in the spelling with the run that it became."""
        end = pos
        while self.raw[end : end + 1] and self.raw[end] in _BLANKS:
            end += 1
        stop = index
        while stop < len(self.value) and self.value[stop] in _BLANKS:
            stop += 1
        run = self.value[index:stop]
        is_first = self.is_block and not self.found
        self.found += _run(self.raw, pos, end, "\n" + run if is_first else run)[is_first:]
        return end, stop


def _run(raw: str, pos: int, end: int, run: str) -> list[int]:
    """Place the decoded blanks: before the first line end from the left, after a line end from the right."""
    breaks = [i for i in range(pos, end) if raw[i] == "\n"]
    if not breaks:
        return [min(pos + i, end - 1) for i in range(len(run))]
    if "\n" not in run:
        return [min(pos + i, breaks[0]) for i in range(len(run))]
    pieces = run.split("\n")
    used = breaks[-(len(pieces) - 1) :]
    used = [breaks[0]] * (len(pieces) - 1 - len(used)) + used
    places = [min(pos + i, used[0]) for i in range(len(pieces[0]))]
    for piece, at, following in zip(pieces[1:], used, [*used[1:], end], strict=True):
        places.append(at)
        places += [max(following - len(piece) + i, at) for i in range(len(piece))]
    return places
