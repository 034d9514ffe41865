"""Read Gemini CLI sessions (``~/.gemini/tmp/<hash>/chats/session-*.jsonl``, older ones ``.json``)."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "gemini-cli"
_NOTE = "Gemini CLI sessions hold neither the system prompt nor the tools; set telemetry.logPrompts to see prompts"


def claims(head: Head) -> bool:
    """Tell whether the first record is the head of a session."""
    return {"sessionId", "projectHash", "startTime"} <= head.keys()


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each answer, with the conversation before it."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    _walk.note_once(source, _NOTE)
    session = _Session()
    for record in _records.records(source):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, session.add)
    yield from session.finish()


class _Session:
    """Hold the messages of a session; a later line with the same id replaces the earlier one."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._messages: dict[str, _json.Members] = {}
        self._places: dict[str, Record] = {}
        self._told: dict[str, int | None] = {}

    def add(self, record: Record) -> Iterator[Request]:
        """Add a line: the head, a message, a change, or the order to go back."""
        members = record.members
        if "projectHash" in members:
            self._id = _json.text(members.get("sessionId"))
            for raw in _json.items(members.get("messages", b"[]")):
                yield from self._message(record, _json.members(raw))
        elif "$rewindTo" in members:
            yield from self.finish()
            self._rewind(_json.text(members["$rewindTo"]) or "")
        elif "type" in members and "id" in members:
            yield from self._message(record, members)

    def _message(self, record: Record, members: _json.Members) -> Iterator[Request]:
        key = _json.text(members.get("id")) or str(len(self._messages))
        if key not in self._messages:
            yield from self.finish()
            self._places[key] = record
        self._messages[key] = members

    def finish(self) -> Iterator[Request]:
        """Yield the request of the last message if it is an answer; its line may come again with tool results."""
        key = next(reversed(self._messages), None)
        if key is None or key in self._told or _json.text(self._messages[key].get("type")) != "gemini":
            return
        self._told[key] = None
        answer = self._messages[key]
        before = list(self._messages.values())[:-1]
        model = _json.text(answer.get("model"))
        last = before[-1] if before else answer
        yield Request(
            id=key,
            provider=_provider.GEMINI,
            span=self._places[key].span(0),
            members=_walk.body(model=model, contents=_json.joined([c for m in before for c in _contents(m)])),
            model=model,
            session=self._id,
            at_s=_record.time_of((last,)),
            usage=_usage_of(answer),
            partial=True,
            rebuilt=True,
        )

    def _rewind(self, key: str) -> None:
        """Forget the message that was gone back to and all behind it."""
        keys = list(self._messages)
        if key in keys:
            for gone in keys[keys.index(key) :]:
                del self._messages[gone]


def _contents(message: _json.Members) -> list[bytes]:
    """Turn a message into contents: its text, then the tool calls and their answers."""
    kind = _json.text(message.get("type"))
    if kind not in ("user", "gemini"):
        return []
    role = b"user" if kind == "user" else b"model"
    parts = _parts(message.get("content"))
    calls = [_json.members(c) for c in _json.items(message.get("toolCalls") or b"[]") if c.startswith(b"{")]
    parts += [b'{"functionCall":{"name":%s,"args":%s}}' % (c.get("name", b'""'), c.get("args", b"{}")) for c in calls]
    made = [b'{"role":"%s","parts":%s}' % (role, _json.joined(parts))] if parts else []
    answers = [part for c in calls for part in _parts(c.get("result"))]
    return [*made, b'{"role":"user","parts":%s}' % _json.joined(answers)] if answers else made


def _parts(raw: bytes | None) -> list[bytes]:
    if raw is None or raw == b"null" or raw == b'""':
        return []
    if raw.startswith(b"["):
        return _json.items(raw)
    return [raw if raw.startswith(b"{") else b'{"text":%s}' % raw]


def _usage_of(answer: _json.Members) -> Usage | None:
    """Read ``tokens``; ``input`` includes what was cached."""
    tokens = _json.opened(answer.get("tokens"))
    if tokens is None:
        return None
    counts = [_json.integer(tokens.get(k)) for k in ("input", "cached", "output", "thoughts")]
    output = None if counts[2] is None else counts[2] + (counts[3] or 0)
    return Usage(counts[0], counts[1], None, output)
