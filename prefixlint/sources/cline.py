"""Read Cline and Roo task folders: ``api_conversation_history.json`` with the usage from ``ui_messages.json``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _beside, _json, _provider, _record, _records, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "cline"
_NOTE = "task folders hold neither the system prompt nor the tools; capture the requests with a proxy to see them"
_STARTED = "api_req_started"


def claims(head: Head) -> bool:
    """Tell whether this is an array of the conversation, or of what the user interface shows."""
    return head.kind == "json" and (_is_history(head) or _is_shown(head))


def _is_history(head: Head) -> bool:
    named = head.name.startswith("api_conversation_history.json")
    return (
        bool(head.records)
        and all({"role", "content"} <= r.keys() for r in head.records)
        and (named or all("ts" in r for r in head.records))
    )


def _is_shown(head: Head) -> bool:
    return bool(head.records) and all("ts" in r and r.keys() & {"say", "ask"} for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each answer of the assistant, with the conversation before it."""
    head = Head(source)
    if _is_shown(head):
        yield from _walk.counted(_shown_alone(source))
        return
    _walk.note_once(source, _NOTE)
    usages = [u for other in _mates(source, _is_shown) for u, _ in _usages(other)]
    yield from _walk.counted(_history(source, usages))


def _mates(source: Input, wanted: object) -> Iterator[Input]:
    """Open the other file of the same task folder."""
    folder = PurePath(source.path).parent
    for other in _beside.others(source, _is_shown if wanted is _is_shown else _is_history):
        if PurePath(other.path).parent == folder:
            yield other


def _history(source: Input, usages: list[Usage]) -> Iterator[Request | InputError]:
    session = PurePath(source.path).parent.name
    before: list[bytes] = []
    last: float | None = None
    answers = 0
    for record in _records.records(source):
        if isinstance(record, InputError):
            yield record
            continue
        members = record.members
        if _json.text(members.get("role")) == "assistant":
            yield Request(
                id="",
                provider=_provider.ANTHROPIC,
                span=record.span(0),
                members={"messages": _json.joined(before)},
                session=session or None,
                at_s=last if last is not None else _record.time_of((members,)),
                usage=usages[answers] if answers < len(usages) else None,
                partial=True,
                rebuilt=True,
            )
            answers += 1
        content = members.get("content", b"null")
        before.append(b'{"role":%s,"content":%s}' % (members.get("role", b"null"), content))
        last = _record.time_of((members,))


def _usages(source: Input) -> Iterator[tuple[Usage, Record]]:
    """Yield the counts of each API call; ``tokensIn`` leaves out what was cached."""
    for record in _records.records(source):
        if isinstance(record, InputError) or _json.text(record.members.get("say")) != _STARTED:
            continue
        counts = _walk.value_of(record.members.get("text"))
        if isinstance(counts, dict) and "tokensIn" in counts:
            names = ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
            yield _usage.excluding(*(_usage.count(counts, name) for name in names)), record


def _shown_alone(source: Input) -> Iterator[Request]:
    """Read usage alone where the conversation is not in the log."""
    if any(True for _ in _mates(source, _is_history)):
        return
    session = PurePath(source.path).parent.name
    for usage, record in _usages(source):
        at_s = _record.time_of((record.members,))
        yield Request("", _provider.ANTHROPIC, record.span(0), session=session, at_s=at_s, usage=usage, no_prompt=True)
