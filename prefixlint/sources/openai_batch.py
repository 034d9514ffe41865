"""Read OpenAI Batch files: input lines (``custom_id``, ``method``, ``url``, ``body``) and output lines."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _batch
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "openai-batch"
_BATCH = _batch.Batch("custom_id", "body", ("response", "error"))


def claims(head: Head) -> bool:
    """Tell whether the records are batch requests with a method and an address, or answers to them."""
    return _batch.is_requests(head, _BATCH, "url") or (
        _batch.is_answers(head, _BATCH) and not head.any_record("result") and not head.any_record("messages")
    )


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the requests; the input file has no time, so it comes from the output file of the same log."""
    return _batch.read(source, _BATCH, claims)
