"""Fingerprint one stretch of a log and write it as two parquet files: its requests, and the blocks new in it."""

from __future__ import annotations

import gc
import json
from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from prefixlint.api._readers import File, Reader
from prefixlint.api.index_blocks import Blocks, Node
from prefixlint.api.index_lines import Found, Lines, WholeFileError, raw_lines
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import ReadOptions, Request

_NO_TIME = float("-inf")
MOST_ERRORS = 1_000


@dataclass(frozen=True, slots=True)
class Task:
    """Name one stretch of one file; ``end`` 0 means the whole file, read by the reader of its format.

    ``file`` identifies the file by its path and its first bytes.
    """

    path: str
    file: int
    start: int
    end: int
    block_bytes: int
    input_format: str = ""
    stamp: str = ""
    size: int = 0
    is_open: bool = False

    @property
    def bytes(self) -> int:
        """Return how much it reads."""
        return self.size or self.end - self.start

    @property
    def name(self) -> str:
        """Return the name of its shard."""
        return f"{self.file:016x}-{self.start:015d}-{self.end:015d}-{self.stamp}"


@dataclass(frozen=True, slots=True)
class Row:
    """Hold one fingerprint: the block at ``position`` of a request, and where it lies in the canonical prompt."""

    request: int
    family: int
    position: int
    value: int
    offset_byte: int
    size_bytes: int


@dataclass(slots=True)
class Outcome:
    """Say what a task found; ``errors`` are (line in the stretch, column, message)."""

    name: str
    requests: int = 0
    blocks: int = 0
    lines: int = 0
    errors: list[tuple[int, int, str]] = field(default_factory=list)
    more_errors: int = 0
    no_prompt: int = 0
    whole: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Columns:
    """Hold the requests of a stretch, column by column."""

    start: array[int] = field(default_factory=lambda: array("Q"))
    end: array[int] = field(default_factory=lambda: array("Q"))
    at_s: list[float | None] = field(default_factory=list)
    session: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    provider: list[str] = field(default_factory=list)
    same: list[int | None] = field(default_factory=list)
    family: array[int] = field(default_factory=lambda: array("Q"))
    size: array[int] = field(default_factory=lambda: array("Q"))
    blocks: array[int] = field(default_factory=lambda: array("I"))
    known: array[int] = field(default_factory=lambda: array("I"))
    parent: array[int] = field(default_factory=lambda: array("Q"))
    front: array[int] = field(default_factory=lambda: array("I"))
    fresh: array[int] = field(default_factory=lambda: array("I"))


def outcome_of(found: dict[str, Any]) -> Outcome:
    """Read an outcome back from its JSON."""
    outcome = Outcome(**found)
    outcome.errors = [(line, column, message) for line, column, message in outcome.errors]
    return outcome


