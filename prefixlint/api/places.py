"""Turn a place inside a prompt (pointer and code points) into bytes, line and column of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from prefixlint.model import Span

if TYPE_CHECKING:
    from prefixlint.json_spans import Document, Node


class Places(Protocol):
    """Locate hits in one file."""

    def span(self, pointer: str, start_char: int, end_char: int, *, on_key: bool = False) -> Span:
        """Return the place of the characters ``[start_char, end_char)`` of the text at ``pointer``."""

    def offset(self, pointer: str, start_char: int) -> int:
        """Return the offset to report: code points from the start of what ``shown_pointer`` names."""

    def shown_pointer(self, pointer: str) -> str:
        """Return the pointer to report."""


class TextPlaces:
    """Locate hits in a text file; ``bases`` maps the pointer of each segment to where its text begins."""

    def __init__(self, path: str, text: str, bases: Mapping[str, int]) -> None:
        self.path, self.text, self.bases = path, text, bases

    def span(self, pointer: str, start_char: int, end_char: int, *, on_key: bool = False) -> Span:
        """Return the place of characters of a segment."""
        base = self.bases.get(pointer, 0)
        return text_span(self.path, self.text, base + start_char, base + end_char)

    def offset(self, pointer: str, start_char: int) -> int:
        """Count from the start of the file."""
        return self.bases.get(pointer, 0) + start_char

    def shown_pointer(self, pointer: str) -> str:
        """A text file is one string: it has the empty pointer."""
        return ""


class DocumentPlaces:
    """Locate hits in a JSON, YAML or TOML file, which is parsed for places only when there is a hit.

    ``root`` is the pointer of the request body in the document, ``record`` its number in a log.
    """

    def __init__(
        self,
        path: str,
        data: bytes,
        parse: Callable[[], Document],
        *,
        root: str = "",
        record: int = 0,
        base_byte: int = 0,
    ) -> None:
        self.path, self.data, self.parse = path, data, parse
        self.root, self.record, self.base_byte = root, record, base_byte
        self._document: Document | None = None

    def document(self) -> Document:
        """Parse once."""
        if self._document is None:
            self._document = self.parse()
        return self._document

    def span(self, pointer: str, start_char: int, end_char: int, *, on_key: bool = False) -> Span:
        """Return the place of characters of the string at a pointer, or of its key."""
        document = self.document()
        full = self.root + pointer
        node = document.node(full)
        if node is None:
            full, node = _nearest(document, full)
            start, end = node.start_byte, min(node.start_byte + 1, node.end_byte)
        elif on_key and node.key_start_byte >= 0:
            start, end = node.key_start_byte, node.key_end_byte
        elif node.kind == "string" and end_char > start_char:
            start, end = document.byte_of(full, start_char), document.byte_of(full, end_char)
        else:
            start, end = node.start_byte, node.end_byte
        return byte_span(self.path, self.data, self.base_byte + start, self.base_byte + end, record=self.record)

    def offset(self, pointer: str, start_char: int) -> int:
        """Offsets count inside the string at the pointer."""
        return start_char

    def shown_pointer(self, pointer: str) -> str:
        """Pointers are relative to the request body."""
        return pointer


def _nearest(document: Document, pointer: str) -> tuple[str, Node]:
    """Find the deepest container that does exist."""
    while pointer:
        pointer = pointer.rpartition("/")[0]
        node = document.node(pointer)
        if node is not None:
            return pointer, node
    return "", document.root


def text_span(path: str, text: str, start_char: int, end_char: int) -> Span:
    """Return the span of characters of a text file."""
    start_byte = len(text[:start_char].encode("utf-8", "surrogatepass"))
    width = len(text[start_char:end_char].encode("utf-8", "surrogatepass"))
    line, column = _line_column(text, start_char)
    end_line, end_column = _line_column(text, end_char)
    return Span(path, 0, start_byte, start_byte + width, line, column, end_line, end_column)


def _line_column(text: str, char: int) -> tuple[int, int]:
    return text.count("\n", 0, char) + 1, char - (text.rfind("\n", 0, char) + 1) + 1


def byte_span(path: str, data: bytes, start_byte: int, end_byte: int, *, record: int = 0) -> Span:
    """Return the span of bytes of a file."""
    line, column = _byte_line_column(data, start_byte)
    end_line, end_column = _byte_line_column(data, end_byte)
    return Span(path, record, start_byte, end_byte, line, column, end_line, end_column)


def _byte_line_column(data: bytes, byte: int) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, byte) + 1
    return data.count(b"\n", 0, byte) + 1, len(data[start:byte].decode("utf-8", "ignore")) + 1
