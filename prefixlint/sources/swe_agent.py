"""Read SWE-agent trajectories (``.traj``): newer ones hold the exact prompt of each step, older ones the history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _provider, _trajectory, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "swe-agent"
_DROP = ("agent", "message_type", "thought", "action", "is_demo", "tags", "thinking_blocks", "cache_control_index")


def claims(head: Head) -> bool:
    """Tell whether a record has a trajectory and a history."""
    named = ".traj" in head.name and not head.any_record("trajectory_format")
    return any({"trajectory", "history"} <= r.keys() or (named and "history" in r) for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each step."""

    def convert(record: Record) -> Iterator[Request]:
        session = PurePath(source.path).name
        model = _json.text(_json.child(record.members.get("replay_config"), "agent", "model", "name"))
        for messages in _prompts(record.members):
            yield Request(
                "",
                _provider.CHAT,
                record.span(0),
                _walk.body(model=model, messages=messages),
                model,
                session,
                rebuilt=True,
            )

    yield from _walk.walk(source, convert)


def _prompts(members: _json.Members) -> Iterator[bytes]:
    steps = [_json.members(s) for s in _json.items(members.get("trajectory", b"[]")) if s.startswith(b"{")]
    queries = [s["query"] for s in steps if _json.is_array(s.get("query"))]
    if queries:
        for query in queries:
            kept = [_json.members(m) for m in _json.items(query)]
            yield _json.joined([_trajectory.encoded({k: v for k, v in m.items() if k not in _DROP}) for m in kept])
        return
    history = [_json.members(m) for m in _json.items(members.get("history", b"[]"))]
    main = [m for m in history if _json.text(m.get("agent")) in (None, "main", "primary")]
    for before, _ in _trajectory.turns(main or history, drop=_DROP):
        yield before
