"""Read Bedrock Converse requests: bodies as JSON lines, files or arrays, bare or wrapped in a log record."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _bodies
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "bedrock-converse"
GENERIC = True  # a format that is more specific goes first


def claims(head: Head) -> bool:
    """Tell whether the first request body looks like one of this API."""
    return _bodies.claims(head, NAME)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every record; the API is looked at for each record, unless the format was named by the user."""
    return _bodies.read(source, options, NAME)
