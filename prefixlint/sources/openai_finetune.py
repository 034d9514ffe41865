"""Read OpenAI fine-tuning files: each line a whole conversation whose last message is the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "openai-finetune"
_MEMBERS = {"messages", "tools", "functions", "parallel_tool_calls", "weight"}


def claims(head: Head) -> bool:
    """Tell whether every record is a conversation without a model, and ends with the assistant.

    One such file alone can be a body that continues an answer, so at least two records are asked for.
    """
    records = head.records[:10]
    return len(records) > 1 and head.kind == "jsonl" and all(map(_is_example, records))


def _is_example(record: _json.Members) -> bool:
    messages = record.get("messages", b"")
    if not messages.startswith(b"[") or not record.keys() <= _MEMBERS:
        return False
    last = _json.items(messages)[-1:]
    return bool(last) and _json.text((_json.opened(last[0]) or {}).get("role")) == "assistant"


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every example as the request that its last message would answer."""
    yield from _walk.walk(source, _convert)


def _convert(record: Record) -> Iterator[Request | InputError]:
    if "messages" not in record.members:
        yield record.error("'messages' is missing; is this a fine-tuning file?")
        return
    messages = _json.items(record.members["messages"])
    if messages and _is_example(record.members):
        messages = messages[:-1]
    yield replace(
        Request("", _provider.CHAT, record.span(0), {**record.members, "messages": _json.joined(messages)}),
        rebuilt=True,
    )
