"""Run the tasks of an index on a Spark cluster; the shards are the same bytes as without it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from prefixlint.api.index_shard import Outcome, Task, arrow, run, shard_files
from prefixlint.errors import ConfigError

_SCHEMA = "task string, name string, data binary"


def outcomes(tasks: Sequence[Task], shards: str, master: str | None) -> Iterator[tuple[Task, Outcome]]:
    """Run tasks on executors, which read the log; only their shards, a small part of it, come back.

    The blocks of each stretch are counted where they are read, so that a block which all requests share is one row
    per stretch, and no executor has to gather it.
    """
    if not tasks:
        return
    session = _session(master)
    try:
        for name, files in _gathered(session, tasks):
            task = next(t for t in tasks if t.name == name)
            yield task, _write(Path(shards), files)
    finally:
        session.stop()


def _session(master: str | None) -> Any:
    try:
        builder: Any = import_module("pyspark.sql").SparkSession.builder
    except ImportError:
        raise ConfigError("the engine spark needs PySpark: pip install 'prefixlint[spark]'") from None
    builder = builder.appName("prefixlint index").config("spark.ui.enabled", "false")
    try:
        return (builder.master(master) if master else builder).getOrCreate()
    except Exception as error:  # PySpark raises a plain RuntimeError or Py4JError without Java
        raise ConfigError(f"Spark does not start: {str(error).splitlines()[0]}") from error


def _gathered(session: Any, tasks: Sequence[Task]) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Yield the files of each shard; one task is one partition, so a long one delays no other."""
    texts = [(json.dumps(dataclasses.asdict(task)),) for task in tasks]
    made = session.createDataFrame(session.sparkContext.parallelize(texts, len(texts)), "task string")
    files: list[tuple[str, bytes]] = []
    for row in made.mapInArrow(mapped, _SCHEMA).toLocalIterator(prefetchPartitions=True):
        files.append((row.name, bytes(row.data)))
        if row.name.endswith(".json"):
            yield row.task, files
            files = []


def mapped(batches: Iterator[Any]) -> Iterator[Any]:
    """Run the tasks of a partition: the function that Spark calls in its Python workers."""
    pa, _ = arrow()
    schema = pa.schema([("task", pa.string()), ("name", pa.string()), ("data", pa.binary())])
    for batch in batches:
        for text in batch.column(0).to_pylist():
            task = Task(**json.loads(text))
            for name, data in shard_files(task, *run(task)):
                yield pa.record_batch([[task.name], [name], [data]], schema=schema)


def _write(shards: Path, files: list[tuple[str, bytes]]) -> Outcome:
    for name, data in files:
        temporary = shards / f"{name}.tmp"
        temporary.write_bytes(data)
        temporary.rename(shards / name)
    found = json.loads(files[-1][1])
    found["errors"] = [tuple(error) for error in found["errors"]]
    return Outcome(**found)
