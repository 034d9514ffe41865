"""Read Codex rollouts (``~/.codex/sessions/Y/M/D/rollout-*.jsonl``): increments, put together per model call."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request
from prefixlint.sources import _json, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "codex"
_NOTE = "Codex rollouts hold no tools; a change of tools between two calls cannot be seen here"
_TYPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}


def claims(head: Head) -> bool:
    """Tell whether the lines have ``timestamp``, a rollout ``type`` and ``payload``."""
    return any(
        {"timestamp", "type", "payload"} <= r.keys() and _json.text(r["type"]) in _TYPES for r in head.records[:5]
    )


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each model call, with the whole input and the usage of that call."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request | InputError]:
    from prefixlint.sources import _codex_thread

    thread = _codex_thread.Thread()
    _walk.note_once(source, _NOTE)
    for record in _records.json_lines(source):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, thread.add)
    yield from thread.finish()
