"""Run the tasks of an index on a Spark cluster; the shards are the same bytes as without it."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from prefixlint.api.index_plan import Entry, cut, entry_of, look, number_of
from prefixlint.api.index_shard import Outcome, Task, arrow, outcome_of, run, shard_files
from prefixlint.errors import ConfigError

_SCHEMA = "task string, name string, data binary"
_ENTRY = "entry"


def is_remote(path: str) -> bool:
    """Say whether a path is one for the file systems of the cluster: ``s3a://``, ``abfs://``, ``hdfs://`` ..."""
    return "://" in path


def outcomes(tasks: Sequence[Task], shards: str, master: str | None) -> Iterator[tuple[Task, Outcome]]:
    """Run tasks on executors, which read the log; only their shards, a small part of it, come back.

    The blocks of each stretch are counted where they are read, so that a block which all requests share is one row
    per stretch, and no executor has to gather it. One task is one partition, so a long one delays no other.
    """
    if not tasks:
        return
    named = {task.name: task for task in tasks}
    # Executors run in folders of their own, so that relative paths mean nothing to them.
    found = [dataclasses.replace(task, path=str(Path(task.path).absolute())) for task in tasks]
    texts = [(json.dumps(dataclasses.asdict(task)),) for task in found]
    with _session(master) as session:
        made = session.createDataFrame(session.sparkContext.parallelize(texts, len(texts)), "task string")
        for name, files in _gathered(made, mapped):
            yield named[name], _write(Path(shards), files)


def remote_entries(
    paths: Sequence[str], known: dict[str, Entry], shards: str, block_bytes: int, task_bytes: int, master: str | None
) -> tuple[list[Entry], int]:
    """Index files that only the cluster can read, and say how many bytes were read; each is read as a whole.

    A file that has the size and time it had before is not read again.
    """
    entries, read = [], 0
    with _session(master) as session:
        listed = session.read.format("binaryFile").load(list(paths)).select("path", "length", "modificationTime")
        changed = []
        for row in listed.collect():
            stamp = int(row.modificationTime.timestamp() * 1_000_000_000)
            then = known.get(row.path)
            if then and (then.size, then.modified_ns) == (row.length, stamp):
                entries.append(then)
            else:
                changed.append((row.path, stamp))
                read += row.length
        if changed:
            entries += _read_files(session, dict(changed), Path(shards), block_bytes, task_bytes)
    return entries, read


def _read_files(
    session: Any, stamps: dict[str, int], shards: Path, block_bytes: int, task_bytes: int
) -> Iterator[Entry]:
    loaded = session.read.format("binaryFile").load(list(stamps)).select("path", "content").repartition(len(stamps))
    for path, files in _gathered(loaded, _file_mapper(block_bytes, task_bytes)):
        _write(shards, [file for file in files if file[0] != _ENTRY])
        entry = entry_of(json.loads(next(data for name, data in files if name == _ENTRY)))
        entry.path, entry.modified_ns = path, stamps[path]
        yield entry


@contextmanager
def _session(master: str | None) -> Iterator[Any]:
    try:
        builder: Any = import_module("pyspark.sql").SparkSession.builder
        import_module("pandas")
    except ImportError:
        raise ConfigError("the engine spark needs PySpark and pandas: pip install 'prefixlint[spark]'") from None
    builder = builder.appName("prefixlint index").config("spark.ui.enabled", "false")
    if master and master.startswith("local"):  # executors on this machine use this Python, where prefixlint is
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = (builder.master(master) if master else builder).getOrCreate()
    except Exception as error:  # without Java it is a plain RuntimeError or a Py4JError
        raise ConfigError(f"Spark does not start: {str(error).splitlines()[0]}") from error
    try:
        yield session
    finally:
        session.stop()


def _gathered(
    frame: Any, function: Callable[[Iterator[Any]], Iterator[Any]]
) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Yield the files that belong to each task, one partition after the other."""
    files: list[tuple[str, bytes]] = []
    task = ""
    for row in _rows(frame.mapInArrow(function, _SCHEMA)):
        if files and row.task != task:
            yield task, files
            files = []
        task = row.task
        files.append((row.name, bytes(row.data)))
    if files:
        yield task, files


def _rows(frame: Any) -> Iterator[Any]:
    """Run all partitions at once, then fetch what they made one after the other, so that the driver holds little."""
    try:
        kept = frame.persist(import_module("pyspark").StorageLevel.DISK_ONLY)
        kept.count()
        yield from kept.toLocalIterator(prefetchPartitions=True)
    except import_module("py4j.protocol").Py4JJavaError as error:
        said = [line for line in str(error).splitlines() if "Error: " in line or "Caused by: " in line]
        why = said[-1].strip() if said else "see the lines above"
        raise ConfigError(f"Spark stopped: {why}; prefixlint must be installed on the executors") from error


def mapped(batches: Iterator[Any]) -> Iterator[Any]:
    """Run the tasks of a partition: the function that Spark calls in its Python workers."""
    for batch in batches:
        for text in batch.column(0).to_pylist():
            task = Task(**json.loads(text))
            for name, data in shard_files(task, *run(task)):
                yield _row(task.name, name, data)


def _file_mapper(block_bytes: int, task_bytes: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that indexes whole files, given their paths and bytes."""

    def mapped_files(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for path, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                yield from _indexed(path, content.as_py(), block_bytes, task_bytes)

    return mapped_files


def _indexed(path: str, content: bytes, block_bytes: int, task_bytes: int) -> Iterator[Any]:
    """Index one file through a copy, since readers want a file they can seek in."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        copy.write_bytes(content)
        del content
        entry = look(str(copy), None)
        entry.file = number_of(path, entry.head)
        tasks = cut(entry, block_bytes, task_bytes)
        for task in tasks:
            outcome, shard = run(task)
            if outcome.whole:
                task = dataclasses.replace(task, start=0, end=0, stamp=f"{entry.size:x}", size=entry.size)
                outcome, shard = run(task)
                entry.shards, entry.ranges = [], False
            for name, data in shard_files(task, outcome, shard):
                yield _row(path, name, data)
            entry.shards.append(outcome)
            if not entry.ranges:
                break
        yield _row(path, _ENTRY, json.dumps(dataclasses.asdict(entry)).encode())


def _row(task: str, name: str, data: bytes) -> Any:
    pa, _ = arrow()
    schema = pa.schema([("task", pa.string()), ("name", pa.string()), ("data", pa.binary())])
    return pa.record_batch([[task], [name], [data]], schema=schema)


def _write(shards: Path, files: list[tuple[str, bytes]]) -> Outcome:
    for name, data in files:
        temporary = shards / f"{name}.tmp"
        temporary.write_bytes(data)
        temporary.rename(shards / name)
    return outcome_of(json.loads(files[-1][1]))
