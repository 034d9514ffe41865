"""Jupyter notebooks: the Python cells form one program; a finding lies at its string in the notebook's JSON.

NOTE: line and column count in the ``.ipynb`` file, so that editors and annotations land on the cell's source line; the
message names the cell (from 1) and the line inside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from prefixlint import json_spans
from prefixlint.code import _ir, _names, python
from prefixlint.code._places import Lines
from prefixlint.code._sinks import Found
from prefixlint.model import Finding, Span, Step

NAME = "notebook"
SUFFIXES = (".ipynb",)
LANG = python.LANG
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|.*\?\s*)$")


class Runner(Protocol):
    """What the run that called offers: lines of files, and findings less what comments allow."""

    lines: dict[str, Lines]

    def checked(self, path: str, data: bytes, tree: _ir.Tree, lang: object) -> list[Finding]:
        """Follow a lowered program and build its findings."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One line of a cell: where it starts in the program, and which string of the notebook holds it."""

    start_byte: int
    text: str
    pointer: str
    char_offset: int
    cell: int
    line: int


def check(path: str, data: bytes, run: Runner) -> list[Finding]:
    """Check the Python cells of a notebook; ValueError or InputError when it is no notebook."""
    document = json_spans.parse(data, path=path)
    pieces = list(_pieces(document))
    program = "".join(p.text for p in pieces).encode()
    if not _names.is_relevant(program):
        return []
    found = run.checked(path, program, python.lower(program), LANG)
    place = _Placer(path, document, pieces)
    return [place.finding(f) for f in found]


def _pieces(document: json_spans.Document) -> Iterator[_Piece]:
    cells = document.node("/cells")
    start = 0
    for i, cell in enumerate(cells.children if cells is not None else ()):
        kind, source = cell.child("cell_type"), cell.child("source")
        if kind is None or source is None or document.text(kind) != "code":
            continue
        rows = list(_rows(document, i, source))
        body = "".join(text for text, _, _ in rows)
        if body.lstrip().startswith("%%") or not _parses(body):
            continue
        for line, (text, pointer, offset) in enumerate(rows, 1):
            yield _Piece(start, text, pointer, offset, i + 1, line)
            start += len(text.encode())


def _rows(document: json_spans.Document, cell: int, source: json_spans.Node) -> Iterator[tuple[str, str, int]]:
    strings = source.children if source.kind == "array" else [source]
    for k, node in enumerate(strings):
        pointer = f"/cells/{cell}/source/{k}" if source.kind == "array" else f"/cells/{cell}/source"
        offset = 0
        for text in document.text(node).splitlines(keepends=True):
            magic = _MAGIC.match(text)
            shown = f"{magic[1]}pass\n" if magic else text if text.endswith("\n") else text + "\n"
            yield shown, pointer, offset
            offset += len(text)


def _parses(text: str) -> bool:
    try:
        python.parses(text.encode())
    except (SyntaxError, ValueError):
        return False
    return True


class _Placer:
    """Translate places of the program into places of the notebook."""

    def __init__(self, path: str, document: json_spans.Document, pieces: list[_Piece]) -> None:
        self.path, self.document, self.pieces = path, document, pieces
        self.starts = [p.start_byte for p in pieces]

    def piece(self, byte: int) -> tuple[_Piece, int]:
        """Return the line that holds a byte of the program, and the byte's character offset in its string."""
        piece = self.pieces[max(0, bisect_right(self.starts, byte) - 1)]
        inside = piece.text.encode()[: byte - piece.start_byte].decode("utf-8", "replace")
        return piece, piece.char_offset + len(inside)

    def span(self, span: Span) -> Span:
        """Return the place in the notebook."""
        if span.path != self.path:
            return span
        first, start_char = self.piece(span.start_byte)
        last, end_char = self.piece(max(span.start_byte, span.end_byte - 1))
        start = self.document.byte_of(first.pointer, start_char)
        end = self.document.byte_of(last.pointer, end_char) + 1
        line, column = self.document.line_column(start)
        end_line, end_column = self.document.line_column(end)
        return Span(self.path, 0, start, end, line, column, end_line, end_column)

    def finding(self, found: Finding) -> Finding:
        """Return the finding with all its places in the notebook; edits would need JSON escapes, so none is kept."""
        piece, char = self.piece(found.span.start_byte)
        trace = tuple(Step(self.span(s.span), s.text) for s in found.trace)
        return replace(
            found,
            message=f"{found.message} (cell {piece.cell}, line {piece.line})",
            span=self.span(found.span),
            pointer=piece.pointer,
            char_offset=char,
            related=tuple(self.span(s) for s in found.related),
            fix=replace(found.fix, trust="display", edits=()) if found.fix is not None else None,
            trace=trace,
        )


__all__ = ["LANG", "NAME", "SUFFIXES", "Found", "check"]
