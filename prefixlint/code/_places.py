"""Byte places to lines and columns, and the comments that allow a rule."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass

from prefixlint.model import Span

_ALLOW = re.compile(r"prefixlint:\s*allow\s*\[([^\]]*)\]")


class Lines:
    """Translate byte offsets of one file; lines and columns count from 1, columns in code points."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts = [0]
        for line in data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def at(self, byte: int) -> tuple[int, int]:
        """Return line and column of a byte offset."""
        row = max(0, bisect_right(self.starts, byte) - 1)
        if row and row == len(self.starts) - 1 and byte == len(self.data) and not self.data.endswith((b"\n", b"\r")):
            row -= 1
        text = self.data[self.starts[row] : byte].decode("utf-8", "replace").removeprefix("\ufeff")
        return row + 1, len(text) + 1

    def span(self, path: str, start: int, end: int) -> Span:
        """Return the span of a byte range."""
        line, column = self.at(start)
        end_line, end_column = self.at(end)
        return Span(path, 0, start, end, line, column, end_line, end_column)


@dataclass(frozen=True, slots=True)
class Allow:
    """One suppression comment: the rules it allows, its own place, and the line that it covers."""

    rules: tuple[str, ...]
    start: int
    end: int
    line: int


def allows(data: bytes, comment: str) -> list[Allow]:
    """Find ``# prefixlint: allow[rule]`` comments; one alone on its line covers the next line of code."""
    if b"prefixlint:" not in data:
        return []
    places = _python_comments(data) if comment == "#" else None
    found: list[Allow] = []
    at = 0
    rows = data.splitlines(keepends=True)
    for row, raw in enumerate(rows, 1):
        mark = _comment_at(raw, comment, places, row)
        if mark is not None:
            match = _ALLOW.search(raw[mark:].decode("utf-8", "replace"))
            if match:
                rules = tuple(r.strip() for r in match[1].split(",") if r.strip())
                line = row if raw[:mark].strip() else _next_line(rows, row, comment)
                found.append(Allow(rules, at + mark, at + len(raw.rstrip()), line))
        at += len(raw)
    return found


def _comment_at(raw: bytes, comment: str, places: dict[int, int] | None, row: int) -> int | None:
    if b"prefixlint:" not in raw:
        return None
    if places is not None:
        return places.get(row)
    marks = [
        m
        for m in (
            raw.rfind(comment.encode(), 0, raw.find(b"prefixlint:")),
            raw.rfind(b"/*", 0, raw.find(b"prefixlint:")),
        )
        if m >= 0
    ]
    return max(marks) if marks else None


def _next_line(rows: list[bytes], row: int, comment: str) -> int:
    while row < len(rows) and (not rows[row].strip() or rows[row].strip().startswith(comment.encode())):
        row += 1
    return row + 1


def _python_comments(data: bytes) -> dict[int, int] | None:
    found: dict[int, int] = {}
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = len(token.line[: token.start[1]].encode())
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None  # Ruby shares the comment sign and is no Python
    return found
