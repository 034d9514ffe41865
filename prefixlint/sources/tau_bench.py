"""Read tau-bench trajectories: each answer of the agent is the reply to the messages before it."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _record, _trajectory, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "tau-bench"


def claims(head: Head) -> bool:
    """Tell whether a record is a task with its trajectory."""
    return head.any_record("task_id", "traj")


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each answer; a task and trial is a session."""
    yield from _walk.walk(source, _convert)


def _convert(record: Record) -> Iterator[Request]:
    names = (_record.first_text((record.members,), (key,)) for key in ("task_id", "trial"))
    session = "/".join(name for name in names if name)
    messages = [_json.members(m) for m in _json.items(record.members.get("traj", b"[]"))]
    for before, _ in _trajectory.turns(messages):
        yield Request("", _provider.CHAT, record.span(0), {"messages": before}, session=session, rebuilt=True)
