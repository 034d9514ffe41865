"""Read Gemini batch files: ``key`` + ``request``, and the answers ``key`` + ``response``."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _batch, _provider
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "gemini-batch"
_BATCH = _batch.Batch("key", "request", ("response",), (), _provider.GEMINI)


def claims(head: Head) -> bool:
    """Tell whether the records are keyed generateContent requests or their answers."""
    return _batch.is_requests(head, _BATCH) or (_batch.is_answers(head, _BATCH) and head.keys() <= {"key", "response"})


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the requests; usage comes from the answer file of the same log."""
    return _batch.read(source, _BATCH, claims)
