"""Read LiteLLM spend logs: rows of its Postgres table, as JSON, JSON lines or CSV."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "litellm-spend-logs"
UNORDERED = True
_NO_PROMPT = "no prompt text in these spend logs; set general_settings.store_prompts_in_spend_logs to true"


def claims(head: Head) -> bool:
    """Tell whether a record has the columns of the table."""
    return head.any_record("request_id", "call_type", "spend", "startTime")


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every row; JSON columns may hold JSON inside strings."""
    from prefixlint.sources import _litellm

    return _walk.walk(source, lambda record: _litellm.convert(record, source, _NO_PROMPT), lists=("data", "logs"))
