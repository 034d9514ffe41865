"""What an editor needs: findings of one open document with places in UTF-16 code units, and edits that repair them."""

from __future__ import annotations

from dataclasses import dataclass

from prefixlint.api.check import CheckOptions, check_bytes
from prefixlint.model import Finding, Severity

Position = tuple[int, int]  # line and UTF-16 code unit, both from 0 (Language Server Protocol 3.17)


@dataclass(frozen=True, slots=True)
class Change:
    """Replace the text between two positions."""

    start: Position
    end: Position
    new: str


@dataclass(frozen=True, slots=True)
class Note:
    """Hold one finding for an editor; ``title`` names the repair that ``changes`` make, empty without one."""

    rule: str
    severity: Severity
    message: str
    start: Position
    end: Position
    title: str = ""
    changes: tuple[Change, ...] = ()


def notes(path: str, text: str, options: CheckOptions | None = None) -> tuple[Note, ...]:
    """Lint the text of an open document; ``path`` says what kind of file it is."""
    data = text.encode("utf-8", "surrogatepass")
    result = check_bytes(path, data, options)
    lines = text.splitlines(keepends=True)
    return tuple(_note(finding, data, lines) for finding in result.findings)


def _note(finding: Finding, data: bytes, lines: list[str]) -> Note:
    span = finding.span
    start = position(lines, span.line, span.column)
    end = position(lines, span.end_line or span.line, span.end_column or span.column)
    fix = finding.fix if finding.fix and finding.fix.trust != "display" else None
    edits = fix.edits if fix else ()
    changes = tuple(
        Change(_place(data, e.start_byte), _place(data, e.end_byte), e.new.decode("utf-8", "surrogatepass"))
        for e in edits
    )
    title = fix.title if fix and changes else ""
    return Note(finding.rule, finding.severity, finding.message, start, max(start, end), title, changes)


def position(lines: list[str], line: int, column: int) -> Position:
    """Turn line and column (from 1, code points) into line and UTF-16 code unit (from 0).

    >>> position(["a\\U0001f600b"], 1, 3)
    (0, 3)
    """
    if line > len(lines):
        return max(len(lines) - 1, 0), units(lines[-1]) if lines else 0
    return line - 1, units(lines[line - 1][: column - 1])


def units(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) + sum(ord(char) > 0xFFFF for char in text)


def _place(data: bytes, byte: int) -> Position:
    before = data[:byte].decode("utf-8", "surrogatepass")
    line = before.count("\n")
    return line, units(before[before.rfind("\n") + 1 :])
