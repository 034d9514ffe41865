"""Decide what of the inputs an index has still to read, and remember what it has read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from prefixlint.api._readers import _format_of
from prefixlint.api.index_shard import Outcome, Task, outcome_of
from prefixlint.api.read import _expand
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import ReadOptions
from prefixlint.sources._head import Head
from prefixlint.sources._provider import BODIES
from prefixlint.sources._stream import Input

MANIFEST = "manifest.json"
VERSION = 1
HEAD_BYTES = 4_096
TAIL_BYTES = 256


@dataclass(slots=True)
class Entry:
    """Remember one input: how far it was read, and hashes of its beginning and of what stands before that place.

    ``open`` is the shard of a last line that has no end yet; it is replaced when the file grows.
    """

    path: str
    file: int
    format: str
    size: int
    modified_ns: int
    head_bytes: int
    head: str
    done_bytes: int
    tail: str
    ranges: bool
    shards: list[Outcome] = field(default_factory=list)
    open: Outcome | None = None
    failure: str = ""

    def outcomes(self) -> list[Outcome]:
        """Return what is known of each stretch, first to last."""
        return [*self.shards, *([self.open] if self.open else [])]


@dataclass(slots=True)
class Manifest:
    """List the inputs of an index by the number of their file."""

    block_bytes: int
    files: dict[int, Entry] = field(default_factory=dict)

    def outcomes(self) -> list[Outcome]:
        """Return what is known of all stretches."""
        return [o for entry in self.files.values() for o in entry.outcomes()]

    def write(self, place: Path) -> None:
        """Write the manifest in one step."""
        entries = [asdict(self.files[key]) for key in sorted(self.files)]
        document = {"version": VERSION, "block_bytes": self.block_bytes, "files": entries}
        temporary = place / (MANIFEST + ".tmp")
        temporary.write_text(json.dumps(document, indent=1), encoding="utf-8")
        temporary.rename(place / MANIFEST)


def load(place: Path) -> Manifest:
    """Read a manifest. Raises ConfigError when it is none of this version."""
    try:
        document = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{place}: this is no index: {error}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ConfigError(f"{place}: this index was written by another version of prefixlint; make it again")
    entries = (entry_of(dict(item)) for item in document["files"])
    return Manifest(document["block_bytes"], {entry.file: entry for entry in entries})


def entry_of(item: dict[str, Any]) -> Entry:
    """Read an entry back from its JSON."""
    shards, last = item.pop("shards"), item.pop("open")
    entry = Entry(**item)
    entry.shards = [outcome_of(o) for o in shards]
    entry.open = outcome_of(last) if last else None
    return entry


@dataclass(slots=True)
class Plan:
    """Hold what to read; ``entries`` are all inputs of the index as they will be."""

    block_bytes: int
    entries: dict[int, Entry]
    new: dict[int, list[Task]] = field(default_factory=dict)
    last: dict[int, Task] = field(default_factory=dict)
    again: dict[int, Task] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    kept_bytes: int = 0
    remote_bytes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def tasks(self) -> list[Task]:
        """Return all tasks."""
        return [t for tasks in self.new.values() for t in tasks] + list(self.last.values())

    @property
    def read_bytes(self) -> int:
        """Return how much of the inputs is read."""
        return sum(t.bytes for t in self.tasks) + self.remote_bytes

    def whole_tasks(self, done: dict[str, Outcome]) -> list[Task]:
        """Return tasks for the files whose records depend on one another."""
        for key, tasks in self.new.items():
            parts = [*tasks, *([self.last[key]] if key in self.last else [])]
            if any(done[t.name].whole for t in parts):
                entry = self.entries[key]
                stamp = f"{entry.size:x}-{entry.modified_ns:x}"
                self.again[key] = Task(entry.path, key, 0, 0, self.block_bytes, stamp=stamp, size=entry.size)
        return list(self.again.values())

    def finished(self, done: dict[str, Outcome]) -> Manifest:
        """Return the manifest for when the tasks are done."""
        for key, entry in self.entries.items():
            if key in self.again:
                entry.ranges, entry.open = False, None
                entry.shards = [done[self.again[key].name]]
                continue
            entry.shards = [*entry.shards, *(done[t.name] for t in self.new.get(key, ()))]
            if key in self.last:
                entry.open = done[self.last[key].name]
        return Manifest(self.block_bytes, self.entries)


def plan(paths: Sequence[str], before: Manifest, block_bytes: int, task_bytes: int, input_format: str | None) -> Plan:
    """Compare the inputs with what the index holds. Raises InputError when a path does not exist."""
    made = Plan(block_bytes, dict(before.files))
    files = list(dict.fromkeys(file for path in paths for file in _expand(path)))
    looked = [(file, look(file.path, input_format)) for file in files]
    is_log = any(entry.format not in ("", "text") for _, entry in looked)
    known = {entry.path: entry for entry in before.files.values()}
    for file, entry in looked:
        if not file.named and (not entry.format or (is_log and entry.format == "text")):
            made.notes = (*made.notes, f"{entry.path}: left out, since it is no log of a known format")
        else:
            _add(made, entry, known.get(entry.path), task_bytes, input_format)
    return made


def look(path: str, input_format: str | None) -> Entry:
    """Find out what an input is; only plain JSON lines of request bodies can be cut."""
    if path == "-":
        raise ConfigError("an index needs files; standard input cannot be read again")
    status = Path(path).stat()
    source = Input(path)
    name, failure = "", ""
    try:
        name = _format_of(source, ReadOptions(input_format=input_format)).NAME
        is_lines = name in BODIES and not input_format and Head(source).kind == "jsonl"
    except InputError as error:
        failure, is_lines = str(error), False
    finally:
        source.close()
    head_bytes = min(status.st_size, HEAD_BYTES)
    head = _digest(path, 0, head_bytes)
    ranges = is_lines and not _is_packed(path)
    number = number_of(path, head)
    return Entry(
        path, number, name, status.st_size, status.st_mtime_ns, head_bytes, head, 0, "", ranges, failure=failure
    )


def _is_packed(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(4).startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))


def _digest(path: str, start: int, size: int) -> str:
    with Path(path).open("rb") as file:
        file.seek(start)
        return hashlib.blake2b(file.read(size), digest_size=16).hexdigest()


def number_of(path: str, head: str) -> int:
    """Number a file by its path and beginning, so that equal names of two machines are two files."""
    text = f"{path}\0{head}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _add(made: Plan, now: Entry, then: Entry | None, task_bytes: int, input_format: str | None) -> None:
    if then is not None and _is_same(now, then):
        now.file, now.head, now.head_bytes, now.ranges = then.file, then.head, then.head_bytes, then.ranges
        if (now.size, now.modified_ns) == (then.size, then.modified_ns):
            made.kept_bytes += then.size
            made.entries[then.file] = then
            return
        if now.ranges and now.size > then.size:
            now.done_bytes, now.shards = then.done_bytes, then.shards
    elif then is not None:
        made.entries.pop(then.file, None)
    if then is not None and not now.done_bytes:
        made.stale.update(o.name for o in then.outcomes())
    made.kept_bytes += now.done_bytes
    made.entries[now.file] = now
    if now.failure:
        return
    tasks = cut(now, made.block_bytes, task_bytes, input_format)
    made.new[now.file] = [t for t in tasks if not t.is_open]
    for task in tasks:
        if task.is_open:
            made.last[now.file] = task


def _is_same(now: Entry, then: Entry) -> bool:
    """Say whether a file still begins with what was read of it."""
    if now.size < then.size or _digest(now.path, 0, then.head_bytes) != then.head:
        return False
    start = max(0, then.done_bytes - TAIL_BYTES)
    return not then.ranges or _digest(now.path, start, then.done_bytes - start) == then.tail


def cut(now: Entry, block_bytes: int, task_bytes: int, input_format: str | None = None) -> list[Task]:
    """Cut what is new of a file into stretches; a last line without an end is one of its own, marked as open."""
    if not now.ranges:
        stamp = f"{now.size:x}-{now.modified_ns:x}"
        now.done_bytes = now.size
        return [Task(now.path, now.file, 0, 0, block_bytes, input_format or "", stamp, now.size)]
    whole = _last_line_end(now.path, now.done_bytes, now.size)
    starts = range(now.done_bytes, whole, task_bytes)
    tasks = [_stretch(now, at, min(at + task_bytes, whole), block_bytes) for at in starts]
    if whole < now.size:
        tasks.append(_stretch(now, whole, now.size, block_bytes, is_open=True))
    now.done_bytes = whole
    start = max(0, whole - TAIL_BYTES)
    now.tail = _digest(now.path, start, whole - start)
    return tasks


def _stretch(now: Entry, start: int, end: int, block_bytes: int, *, is_open: bool = False) -> Task:
    """Name a stretch by its place and its end, so that what a stopped run left of another file is not taken for it."""
    stamp = _digest(now.path, max(start, end - TAIL_BYTES), min(end - start, TAIL_BYTES))[:8]
    return Task(now.path, now.file, start, end, block_bytes, stamp=stamp, is_open=is_open)


def _last_line_end(path: str, start: int, size: int) -> int:
    """Return the place behind the last line end in ``[start, size)``, ``start`` when there is none."""
    with Path(path).open("rb") as file:
        end = size
        while end > start:
            begin = max(start, end - (1 << 20))
            file.seek(begin)
            at = file.read(end - begin).rfind(b"\n")
            if at >= 0:
                return begin + at + 1
            end = begin
    return start


def merged(folders: Sequence[str]) -> tuple[Manifest, dict[str, Path]]:
    """Join manifests, and say in which folder each shard lies; of two that hold a file the one that read most counts.

    The result does not depend on the order of the folders. Raises ConfigError when their blocks differ in size.
    """
    best: dict[int, tuple[Entry, Path]] = {}
    sizes = set()
    for folder in sorted(folders):
        manifest = load(Path(folder))
        sizes.add(manifest.block_bytes)
        for key, entry in manifest.files.items():
            if key not in best or (entry.done_bytes, entry.size) > (best[key][0].done_bytes, best[key][0].size):
                best[key] = entry, Path(folder)
    if len(sizes) > 1:
        raise ConfigError(f"these indexes have blocks of different size: {', '.join(map(str, sorted(sizes)))}")
    homes = {o.name: place for entry, place in best.values() for o in entry.outcomes()}
    return Manifest(sizes.pop(), {key: best[key][0] for key in sorted(best)}), homes
