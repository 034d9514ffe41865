"""Read OpenAI stored completions: the list of completions, and the messages of each from a second call."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _beside, _json, _provider, _records, _response, _trajectory, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "openai-stored-completions"
UNORDERED = True
_NO_PROMPT = (
    "the list holds no messages; save GET /v1/chat/completions/ID/messages as ID.messages.json and give both files"
)


def claims(head: Head) -> bool:
    """Tell whether this is a page of completions, or of the messages of one."""
    return _is_completions(head) or _is_messages(head)


def _page(head: Head) -> list[_json.Members]:
    record = head.records[0] if head.records else {}
    if _json.text(record.get("object")) != "list" or not _json.is_array(record.get("data")):
        return []
    return [m for m in map(_json.opened, _json.items(record["data"])[:5]) if m]


def _is_completions(head: Head) -> bool:
    return any(_json.text(m.get("object")) == "chat.completion" for m in _page(head))


def _is_messages(head: Head) -> bool:
    page = _page(head)
    return bool(page) and all("role" in m and "content" in m and "-" in (_json.text(m.get("id")) or "") for m in page)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read the completions with the messages that stand in the other files of the log."""
    head = Head(source)
    if not _is_completions(head):
        yield from _walk.counted(_messages_alone(source))
        return
    messages = {n: raw for other in _beside.others(source, _is_messages) for n, (_, raw) in _messages(other).items()}

    def convert(record: Record) -> Iterator[Request]:
        answer = _response.parse(_json.dumps({k: _json.loads(v) for k, v in record.members.items()}))
        name = _json.text(record.members.get("id")) or ""
        found = messages.get(name)
        if found is None:
            _walk.note_once(source, _NO_PROMPT)
        kept = {k: v for k, v in record.members.items() if k in _SETTINGS and v != b"null"}
        yield Request(
            name,
            _provider.CHAT,
            record.span(0),
            {} if found is None else {**kept, "messages": found},
            answer.model,
            at_s=answer.at_s,
            usage=answer.usage,
            no_prompt=found is None,
            rebuilt=True,
        )

    yield from _walk.walk(source, convert, lists=("data",))


_SETTINGS = {"model", "tools", "tool_choice", "response_format", "temperature", "top_p", "seed", "reasoning_effort"}


def _messages(source: Input) -> dict[str, tuple[Record, bytes]]:
    """Return the messages of each completion by its id, with the first record; message ids are that id and a number."""
    found: dict[str, list[bytes]] = {}
    first: dict[str, Record] = {}
    for record in _records.records(source, lists=("data",)):
        if isinstance(record, Record):
            kept = {k: v for k, v in record.members.items() if k != "id" and v != b"null"}
            name = (_json.text(record.members.get("id")) or "").rpartition("-")[0]
            found.setdefault(name, []).append(_trajectory.encoded(kept))
            first.setdefault(name, record)
    return {name: (first[name], _json.joined(parts)) for name, parts in found.items()}


def _messages_alone(source: Input) -> Iterator[Request | InputError]:
    """Read a page of messages without its completion; with it, the messages belong there."""
    listed = {
        _json.text(record.members.get("id"))
        for other in _beside.others(source, _is_completions)
        for record in _records.records(other, lists=("data",))
        if isinstance(record, Record)
    }
    for name, (record, messages) in _messages(source).items():
        if name not in listed:
            yield Request(name, _provider.CHAT, record.span(0), {"messages": messages}, rebuilt=True)
