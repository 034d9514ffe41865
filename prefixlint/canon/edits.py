"""Apply edits to bytes: spans that do not overlap, everything between them stays as it was."""

from __future__ import annotations

from collections.abc import Iterable

from prefixlint.errors import FixError
from prefixlint.model import Edit


def apply(data: bytes, edits: Iterable[Edit], start_byte: int = 0, end_byte: int | None = None) -> bytes:
    """Return ``data[start_byte:end_byte]`` with the edits done. Raises FixError where two edits overlap.

    >>> apply(b"abcdef", [Edit(4, 5, b"E"), Edit(1, 2, b"")])
    b'acdEf'
    """
    pieces: list[bytes | memoryview] = []
    view = memoryview(data)  # a slice of it is no copy, and a log can be large
    at, end = start_byte, len(data) if end_byte is None else end_byte
    for edit in sorted(edits, key=lambda e: (e.start_byte, e.end_byte)):
        if edit.start_byte < at or edit.end_byte < edit.start_byte or edit.end_byte > end:
            raise FixError(f"edits overlap at byte {edit.start_byte}; this is a bug, please report it")
        pieces += (view[at : edit.start_byte], edit.new)
        at = edit.end_byte
    return b"".join((*pieces, view[at:end]))


def moved(edit: Edit, by: int) -> Edit:
    """Shift an edit, for a document that begins at byte ``by`` of a file."""
    return Edit(edit.start_byte + by, edit.end_byte + by, edit.new, edit.rule, edit.pointer)
