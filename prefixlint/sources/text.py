"""Read prompt files: the whole file is one rendered prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Span
from prefixlint.sources import _json, _provider, _records
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input, wide_encoding

NAME = "text"
GENERIC = True
_SUFFIXES = {".txt", ".md", ".mdc", ".mdx", ".prompt", ".text", ".jinja", ".jinja2", ".j2", ".tmpl", ".xml", ".rst", ""}


def claims(head: Head) -> bool:
    """Tell whether this is a text file by its name, and holds no JSON records.

    A log of unknown lines must not pass as one long prompt, so the suffix counts. A prompt may list tools as lines of
    JSON, below a heading.
    """
    name = head.name.removesuffix(".gz").removesuffix(".zst")
    is_prompt = not head.records or not head.data.lstrip().startswith((b"{", b"["))
    return PurePath(name).suffix.lower() in _SUFFIXES and head.path != "-" and is_prompt


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the file as one prompt; a byte order mark stays, since it would be sent."""
    data = source.data()
    if wide_encoding(data):
        yield InputError("the file is UTF-16; convert it to UTF-8", path=source.path, line=1, column=1)
        return
    bad = _json.invalid_utf8(data)
    if bad is not None:
        line, column = _records.Places(data).of(bad)
        yield InputError("invalid UTF-8", path=source.path, line=line, column=column)
        return
    span = Span(source.path, 0, 0, len(data), 1)
    yield Request(id=source.path, provider=_provider.RAW, span=span, text=data.decode())