class Shard:
    """Collect the fingerprints of one stretch."""

    def __init__(self, block_bytes: int) -> None:
        self.blocks = Blocks(block_bytes)
        self.columns = _Columns()
        self.late_rows, self.late_owners = array("Q"), array("I")
        self._latest = _NO_TIME

    def take(self, request: Request, base: Node | None = None, items: tuple[bytes, ...] = (), same: int = 0) -> Node:
        """Add one request; ``same`` identifies it where a log may hold it twice."""
        owner, first = len(self.columns.start), len(self.blocks.values)
        if base is not None:
            node = self.blocks.extend(base, request.provider, items, owner)
        else:
            node = self.blocks.take(request, owner)
        self._add(request, node, first, same)
        return node

    def _add(self, request: Request, node: Node, first: int, same: int) -> None:
        blocks, columns = self.blocks, self.columns
        whole, added = node.size // blocks.block_bytes, len(blocks.values) - first
        known, parent = whole - added, blocks.parents[first] if added else node.chain
        time = _NO_TIME if request.at_s is None else request.at_s
        if time < self._latest:  # what came first in the file may be later in time, so nothing counts as known
            rows = [row for row in blocks.rows_of(node) if row < first]
            self.late_rows.extend(rows)
            self.late_owners.extend([len(columns.start)] * len(rows))
            known = 0
        self._latest = max(self._latest, time)
        columns.start.append(request.span.start_byte)
        columns.end.append(request.span.end_byte)
        columns.at_s.append(request.at_s)
        columns.session.append(_sound(request.session or ""))
        columns.model.append(_sound(request.model or ""))
        columns.provider.append(request.provider)
        columns.same.append(same or None)
        columns.family.append(node.family)
        columns.size.append(node.size)
        columns.blocks.append(whole)
        columns.known.append(known)
        columns.parent.append(parent)
        columns.front.append(node.front // blocks.block_bytes)
        columns.fresh.append(blocks.fresh(node))

    def tables(self, file: int) -> tuple[Any, Any]:
        """Return the requests and the blocks as Arrow tables."""
        pa, _ = arrow()
        c = self.columns
        count = len(c.start)
        numbers = {n: _numbers(getattr(c, n)) for n in _NUMBERS}
        texts = {n: pa.array(getattr(c, n), pa.string()).dictionary_encode() for n in ("session", "model", "provider")}
        requests = pa.table(
            {
                "file": _same(file, count),
                **numbers,
                "at_s": pa.array(c.at_s, pa.float64()),
                "same": pa.array(c.same, pa.uint64()),
                **texts,
            }
        )
        return requests, self._block_table(file)

    def _block_table(self, file: int) -> Any:
        pa, _ = arrow()
        c, b = self.columns, self.blocks
        owners = array("I", b.owners)
        owners.extend(self.late_owners)
        late = self.late_rows
        seen = b.seen()
        seen.extend([0] * len(late))

        def column(values: Any) -> Any:
            whole = array(values.typecode, values)
            whole.extend(values[row] for row in late)
            return _numbers(whole)

        return pa.table(
            {
                "file": _same(file, len(owners)),
                "request": _numbers(array("Q", (c.start[o] for o in owners))),
                "family": _numbers(array("Q", (c.family[o] for o in owners))),
                "position": column(b.positions),
                "hash": column(b.values),
                "parent": column(b.parents),
                "offset": _numbers(
                    array("Q", (p * b.block_bytes for p in (*b.positions, *(b.positions[r] for r in late))))
                ),
                "seen": _numbers(seen),
            }
        )


_NUMBERS = ("start", "end", "family", "size", "blocks", "known", "parent", "front", "fresh")


def fingerprints(request: Request, block_bytes: int = 256) -> Iterator[Row]:
    """Yield the fingerprints of one request: pure, and equal on every machine.

    ``offset_byte`` of a block is its position times the size of a block, in the canonical prompt.
    """
    blocks = Blocks(block_bytes)
    node = blocks.take(request, 0)
    span = request.span
    for row in blocks.rows_of(node):
        yield Row(
            span.start_byte, node.family, blocks.positions[row], blocks.values[row],
            blocks.positions[row] * block_bytes, block_bytes,
        )  # fmt: skip


def run(task: Task) -> tuple[Outcome, Shard]:
    """Fingerprint the stretch of a task."""
    outcome, shard = Outcome(task.name), Shard(task.block_bytes)
    if task.end:
        try:
            _run_lines(task, outcome, shard)
        except WholeFileError:
            return Outcome(task.name, whole=True), Shard(task.block_bytes)
    else:
        _run_reader(task, outcome, shard)
    outcome.requests, outcome.blocks = len(shard.columns.start), len(shard.blocks.values)
    return outcome, shard


def _run_lines(task: Task, outcome: Outcome, shard: Shard) -> None:
    lines = Lines(task.path)
    for item in lines.read(raw_lines(task.path, task.start, task.end)):
        if isinstance(item, InputError):
            _fail(outcome, item)
        elif _is_prompt(item.request):
            _take_found(shard, lines, item)
        else:
            outcome.no_prompt += 1
    outcome.lines = lines.lines


def _take_found(shard: Shard, lines: Lines, item: Found) -> None:
    node = shard.take(item.request, item.base, item.items)
    if item.known is not None:
        lines.keep(item.known, node, item.request)


def _run_reader(task: Task, outcome: Outcome, shard: Shard) -> None:
    reader = Reader(File(task.path, True), ReadOptions(input_format=task.input_format or None), (task.path,), None)
    seen: set[int] = set()
    for item in reader.items():
        if isinstance(item, InputError):
            _fail(outcome, item)
        elif not _is_prompt(item):
            outcome.no_prompt += 1
        else:
            same = _identity(item) if reader.unique else 0
            if not same or same not in seen:
                seen.add(same)
                shard.take(item, same=same)
    outcome.notes = list(dict.fromkeys(reader.source.notes))


def _identity(request: Request) -> int:
    import hashlib

    return int.from_bytes(hashlib.blake2b(request.id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _is_prompt(request: Request) -> bool:
    has_text = bool(request.members) or request.text is not None or request.tokens is not None
    return has_text and not request.no_prompt and request.blocks is None


def _fail(outcome: Outcome, error: InputError) -> None:
    if len(outcome.errors) < MOST_ERRORS:
        outcome.errors.append((error.line, error.column, error.message))
    else:
        outcome.more_errors += 1


def shard_files(task: Task, outcome: Outcome, shard: Shard) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a shard by name; the one that says it is done comes last."""
    if not outcome.whole:
        for kind, table in zip(("requests", "blocks"), shard.tables(task.file), strict=True):
            yield f"{task.name}.{kind}.parquet", _parquet(table)
    yield f"{task.name}.json", json.dumps(asdict(outcome)).encode()


def write(task: Task, folder: str) -> Outcome:
    """Run a task and write its shard; each file is renamed when it is whole."""
    gc.disable()  # nothing here goes in circles, and there is much of it
    try:
        outcome, shard = run(task)
    finally:
        gc.enable()
    for name, data in shard_files(task, outcome, shard):
        temporary = Path(folder) / f"{name}.tmp"
        temporary.write_bytes(data)
        temporary.rename(Path(folder) / name)
    return outcome


def _parquet(table: Any) -> bytes:
    pa, pq = arrow()
    sink = pa.BufferOutputStream()
    repeated = ("session", "model", "provider", "file", "request", "family", "seen")
    pq.write_table(table, sink, compression="zstd", use_dictionary=[n for n in repeated if n in table.column_names])
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _numbers(values: array[int]) -> Any:
    pa, _ = arrow()
    kind = {"Q": pa.uint64(), "I": pa.uint32()}[values.typecode]
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.tobytes())])


def _same(value: int, count: int) -> Any:
    return _numbers(array("Q", [value]) * count)


def arrow() -> tuple[Any, Any]:
    """Import pyarrow, which only the index needs."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError("the index needs pyarrow: pip install 'prefixlint[scale]'") from None
