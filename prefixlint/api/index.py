"""Index logs: fingerprints of their prompts as parquet shards, made in parallel, going on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from prefixlint.api.index_plan import MANIFEST, Manifest, Plan, load, plan
from prefixlint.api.index_shard import Outcome, Row, Task, arrow, fingerprints, outcome_of, write
from prefixlint.errors import ConfigError
from prefixlint.indexes import IndexResult
from prefixlint.model import Progress

__all__ = ["IndexOptions", "Row", "fingerprints", "index", "is_index", "merge"]

LEAST_POOL_BYTES = 8_000_000  # less is done before a second process has started


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Say how to index; ``jobs`` 0 takes all cores, ``master`` is the URL of a Spark cluster."""

    block_bytes: int = 256
    jobs: int = 0
    engine: str = "local"
    master: str | None = None
    input_format: str | None = None
    task_bytes: int = 96_000_000
    progress: Progress | None = None


def is_index(path: str) -> bool:
    """Say whether a path is a folder that ``index`` wrote."""
    return (Path(path) / MANIFEST).is_file()


def index(paths: Sequence[str], folder: str, options: IndexOptions | None = None) -> IndexResult:
    """Write or bring up to date the index of some logs in ``folder``.

    Plain JSON lines that grew are read from where they ended; other files that changed are read again. Shards are
    written under other names and renamed, the manifest comes last: what was stopped goes on, and nothing counts twice.
    Raises ConfigError when a library is missing or the folder holds another kind of index.
    """
    options = options or IndexOptions()
    if options.engine not in ("local", "spark"):
        raise ConfigError(f"unknown engine {options.engine!r}; known: local, spark")
    place = Path(folder)
    shards = place / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    before = load(place) if (place / MANIFEST).is_file() else Manifest(options.block_bytes)
    if before.block_bytes != options.block_bytes:
        raise ConfigError(f"{folder}: this index has blocks of {before.block_bytes} bytes; take another folder")
    remote = [path for path in paths if options.engine == "spark" and "://" in path]
    local = [path for path in paths if path not in remote]
    made = plan(local, before, options.block_bytes, options.task_bytes, options.input_format)
    for name in made.stale:
        (shards / f"{name}.json").unlink(missing_ok=True)
    done = _run(made, shards, options)
    if remote:
        _index_remote(made, remote, shards, options)
    manifest = made.finished(done)
    manifest.write(place)
    _sweep(shards, manifest)
    outcomes = list(done.values())
    return IndexResult(
        folder,
        files=len(manifest.files),
        requests=sum(o.requests for o in manifest.outcomes()),
        blocks=sum(o.blocks for o in manifest.outcomes()),
        read_bytes=made.read_bytes,
        kept_bytes=made.kept_bytes,
        tasks=len(outcomes),
        errors=sum(len(o.errors) + o.more_errors for o in manifest.outcomes()),
        notes=made.notes,
    )


def _index_remote(made: Plan, paths: Sequence[str], shards: Path, options: IndexOptions) -> None:
    from prefixlint.api import index_spark

    known = {entry.path: entry for entry in made.entries.values()}
    sizes = (options.block_bytes, options.task_bytes)
    entries, read = index_spark.remote_entries(paths, known, str(shards), *sizes, options.master)
    for entry in entries:
        if entry.path in known:
            made.entries.pop(known[entry.path].file, None)
        made.entries[entry.file] = entry
    made.remote_bytes = read


def _run(made: Plan, shards: Path, options: IndexOptions) -> dict[str, Outcome]:
    """Run the tasks that no earlier run has finished, then once more what turned out to need its whole file."""
    done = _run_tasks(made.tasks, shards, options)
    again = made.whole_tasks(done)
    return {**done, **_run_tasks(again, shards, options)} if again else done


def _run_tasks(tasks: Sequence[Task], shards: Path, options: IndexOptions) -> dict[str, Outcome]:
    done: dict[str, Outcome] = {}
    todo = []
    for task in tasks:
        outcome = _outcome(shards / f"{task.name}.json")
        if outcome is None:
            todo.append(task)
        else:
            done[task.name] = outcome
    total, read = sum(t.bytes for t in todo), 0
    for task, outcome in _outcomes(todo, shards, options):
        done[task.name] = outcome
        read += task.bytes
        if options.progress:
            options.progress(read, total)
    return done


def _outcome(path: Path) -> Outcome | None:
    if not path.is_file():
        return None
    return outcome_of(json.loads(path.read_text(encoding="utf-8")))


def _outcomes(todo: Sequence[Task], shards: Path, options: IndexOptions) -> Iterator[tuple[Task, Outcome]]:
    if options.engine == "spark":
        from prefixlint.api import index_spark

        yield from index_spark.outcomes(todo, str(shards), options.master)
        return
    jobs = min(options.jobs or os.cpu_count() or 1, len(todo))
    if jobs < 2 or sum(t.bytes for t in todo) < LEAST_POOL_BYTES:
        arrow()
        yield from ((task, write(task, str(shards))) for task in todo)
        return
    yield from _pooled(todo, shards, jobs)


def _pooled(todo: Sequence[Task], shards: Path, jobs: int) -> Iterator[tuple[Task, Outcome]]:
    """Run tasks in processes, the largest first, so that none is left alone at the end."""
    import multiprocessing

    largest = sorted(todo, key=lambda t: -t.bytes)
    # Fork is quick, but not safe beside the threads that pyarrow starts.
    import sys

    method = "fork" if "pyarrow" not in sys.modules and sys.platform == "linux" else "spawn"
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context(method)) as pool:
        waiting: dict[Future[Outcome], Task] = {pool.submit(write, task, str(shards)): task for task in largest}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _sweep(shards: Path, manifest: Manifest) -> None:
    """Remove the shards that no longer belong to the index."""
    wanted = {outcome.name for outcome in manifest.outcomes()}
    for path in shards.iterdir():
        if path.name.partition(".")[0] not in wanted:
            path.unlink()


def merge(folders: Sequence[str], folder: str) -> IndexResult:
    """Copy several indexes into one; a file that two of them hold counts once, from the one that read most of it."""
    import shutil

    from prefixlint.api.index_plan import merged

    manifest, homes = merged(folders)
    shards = Path(folder) / "shards"
    shards.mkdir(parents=True, exist_ok=True)
    for outcome in manifest.outcomes():
        for kind in _kinds(outcome):
            source = homes[outcome.name] / "shards" / f"{outcome.name}.{kind}"
            target = shards / source.name
            if source.resolve() != target.resolve():
                shutil.copyfile(source, target.with_name(target.name + ".tmp"))
                target.with_name(target.name + ".tmp").rename(target)
    manifest.write(Path(folder))
    outcomes = manifest.outcomes()
    return IndexResult(
        folder, len(manifest.files), sum(o.requests for o in outcomes), sum(o.blocks for o in outcomes), 0,
        sum(f.done_bytes for f in manifest.files.values()), 0, sum(len(o.errors) + o.more_errors for o in outcomes),
    )  # fmt: skip


def _kinds(outcome: Outcome) -> Iterable[str]:
    return ("json",) if outcome.whole else ("requests.parquet", "blocks.parquet", "json")
