"""Turn a document into another value by the fewest byte edits; all that stays keeps its spelling.

Members and elements that move take their bytes with them, the gaps between them stay where they are, so indentation
and commas survive. A container with comments between its members is not put into another order.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from prefixlint.canon import edits as byte_edits
from prefixlint.canon import inner
from prefixlint.canon.fixed import FixedDict, FixedList
from prefixlint.canon.text import TextEdit, trim
from prefixlint.elements import Number
from prefixlint.json_spans import Document, Node, escape_token, parse, raw_offset
from prefixlint.model import Edit, Json
from prefixlint.prefix import lcp

_MADE_BYTES = 64_000_000  # of new elements whose spelling is kept
_SMALL = 64  # bytes below which a list is not worth taking apart


def decode(document: Document, node: Node) -> Json:
    """Decode a value with every number as it is written; what cannot be put in order comes as ``Fixed``."""
    raw = document.raw(node)
    if not any(True for _ in document.comments()) and not any(True for _ in document.trailing_commas()):
        return json.loads(raw, parse_int=Number, parse_float=Number, object_pairs_hook=_object)
    return _decoded(document, node)


@dataclass(slots=True)
class Interned:
    """Decode values so that equal bytes become one object: memory is bounded by what a log says, not by its repeats."""

    known: dict[bytes, Json] = field(default_factory=dict)
    raws: dict[int, bytes] = field(default_factory=dict)  # by identity; ``known`` keeps the values alive
    made: dict[int, tuple[Json, bytes]] = field(default_factory=dict)
    made_bytes: int = 0

    def spell(self, value: Json) -> bytes:
        """Write a value as JSON; what was decoded here has its own bytes again, element by element."""
        found = self.raws.get(id(value))
        if found is not None:
            return found
        if isinstance(value, list):
            return b"[" + b",".join(map(self.spell, value)) + b"]"
        memo = self.made.get(id(value))
        return memo[1] if memo else self._dump(value)

    def _dump(self, value: Json) -> bytes:
        raw = dump(value)
        if self.made_bytes > _MADE_BYTES:
            self.made.clear()
            self.made_bytes = 0
        self.made[id(value)] = (value, raw)
        self.made_bytes += len(raw) + 200
        return raw

    def body(self, members: Mapping[str, bytes]) -> dict[str, Json]:
        """Decode the members of a body; elements of lists are shared one by one."""
        return {key: self._member(raw) for key, raw in members.items()}

    def _member(self, raw: bytes) -> Json:
        if raw[:1] != b"[" or len(raw) < _SMALL:
            return self._value(raw)
        import msgspec

        try:
            items = [bytes(item) for item in msgspec.json.decode(raw, type=list[msgspec.Raw])]
        except msgspec.MsgspecError:  # it refuses lone surrogates, which are what a fix is for
            document = parse(raw)
            items = [document.raw(node) for node in document.root.children]
        return [self._value(item) for item in items]

    def _value(self, raw: bytes) -> Json:
        found = self.known.get(raw, self)
        if found is self:
            found = json.loads(raw, parse_int=Number, parse_float=Number, object_pairs_hook=_object)
            self.known[raw] = found
            self.raws.setdefault(id(found), raw)
        return found


def dump(value: Json) -> bytes:
    """Write a decoded value with its numbers as they are spelled."""
    if isinstance(value, dict):
        return b"{" + b",".join(json.dumps(k).encode() + b":" + dump(v) for k, v in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(dump, value)) + b"]"
    return str.__str__(value).encode() if isinstance(value, Number) else json.dumps(value).encode()


def _object(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    return found if len(found) == len(members) else FixedDict(found)


def _decoded(document: Document, node: Node) -> Json:
    if node.kind == "object":
        found = _object([(c.key or "", _decoded(document, c)) for c in node.children])
        return FixedDict(found) if has_comments(document, node) else found
    if node.kind == "array":
        items = [_decoded(document, c) for c in node.children]
        return FixedList(items) if has_comments(document, node) else items
    return Number(document.raw(node).decode()) if node.kind == "number" else document.value(node)


def splice(document: Document, node: Node, old: Json, new: Json, pointer: str = "") -> Iterator[Edit]:
    """Yield the edits that turn ``old``, the value of ``node``, into ``new``; parts of ``old`` in ``new`` are kept."""
    return Splicer(document).edits(node, old, new, pointer)


@dataclass(slots=True)
class Splicer:
    """Write one document anew where its value changes."""

    document: Document

    def edits(self, node: Node, old: Json, new: Json, pointer: str) -> Iterator[Edit]:
        """Yield the edits below one value."""
        if old is new:
            return
        if isinstance(old, dict) and isinstance(new, dict) and node.kind == "object":
            yield from self._object(node, old, new, pointer)
        elif isinstance(old, list) and isinstance(new, list) and node.kind == "array":
            yield from self._array(node, old, new, pointer)
        elif type(old) is str and type(new) is str:
            yield from self._string(node, old, new, pointer)
        elif old != new or type(old) is not type(new):
            yield Edit(node.start_byte, node.end_byte, self._other(node, old, new), pointer=pointer)

    def _object(self, node: Node, old: dict[str, Json], new: dict[str, Json], pointer: str) -> Iterator[Edit]:
        members = {c.key: c for c in node.children}
        if list(new) == [k for k in old if k in new] and len(new) == len(old):
            for key, value in new.items():
                yield from self.edits(members[key], old[key], value, f"{pointer}/{escape_token(key)}")
            return
        if has_comments(self.document, node) or len(members) != len(node.children):
            for key in (k for k in old if k in new):
                yield from self.edits(members[key], old[key], new[key], f"{pointer}/{escape_token(key)}")
            return
        pieces = [
            self._member(members[key], old[key], value, f"{pointer}/{escape_token(key)}")
            if key in old
            else self._text(key) + self._colon() + self.dump(value)
            for key, value in new.items()
        ]
        yield self._container(node, pieces, pointer)

    def _array(self, node: Node, old: list[Json], new: list[Json], pointer: str) -> Iterator[Edit]:
        source = match(old, new)
        if source == list(range(len(old))):
            for i, (a, b) in enumerate(zip(old, new, strict=True)):
                yield from self.edits(node.children[i], a, b, f"{pointer}/{i}")
            return
        if has_comments(self.document, node):
            return
        pieces = [
            self.dump(value) if i is None else self._member(node.children[i], old[i], value, f"{pointer}/{i}")
            for i, value in zip(source, new, strict=True)
        ]
        yield self._container(node, pieces, pointer)

    def _member(self, node: Node, old: Json, new: Json, pointer: str) -> bytes:
        start = node.start_byte if node.key_start_byte < 0 else node.key_start_byte
        found = list(self.edits(node, old, new, pointer))
        return byte_edits.apply(self.document.data, found, start, node.end_byte)

    def _container(self, node: Node, pieces: list[bytes], pointer: str) -> Edit:
        """Write a container with other members: gaps stay in their places, more are made like the last one."""
        data, children = self.document.data, node.children
        if not children or not pieces:
            return Edit(node.start_byte + 1, node.end_byte - 1, self._comma().join(pieces), pointer=pointer)
        starts = [c.start_byte if c.key_start_byte < 0 else c.key_start_byte for c in children]
        gaps = [data[a.end_byte : start] for a, start in zip(children, starts[1:], strict=False)]
        lead, tail = data[node.start_byte + 1 : starts[0]], data[children[-1].end_byte : node.end_byte - 1]
        spare = gaps[-1] if gaps else b"," + lead if b"\n" in lead else self._comma()
        body = pieces[0]
        for number, piece in enumerate(pieces[1:]):
            body += (gaps[number] if number < len(gaps) else spare) + piece
        return self._trimmed(Edit(node.start_byte + 1, node.end_byte - 1, lead + body + tail, pointer=pointer))

    def _trimmed(self, edit: Edit) -> Edit:
        """Leave out of an edit what it would write as it is; cuts lie between characters."""
        old, new = self.document.data[edit.start_byte : edit.end_byte], edit.new
        head = lcp(old, new)
        while 0 < head < max(len(old), len(new)) and _is_inside((old if head < len(old) else new)[head]):
            head -= 1
        tail = lcp(old[head:][::-1], new[head:][::-1])
        while tail and _is_inside(old[len(old) - tail]):
            tail -= 1
        end = edit.end_byte - tail
        return Edit(edit.start_byte + head, end, new[head : len(new) - tail], edit.rule, edit.pointer)

    def _string(self, node: Node, old: str, new: str, pointer: str) -> Iterator[Edit]:
        raw = self.document.raw(node)
        for edit in text_edits(old, new):
            start, end = raw_offset(raw, edit.start_char), raw_offset(raw, edit.end_char)
            yield Edit(node.start_byte + start, node.start_byte + end, self._text(edit.new)[1:-1], pointer=pointer)

    def _other(self, node: Node, old: Json, new: Json) -> bytes:
        """Write a value of another type; text that becomes a block, or the other way round, keeps its spelling."""
        if isinstance(old, str) and isinstance(new, list):
            for block in new:
                if isinstance(block, dict) and block.get("text") == old and new[0] is block:
                    return self._wrapped(self.document.raw(node), new)
        if isinstance(new, str) and isinstance(old, list) and len(old) == 1 and old[0].get("text") == new:
            text = node.children[0].child("text")
            return self.document.raw(text) if text else self.dump(new)
        return self.dump(new)

    def _wrapped(self, raw: bytes, blocks: list[Json]) -> bytes:
        first = [self._text(k) + self._colon() + (raw if k == "text" else self.dump(v)) for k, v in blocks[0].items()]
        pieces = [b"{" + self._comma().join(first) + b"}", *(self.dump(b) for b in blocks[1:])]
        return b"[" + self._comma().join(pieces) + b"]"

    def dump(self, value: Json) -> bytes:
        """Write a new value in the style of the document."""
        if isinstance(value, dict):
            members = (self._text(k) + self._colon() + self.dump(v) for k, v in value.items())
            return b"{" + self._comma().join(members) + b"}"
        if isinstance(value, list):
            return b"[" + self._comma().join(map(self.dump, value)) + b"]"
        if isinstance(value, Number):
            return str.__str__(value).encode()
        return self._text(value) if isinstance(value, str) else json.dumps(value).encode()

    def _text(self, text: str) -> bytes:
        plain = json.dumps(text) if self.document.data.isascii() else inner.quote(text)
        return plain.encode()

    def _colon(self) -> bytes:
        return b": " if b'": ' in self.document.data else b":"

    def _comma(self) -> bytes:
        return b", " if b'": ' in self.document.data else b","


def has_comments(document: Document, node: Node) -> bool:
    """Return whether a comment stands between the members of a container."""
    inside = [(c.start_byte if c.key_start_byte < 0 else c.key_start_byte, c.end_byte) for c in node.children]
    return any(
        node.start_byte < start < node.end_byte and not any(a <= start < b for a, b in inside)
        for start, _ in document.comments()
    )


def _is_inside(byte: int) -> bool:
    """Return whether a byte continues a UTF-8 character."""
    return byte & 0xC0 == 0x80


def match(old: Sequence[Json], new: Sequence[Json]) -> list[int | None]:
    """Say from which old element each new one comes: the same object, an equal one, else the next one left over.

    None is an element that is new. ``match([a, b], [b, a, c])`` is ``[1, 0, None]``.
    """
    free = dict.fromkeys(range(len(old)))
    by_id = {id(value): i for i, value in reversed(list(enumerate(old))) if isinstance(value, dict | list)}
    source: list[int | None] = [None] * len(new)
    for i, value in enumerate(new):
        at = by_id.get(id(value))
        if at in free:
            source[i] = at
            del free[at]
    for alike in (_same_spelling, _same_value, _same_name):
        for i, value in enumerate(new):
            if source[i] is None:
                at = next((j for j in free if alike(old[j], value)), None)
                if at is not None:
                    source[i] = at
                    del free[at]
    return _paired(source, list(free), len(old), len(new))


def _same_spelling(old: Json, new: Json) -> bool:
    return bool(old == new) and json.dumps(old, default=str) == json.dumps(new, default=str)


def _same_value(old: Json, new: Json) -> bool:
    return bool(old == new)


def _same_name(old: Json, new: Json) -> bool:
    """Return whether two elements are one tool or one message in two versions."""
    return isinstance(old, dict) and isinstance(new, dict) and _label(old) == _label(new) != ""


def _label(value: dict[str, Json]) -> str:
    for place in (value, value.get("function"), value.get("toolSpec")):
        if isinstance(place, dict) and isinstance(place.get("name"), str):
            return str(place["name"])
    return str(value.get("id") or value.get("call_id") or "")


def _paired(source: list[int | None], free: list[int], old_size: int, new_size: int) -> list[int | None]:
    """Pair what is left over: in place where the sizes agree, else each new element between known neighbours."""
    if old_size == new_size:
        left = iter(list(free))
        return [next(left) if at is None else at for at in source]
    for i, at in enumerate(source):
        if at is None and i in free and all(s is None or (s < i) == (j < i) for j, s in enumerate(source)):
            source[i] = i
            free.remove(i)
    return source


def text_edits(old: str, new: str) -> Iterator[TextEdit]:
    """Yield edits, line by line, that turn one text into another."""
    ours, theirs = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in ours:
        starts.append(starts[-1] + len(line))
    if len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a != b:
                start, end, piece = trim(a, b)
                yield TextEdit(starts[i] + start, starts[i] + end, piece, "")
        return
    for tag, i, j, k, m in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            start, end, piece = trim("".join(ours[i:j]), "".join(theirs[k:m]))
            yield TextEdit(starts[i] + start, starts[i] + end, piece, "")


def in_order(edits: Sequence[Edit]) -> bool:
    """Return whether edits are sorted and do not overlap."""
    return all(a.end_byte <= b.start_byte for a, b in pairwise(edits))
