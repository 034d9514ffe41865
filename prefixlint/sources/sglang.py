"""Read SGLang request logs (``--log-requests --log-requests-format json``); levels 0 and 1 hold no prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _record, _records, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "sglang-log"
_NO_PROMPT = "no prompt text in this log; start the server with --log-requests-level 3"
_EVENTS = {"request.received", "request.finished", "request.received.openai"}
_CUT_CHARS = 1024  # level 2 keeps that many characters at both ends of 2,048
_CUT_MARK = " ... "
_MAX_OPEN = 10_000
_PRINTED = (b"Receive: obj=GenerateReqInput(", b"Finish: obj=GenerateReqInput(")


def claims(head: Head) -> bool:
    """Tell whether the records are request events, or the text that the server prints without the JSON format."""
    return any("event" in r and _json.text(r["event"]) in _EVENTS for r in head.records) or _is_printed(head)


def _is_printed(head: Head) -> bool:
    return head.kind == "text" and any(mark in head.data for mark in _PRINTED)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each id, in the order in which they came, with the usage of its end."""
    if _is_printed(Head(source)):
        raise InputError("this SGLang log is no JSON; start the server with --log-requests-format json")
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    queue = _Queue()
    for record in _records.json_lines(source):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, queue.add)
    yield from queue.end()
    if queue.without_prompt:
        _walk.note_once(source, _NO_PROMPT)


class _Queue:
    """Hold the requests that are running, oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, Request] = {}
        self._done: set[str] = set()
        self.without_prompt = False

    def add(self, record: Record) -> Iterator[Request]:
        """Add an event."""
        members = record.members
        rid = _json.text(members.get("rid")) or ""
        event = _json.text(members.get("event"))
        if event not in _EVENTS:
            return
        known = self._open.get(rid)
        if known is None or (known.no_prompt and event != "request.finished"):
            self._open[rid] = _request(record, rid)
        if event == "request.finished":
            self._open[rid] = _finished(self._open[rid], members)
            self._done.add(rid)
        yield from self._leave(limit=_MAX_OPEN)

    def end(self) -> Iterator[Request]:
        """Yield what never finished."""
        yield from self._leave(limit=0)

    def _leave(self, limit: int) -> Iterator[Request]:
        while self._open:
            rid = next(iter(self._open))
            if rid not in self._done and len(self._open) <= limit:
                return
            self._done.discard(rid)
            request = self._open.pop(rid)
            self.without_prompt = self.without_prompt or request.no_prompt
            yield request


def _request(record: Record, rid: str) -> Request:
    members = record.members
    held = _json.opened(members.get("obj")) or {}
    base = Request(
        rid,
        _provider.RAW,
        record.span(0),
        at_s=_record.time_of(({"timestamp": members.get("timestamp", b"null")},)),
        session=_record.first_text((held,), ("session_id", "conversation_id")),
        scope=_record.first_text((held,), ("cache_salt", "extra_key")) or "",
        body_pointer="/obj",
        no_prompt=True,
    )
    found = _provider.candidates(held)
    if found and found[0] not in (_provider.RAW, _provider.TOKENS):
        return replace(base, provider=found[0], members=held, model=_json.text(held.get("model")), no_prompt=False)
    text = _json.text(held.get("text"))
    if text is not None:
        cut = text[_CUT_CHARS : _CUT_CHARS + len(_CUT_MARK)] == _CUT_MARK and len(text) == 2 * _CUT_CHARS + len(
            _CUT_MARK
        )
        return replace(base, text=text[:_CUT_CHARS] if cut else text, truncated=cut, no_prompt=False)
    ids = _record._ids(held.get("input_ids"))
    return replace(base, provider=_provider.TOKENS, tokens=ids, no_prompt=False) if ids else base


def _finished(request: Request, members: _json.Members) -> Request:
    out = _json.opened(members.get("out")) or {}
    usage = _usage.usage_of(_walk.value_of(out.get("meta_info")))
    completion = _json.text(out.get("text")) if request.text is not None else None
    return replace(request, usage=usage, completion=completion)
