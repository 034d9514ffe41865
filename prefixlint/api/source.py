"""Lint source code: which volatile values of the program reach a prompt, and through which lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from prefixlint.code import _names
from prefixlint.code._findings import findings
from prefixlint.code._ir import Tree
from prefixlint.code._lang import Lang
from prefixlint.code._places import Lines, allows
from prefixlint.code._project import Project, languages
from prefixlint.code._sinks import SinkOptions
from prefixlint.config import Config
from prefixlint.errors import InputError
from prefixlint.model import Finding, Fix, Severity

EXTRA = "prefixlint[source]"
CHUNK = 24  # files given to a worker at a time: enough to share helper modules, few enough to balance
KEPT = 200  # helper modules that one process keeps, so that memory does not grow with the project
PARALLEL_FROM = 40  # files from which a second process pays for its start


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Say how source is linted.

    ``names`` maps further variables, functions or arguments that hold prompts to their part (system, tools,
    messages, prompt). ``jobs`` 0 means one process for each core, 1 none beside this one. ``report_unused`` reports
    suppression comments that suppress nothing.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 0
    report_unused: bool = True


def is_source(path: str) -> bool:
    """Tell whether a file is source code of a language that is read."""
    return Path(path).suffix.lower() in languages()


def check_source(path: str, data: bytes, options: SourceOptions | Config | None = None) -> Iterator[Finding]:
    """Lint one file; helpers that it imports are read too.

    Raises InputError when the file cannot be parsed or its grammar is not installed.
    """
    if isinstance(options, Config):
        options = SourceOptions(dict.fromkeys(options.prompt_sinks, "system"))
    yield from _shared_run(options or SourceOptions(), path, data).file(path, data)


def check_sources(paths: Sequence[str], options: SourceOptions | None = None) -> Iterator[Finding | InputError]:
    """Lint many files, on all cores when there are many; a file that cannot be read is reported and the rest goes on.

    A finding lies in the file where the volatile value comes from; each is yielded once.
    """
    options = options or SourceOptions()
    seen: set[tuple[str, str, int]] = set()
    for item in _results(list(paths), options):
        if isinstance(item, Finding):
            key = (item.rule, str(Path(item.span.path)), item.span.start_byte)
            if key in seen:
                continue
            seen.add(key)
        yield item


def _results(paths: list[str], options: SourceOptions) -> Iterator[Finding | InputError]:
    jobs = options.jobs or os.cpu_count() or 1
    if jobs == 1 or len(paths) < PARALLEL_FROM:
        yield from _chunk(paths, options)
        return
    chunks = [paths[i : i + CHUNK] for i in range(0, len(paths), CHUNK)]
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(_chunk, chunks, [options] * len(chunks)):
            yield from found


def _chunk(paths: list[str], options: SourceOptions) -> list[Finding | InputError]:
    run = _Run(options)
    found: list[Finding | InputError] = []
    for path in paths:
        try:
            found += run.file(path, Path(path).read_bytes())
        except InputError as error:
            found.append(error)
        except OSError as error:
            found.append(InputError(f"cannot be read: {error.strerror}", path=path))
    return found


_runs: dict[str, _Run] = {}


def _shared_run(options: SourceOptions, path: str, data: bytes) -> _Run:
    # One run for each process and set of names: a helper module is then read once for all its users. A file that
    # comes again with other bytes means an editor: what was read before may be stale.
    key = repr(options)
    run = _runs.get(key)
    known = run.project.modules.get(path.replace(os.sep, "/")) if run is not None else None
    if run is None or len(run.project.modules) > KEPT or (known is not None and known.data != data):
        _runs.clear()
        _load.cache_clear()
        run = _runs[key] = _Run(options)
    return run


class _Run:
    """Hold what files of one run share: helper modules that were read, and lines for places."""

    def __init__(self, options: SourceOptions) -> None:
        self.options = options
        self.project = Project(_load, _listing, SinkOptions(dict(options.names)))
        self.lines: dict[str, Lines] = {}

    def file(self, path: str, data: bytes) -> list[Finding]:
        reader = languages_by_suffix().get(Path(path).suffix.lower())
        if reader is None:
            return []
        path = path.replace(os.sep, "/")
        if not hasattr(reader, "check"):
            return self.plain(path, data, reader)
        try:
            found: list[Finding] = reader.check(path, data, self)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise _unreadable(path, error) from error
        return found

    def plain(self, path: str, data: bytes, reader: object) -> list[Finding]:
        """Check a file that is one program in one language."""
        lang: Lang = reader.LANG  # type: ignore[attr-defined]
        try:
            if not (_names.is_relevant(data) or any(n.encode() in data for n in self.options.names)):
                reader.parses(data)  # type: ignore[attr-defined]
                return self.suppressed(path, data, [], lang)
            tree = reader.lower_file(path, data) if hasattr(reader, "lower_file") else reader.lower(data)  # type: ignore[attr-defined]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise _unreadable(path, error) from error
        except ImportError as error:
            raise InputError(
                f"the grammar for {lang.name} is not installed; pip install '{EXTRA}'", path=path
            ) from error
        return self.checked(path, data, tree, lang)

    def checked(self, path: str, data: bytes, tree: Tree, lang: Lang) -> list[Finding]:
        """Follow a lowered file and build its findings, less what comments allow."""
        try:
            raw = self.project.check(path, tree, data, lang)
        except RecursionError as error:
            raise InputError("nested too deeply to be followed", path=path) from error
        self.lines[path] = Lines(data)
        return self.suppressed(path, data, findings(raw, self.lines_of, severity_of), lang)

    def lines_of(self, path: str) -> Lines | None:
        if path not in self.lines:
            data = _load(path)
            if data is None:
                return None
            self.lines[path] = Lines(data)
        return self.lines[path]

    def suppressed(self, path: str, data: bytes, found: list[Finding], lang: Lang) -> list[Finding]:
        """Leave out what comments allow, also in helper files, and report comments that allow nothing."""
        kept = []
        used: set[tuple[int, str]] = set()
        tables = {
            p: allows(self.lines[p].data if p in self.lines else data, lang.comment)
            for p in {f.span.path for f in found} | {path}
        }
        for item in found:
            hit = next((a for a in tables[item.span.path] if item.rule in a.rules and a.line in _rows(item)), None)
            if hit is None:
                kept.append(item)
            elif item.span.path == path:
                used.add((hit.start, item.rule))
        return kept + (_unused(path, data, tables[path], used) if self.options.report_unused else [])


def _rows(item: Finding) -> range:
    return range(item.span.line, item.span.line + 1)


def _unused(path: str, data: bytes, table: list, used: set[tuple[int, str]]) -> list[Finding]:  # type: ignore[type-arg]
    lines = Lines(data) if table else None
    made = []
    for allow in table:
        for rule in allow.rules:
            if (allow.start, rule) in used or lines is None:
                continue
            known = rule in _known_rules()
            text = f"allow[{rule}] suppresses nothing here" if known else f"allow[{rule}] names no rule"
            span = lines.span(path, allow.start, allow.end)
            made.append(Finding("unused-allow", "info", "high", text, span, fix=Fix("remove the comment", "display")))
    return made


def _unreadable(path: str, error: Exception) -> InputError:
    line = getattr(error, "lineno", 0) or 0
    column = getattr(error, "offset", 0) or 0
    reason = getattr(error, "msg", None) or str(error) or type(error).__name__
    return InputError(
        f"cannot be parsed: {re.sub(r' *[(]<unknown>.*', '', reason)}", path=path, line=line, column=max(0, column)
    )


@lru_cache(maxsize=1)
def languages_by_suffix() -> Mapping[str, object]:
    """Return the reader of each suffix."""
    return dict(languages())


@lru_cache(maxsize=4096)
def _load(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError):
        return None


def _listing(folder: str) -> list[str]:
    try:
        return sorted(f"{folder}/{e.name}" if folder else e.name for e in os.scandir(folder or ".") if e.is_file())
    except OSError:
        return []


@lru_cache(maxsize=1)
def _known_rules() -> frozenset[str]:
    from prefixlint import cards

    return frozenset(cards.all_rules())


@lru_cache(maxsize=256)
def severity_of(rule: str) -> Severity:
    """Return the severity that the card of a rule gives."""
    from prefixlint import cards

    found = cards.all_rules().get(rule)
    return found.severity if found is not None else "warning"
