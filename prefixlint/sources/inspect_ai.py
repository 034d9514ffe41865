"""Read Inspect AI logs: ``.eval`` (a zip with a JSON file per sample, newer ones with zstd) and ``.json``.

Model events hold increments: ``input_refs`` and ``call_refs`` point into pools of messages of their sample, and long
texts stand elsewhere as attachments.
"""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request
from prefixlint.sources import _json, _record, _records, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "inspect-ai"
_ZIP = b"PK\x03\x04"


def claims(head: Head) -> bool:
    """Tell whether this is a zip with a sample or a journal, or a document with ``eval`` and ``samples``."""
    if head.data.startswith(_ZIP):
        return head.name.endswith(".eval") or b"_journal/" in head.data or b"samples/" in head.data
    return {"eval", "samples"} <= head.keys() or {"eval", "plan"} <= head.keys()


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each model event, sample by sample."""
    yield from _walk.counted(_of_zip(source) if Head(source).data.startswith(_ZIP) else _of_json(source))


def _of_zip(source: Input) -> Iterator[Request | InputError]:
    from prefixlint.sources import _inspect_events, _zip

    archive = _zip.Archive(source.data())
    header = _opened(archive.read("header.json")) if "header.json" in archive.names() else {}
    for name in archive.names():
        if not name.startswith("samples/"):
            continue
        record = Record({}, source.path, 0, 0, 1)

        def convert(record: Record, name: str = name) -> Iterator[Request]:
            yield from _inspect_events.requests(_json.loads(archive.read(name)), _name(header), record)

        yield from _walk.guarded(record, convert)


def _of_json(source: Input) -> Iterator[Request | InputError]:
    from prefixlint.sources import _inspect_events

    header = next(iter(Head(source).records), {})
    for record in _records.inside(source, "samples"):
        if isinstance(record, InputError):
            yield record
            continue
        yield from _walk.guarded(record, lambda r: _inspect_events.requests(_decoded(r), _name(header), r))


def _decoded(record: Record) -> Json:
    return {k: _json.loads(v) for k, v in record.members.items()}


def _opened(data: bytes) -> _json.Members:
    return _json.opened(data.strip()) or {}


def _name(header: _json.Members) -> str:
    inner = _json.opened(header.get("eval")) or {}
    return _record.first_text((inner,), ("eval_id", "run_id")) or ""
