"""Read block traces: Mooncake, Bailian (Qwen) and kv-cache-tester; block ids stand for the text."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "block-trace"
# Tokens per block, by the README of each data set: Mooncake FAST25-release, alibaba-edu/qwen-bailian-usagetraces-anon.
_MOONCAKE_BLOCK = 512
_BAILIAN_BLOCK = 16


def claims(head: Head) -> bool:
    """Tell whether a record has block ids, itself or in its requests."""
    return head.any_record("hash_ids", "input_length") or head.any_record("block_size", "requests")


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each entry; times count from the start of the trace."""
    chats: dict[Json, str] = {}

    def convert(record: Record) -> Iterator[Request]:
        if "requests" in record.members:
            yield from _tester(record)
        else:
            yield _flat(record, chats)

    yield from _walk.walk(source, convert)


def _flat(record: Record, chats: dict[Json, str]) -> Request:
    """Read a Mooncake line (milliseconds), or a Bailian line (seconds, with the chat that it continues)."""
    row = {k: _json.loads(v) for k, v in record.members.items()}
    is_bailian = "chat_id" in row
    session = None
    if is_bailian:
        parent = row.get("parent_chat_id")
        session = chats.get(parent) or str(row["chat_id"])
        chats[row["chat_id"]] = session
    time = row.get("timestamp")
    return Request(
        id=str(row.get("chat_id", "")),
        provider=NAME,
        span=record.span(0),
        session=session,
        at_s=None if time is None else float(time) if is_bailian else float(time) / 1e3,
        usage=Usage(row.get("input_length"), None, None, row.get("output_length")),
        no_prompt=True,
        blocks=row["hash_ids"],
        block_size=row.get("block_size") or (_BAILIAN_BLOCK if is_bailian else _MOONCAKE_BLOCK),
    )


def _tester(record: Record) -> Iterator[Request]:
    """Read one kv-cache-tester trace: a session, and a session more for each sub-agent in it.

    Requests of a sub-agent are listed where it starts, but run beside those that follow; time puts them in order.
    """
    trace = {k: _json.loads(v) for k, v in record.members.items()}
    name = str(trace.get("id", ""))
    # Local ids mean nothing outside of their trace, so traces must not share a cache.
    scope = name if trace.get("hash_id_scope") == "local" else ""
    for row, session in sorted(_rows(trace["requests"], name), key=lambda r: r[0]["t"]):
        yield Request(
            id="",
            provider=NAME,
            span=record.span(0),
            model=row.get("model"),
            session=session,
            at_s=row["t"],
            usage=Usage(row.get("in"), None, None, row.get("out")),
            scope=scope,
            no_prompt=True,
            blocks=row.get("hash_ids") or [],
            block_size=trace["block_size"],
        )


def _rows(rows: list[Json], session: str, start_s: float = 0.0) -> Iterator[tuple[Json, str]]:
    for row in rows:
        if row.get("requests"):
            inner = f"{session}/{row.get('agent_id', 'subagent')}"
            yield from _rows(row["requests"], inner, start_s + row.get("t", 0.0))
        elif "in" in row:
            yield {**row, "t": start_s + row.get("t", 0.0)}, session
