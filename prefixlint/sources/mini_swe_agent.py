"""Read mini-swe-agent trajectories (``.traj.json``): each answer is the reply to the messages before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _record, _response, _trajectory, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "mini-swe-agent"


def claims(head: Head) -> bool:
    """Tell whether a record names the trajectory format."""
    return any((_json.text(r.get("trajectory_format")) or "").startswith("mini-swe-agent") for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each answer; the raw response beside it has usage and time."""

    def convert(record: Record) -> Iterator[Request]:
        info = record.members.get("info")
        model = _json.text(_json.child(info, "config", "model", "model_name"))
        session = _json.text(record.members.get("instance_id")) or PurePath(source.path).name
        messages = [_json.members(m) for m in _json.items(record.members.get("messages", b"[]"))]
        yield from _requests(record, messages, model, session)

    yield from _walk.walk(source, convert)


def _requests(record: Record, messages: list[_json.Members], model: str | None, session: str) -> Iterator[Request]:
    for before, answer in _trajectory.turns(messages, drop=("extra",)):
        extra = _json.opened(answer.get("extra")) or {}
        response = _response.parse(extra.get("response", b"null"))
        yield Request(
            id=response.id or "",
            provider=_provider.CHAT,
            span=record.span(0),
            members=_walk.body(model=model, messages=before),
            model=model,
            session=session,
            at_s=response.at_s if response.at_s is not None else _record.time_of((extra,)),
            usage=response.usage,
            rebuilt=True,
        )
