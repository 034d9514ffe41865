"""Read Anthropic Message Batches: requests (``custom_id``, ``params``) and results (``custom_id``, ``result``)."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _batch, _provider
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "anthropic-batch"
_BATCH = _batch.Batch("custom_id", "params", ("result",), ("requests",), _provider.ANTHROPIC)


def claims(head: Head) -> bool:
    """Tell whether the records are batch requests or their results."""
    return _batch.is_requests(head, _BATCH) or _batch.is_answers(head, _BATCH)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the requests; usage comes from the results file of the same log."""
    return _batch.read(source, _BATCH, claims)
