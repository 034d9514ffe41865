"""Take over the spelling of an earlier text wherever a later one means the same."""

from __future__ import annotations

import difflib
import html
import json
import re
import unicodedata
from collections.abc import Iterator

from prefixlint.canon import inner, number
from prefixlint.elements import Number
from prefixlint.model import Json

_TOKEN = re.compile(r"\s+|[^\s]+")
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u180e\u00ad\u200e\u200f"))
_BLANKS = re.compile(r"[ \t\u00a0]+")
_LINE = re.compile(r"[^\n]*\n\s*|[^\n]+")  # with the blank lines behind it and the indentation of the next one
_LINES = re.compile(r"\n\s*")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\/")
_SURROGATE = re.compile("[\ud800-\udfff]")
_STARTS = re.compile(r"[{\[]")
_MAX_DOCUMENTS = 200  # JSON documents looked for in one text
_MAX_TOKENS = 20_000  # beyond it two passages are the same or not
_MAX_PAIRS = 4_000_000  # of tokens; beyond it frequent ones are no places to begin a match at


def text(first: str, later: str) -> str:
    """Return ``later`` with the line ends, blanks, escapes and key order that ``first`` has at the same places.

    >>> text('a {"x": 1, "y": 2}\\n\\nb', 'a {"y": 2, "x": 1.0}\\r\\n\\r\\n\\r\\nb c')
    'a {"x": 1, "y": 2}\\n\\nb c'
    """
    new = _forms(first, _documents(first, later))
    return first if new.rstrip() == first.rstrip() else new


def value(first: Json, later: Json) -> Json:
    """Return ``later`` with the key order and number spelling of ``first`` where the two are equal in meaning."""
    if isinstance(first, dict) and isinstance(later, dict):
        order = [k for k in first if k in later] + [k for k in later if k not in first]
        new = {k: value(first.get(k), later[k]) for k in order}
        return later if list(new) == list(later) and all(new[k] is later[k] for k in new) else new
    if isinstance(first, list) and isinstance(later, list) and len(first) == len(later):
        items = [value(a, b) for a, b in zip(first, later, strict=True)]
        return later if all(a is b for a, b in zip(later, items, strict=True)) else items
    if type(first) is Number and type(later) is Number and number.canonical(first) == number.canonical(later):
        return later if first == later else first
    return later


def shape(first: Json, later: Json) -> Json:
    """Return content in the shape that ``first`` has: a string, or a list with one text block; marked blocks stay."""
    if isinstance(first, str) and isinstance(later, list) and len(later) == 1 and isinstance(later[0], dict):
        return later[0]["text"] if set(later[0]) == {"type", "text"} else later
    if isinstance(later, str) and isinstance(first, list) and later:
        return [{"type": "text", "text": later}]
    return later


def _documents(first: str, later: str) -> str:
    known = {inner.canonical(piece): piece for _, piece in documents(first)}
    if not known:
        return later
    pieces, at = [], 0
    for start, piece in documents(later):
        pieces += [later[at:start], known.get(inner.canonical(piece), piece)]
        at = start + len(piece)
    return "".join([*pieces, later[at:]])


def documents(prose: str) -> Iterator[tuple[int, str]]:
    """Yield (first character, text) of every JSON object or list with content that stands in a text."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MAX_DOCUMENTS):
        found = _STARTS.search(prose, at)
        if found is None:
            return
        at = found.end()
        try:
            _, end = decoder.raw_decode(prose, found.start())
        except (ValueError, RecursionError):
            continue
        if end - found.start() > 2:
            yield found.start(), prose[found.start() : end]
            at = end


def _forms(first: str, later: str) -> str:
    """Match lines that mean the same first; only what is left between them is compared word by word."""
    ours, theirs = _LINE.findall(first), _LINE.findall(later)
    new = []
    for tag, i, j, k, m in _opcodes(list(map(_form, ours)), list(map(_form, theirs))):
        mine, piece = "".join(ours[i:j]), "".join(theirs[k:m])
        new.append(mine if tag == "equal" else _words(mine, piece))
    return "".join(new)


def _words(first: str, later: str) -> str:
    ours, theirs = _TOKEN.findall(first), _TOKEN.findall(later)
    if max(len(ours), len(theirs)) > _MAX_TOKENS:
        return first if _form(first) == _form(later) else later
    new = []
    for tag, i, j, k, m in _opcodes(ours, theirs):
        mine, piece = "".join(ours[i:j]), "".join(theirs[k:m])
        new.append(mine if tag != "equal" and _form(mine) == _form(piece) else piece)
    return "".join(new)


def _opcodes(ours: list[str], theirs: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the opcodes of difflib; equal ends are cut off first, since it takes the square of what is left."""
    limit = min(len(ours), len(theirs))
    start = next((i for i in range(limit) if ours[i] != theirs[i]), limit)
    tail = next((i for i in range(limit - start) if ours[-1 - i] != theirs[-1 - i]), limit - start)
    if start:
        yield "equal", 0, start, 0, start
    left, right = ours[start : len(ours) - tail], theirs[start : len(theirs) - tail]
    if left or right:
        is_long = len(left) * len(right) > _MAX_PAIRS
        for tag, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=is_long).get_opcodes():
            yield tag, i + start, j + start, k + start, m + start
    if tail:
        yield "equal", len(ours) - tail, len(ours), len(theirs) - tail, len(theirs)


def _form(piece: str) -> str:
    """Return what pieces of equal meaning share; blanks only count as one blank, or as one line end."""
    if _SURROGATE.search(piece):
        piece = piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    piece = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else "/", piece).translate(_INVISIBLE)
    piece = html.unescape(piece) if "&" in piece else piece
    piece = unicodedata.normalize("NFC", piece.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n"))
    return _LINES.sub("\n", _BLANKS.sub(" ", piece).replace(" \n", "\n")) if piece.strip() else _space(piece)


def _space(piece: str) -> str:
    return "\n" if "\n" in piece else " " if piece else ""
