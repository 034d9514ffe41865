"""Read batch files: one record holds an id and a request body, another file holds the ids with the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from prefixlint.errors import InputError
from prefixlint.model import Request
from prefixlint.sources import _beside, _json, _provider, _record, _response, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input


class Batch(NamedTuple):
    """Say where a batch format keeps its parts."""

    id_key: str
    body_key: str
    answer_keys: tuple[str, ...]
    lists: tuple[str, ...] = ()
    provider: str | None = None


def is_requests(head: Head, batch: Batch, *more: str) -> bool:
    """Tell whether the records hold request bodies."""
    records = _listed(head, batch)
    wanted = {batch.id_key, batch.body_key, *more}
    return any(r.keys() >= wanted and _json.is_object(r[batch.body_key]) for r in records)


def is_answers(head: Head, batch: Batch) -> bool:
    """Tell whether the records hold answers."""
    return any(
        batch.id_key in r and batch.body_key not in r and r.keys() & set(batch.answer_keys) for r in head.records
    )


def _listed(head: Head, batch: Batch) -> list[_json.Members]:
    for key in batch.lists:
        raw = head.records[0].get(key) if head.records else None
        if raw and raw.startswith(b"["):
            return [m for m in map(_json.opened, _json.items(raw)[:20]) if m]
    return head.records


def read(source: Input, batch: Batch, claims: Callable[[Head], bool]) -> Iterator[Request | InputError]:
    """Read a batch file. Requests take usage and time from the answer files of the same log.

    An answer whose request is in another file of the log is not a request of its own.
    """
    asked: set[str] = set()
    for other in _beside.others(source, lambda h: claims(h) and is_requests(h, batch)):
        for item in _walk.walk(other, lambda r: _requests(r, batch), lists=batch.lists):
            if isinstance(item, Request):
                asked.add(item.id)
    answers = _beside.answers(source, lambda h: claims(h) and is_answers(h, batch), lambda r: _answer(r, batch))

    def convert(record: Record) -> Iterator[Request | InputError]:
        if batch.body_key in record.members:
            for request in _requests(record, batch):
                yield _beside.joined(request, answers.get(request.id)) if isinstance(request, Request) else request
            return
        answer = _answer(record, batch)
        if answer is None:
            yield record.error(f"{batch.id_key!r} or {batch.body_key!r} is missing; is this a batch file?")
        elif answer[0] not in asked and answer[1].usage:
            yield _alone(record, answer)

    yield from _walk.walk(source, convert, lists=batch.lists)


def _requests(record: Record, batch: Batch) -> Iterator[Request | InputError]:
    members = record.members
    found = _record.find(_json.opened(members.get(batch.body_key)) or {}, 1)
    if found is None:
        yield record.error(f"{batch.body_key!r} holds no request body")
        return
    found = _record.Found(f"/{batch.body_key}{found.pointer}", found.members, (members, *found.around))
    address = _json.text(members.get("url"))
    provider = batch.provider or (_provider.from_url(address) if address else None)
    request = _record.build(found, record.span(0), provider)
    yield replace(request, id=_record.first_text((members,), (batch.id_key,)) or "")


def _answer(record: Record, batch: Batch) -> tuple[str, _response.Response] | None:
    name = _record.first_text((record.members,), (batch.id_key,))
    raw = next((record.members[k] for k in batch.answer_keys if k in record.members), None)
    return (name, _response.parse(raw)) if name and raw else None


def _alone(record: Record, answer: tuple[str, _response.Response]) -> Request:
    name, found = answer
    span = record.span(0)
    return Request(name, _provider.CHAT, span, model=found.model, at_s=found.at_s, usage=found.usage, no_prompt=True)
