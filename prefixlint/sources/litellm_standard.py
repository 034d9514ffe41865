"""Read LiteLLM standard logging payloads, as its s3, gcs and custom callbacks write them."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "litellm-standard-logging"
_NO_PROMPT = "no prompt text in this log; set litellm.turn_off_message_logging to false"


def claims(head: Head) -> bool:
    """Tell whether a record has the payload's own members."""
    return any(
        {"startTime", "model_parameters"} <= r.keys() and r.keys() & {"hidden_params", "model_map_information"}
        for r in head.records
    )


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every call. ``cache_hit`` is LiteLLM's own response cache, so such a call read no prefix cache."""
    from prefixlint.sources import _litellm

    return _walk.walk(source, lambda record: _litellm.convert(record, source, _NO_PROMPT))
