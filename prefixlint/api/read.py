"""Open request logs of any known format as one log in the order of time."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prefixlint.api._readers import File, Item, Reader, formats, merged
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import InputFile, Json, Progress, ReadOptions, Request, Span
from prefixlint.sources import _json, _record, _when

__all__ = ["Log", "ReadOptions", "formats", "open_log", "request_of"]

_SKIPPED_SUFFIXES = {".py", ".pyc", ".so", ".png", ".jpg", ".lock", ".idx", ".parquet"}


def open_log(paths: Sequence[str], options: ReadOptions | None = None) -> Log:
    """Open files, folders, globs or ``-`` (standard input) as one log; nothing is read before ``requests()``.

    Raises ConfigError for an unknown format name or an unreadable time, InputError when a path does not exist.
    """
    options = options or ReadOptions()
    if options.input_format and options.input_format not in formats():
        raise ConfigError(f"unknown input format {options.input_format!r}; known: {', '.join(formats())}")
    for time in (options.since, options.until):
        if time is not None and _when.seconds(time) is None:
            raise ConfigError(f"cannot read the time {time!r}; write it as 2026-03-02T09:00:00Z")
    return Log(tuple(found for path in paths for found in _expand(path)), options)


def request_of(body: dict[str, Json] | bytes, provider: str | None = None) -> Request:
    """Build the Request of one body in memory; bytes keep their number spelling and escapes.

    Raises InputError when the bytes are no JSON object.
    """
    data = body if isinstance(body, bytes) else _json.dumps(body)
    try:
        found = _record.Found("", _json.members(data))
    except _json.BrokenJsonError as error:
        raise InputError(f"broken JSON: {error.message}", line=1, column=error.byte + 1) from error
    return _record.build(found, Span("", 0, 0, len(data)), provider)


def _expand(path: str) -> list[File]:
    """Return the files of a folder (recursively) or glob in natural order, or the one file."""
    if path == "-":
        return [File(path, True)]
    place = Path(path)
    if place.is_dir():
        inside = (f for f in place.rglob("*") if f.is_file() and not _is_hidden(f.relative_to(place)))
        found = sorted((str(f) for f in inside if f.suffix not in _SKIPPED_SUFFIXES), key=_natural)
        if not found:
            raise InputError("the folder holds no file to read", path=path)
        return [File(f, False) for f in found]
    if place.exists():
        return [File(path, True)]
    globbed = glob.glob(path, recursive=True)  # noqa: PTH207  (pathlib takes no absolute patterns)
    matched = sorted((f for f in globbed if Path(f).is_file()), key=_natural)
    if not matched:
        raise InputError("no such file or folder", path=path)
    return [File(f, False) for f in matched]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".aider.llm.history",) for part in path.parts)


def _natural(path: str) -> list[tuple[int, int | str]]:
    """Sort ``run-9`` before ``run-10``."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", path)]


def _filter(options: ReadOptions) -> Callable[[Request], bool]:
    """Return the test of the filters; a request without a time is outside of every span of time."""
    since, until = _when.seconds(options.since), _when.seconds(options.until)

    def wanted(request: Request) -> bool:
        if options.models and request.model not in options.models:
            return False
        if options.sessions and request.session not in options.sessions:
            return False
        at_s = request.at_s
        if since is not None and (at_s is None or at_s < since):
            return False
        return until is None or (at_s is not None and at_s < until)

    return wanted


def _is_known(request: Request, seen: set[str]) -> bool:
    """Tell whether a request of the log has this id already, and remember it."""
    known = request.id in seen
    seen.add(request.id)
    return known


class _Progress:
    """Add up the bytes read of several inputs, which are looked into more than once."""

    def __init__(self, tell: Progress, files: tuple[File, ...]) -> None:
        self._tell = tell
        self._total = sum(Path(f.path).stat().st_size for f in files if f.path != "-")
        self._done: dict[str, int] = {}

    def of(self, path: str) -> Progress:
        """Return what one input calls; going back to its start takes nothing away."""

        def told(done: int, total: int) -> None:
            self._done[path] = max(done, self._done.get(path, 0))
            self._tell(sum(self._done.values()), self._total)

        return told


@dataclass(eq=False)
class Log:
    """Read the requests of several inputs as one stream; memory is bounded by the longest record.

    ``inputs()`` and ``notes()`` are complete once ``requests()`` was read to its end.
    """

    files: tuple[File, ...]
    options: ReadOptions
    _done: list[Reader] = field(default_factory=list)

    def requests(self) -> Iterator[Item]:
        """Yield every request in the order of time; what cannot be read comes as an InputError in between."""
        paths = tuple(f.path for f in self.files)
        progress = _Progress(self.options.progress, self.files) if self.options.progress else None
        self._done = [Reader(f, self.options, paths, progress.of(f.path) if progress else None) for f in self.files]
        wanted = _filter(self.options)
        seen: set[str] = set()
        for reader, item in merged(self._done):
            if isinstance(item, InputError):
                reader.fail(item)
                yield item
            elif wanted(item) and not (reader.unique and _is_known(item, seen)):
                reader.requests += 1
                yield item

    def inputs(self) -> tuple[InputFile, ...]:
        """Say what was read from each input."""
        return tuple(InputFile(r.path, r.format, r.requests, tuple(r.errors)) for r in self._done if r.format)

    def notes(self) -> tuple[str, ...]:
        """Return what readers had to say about whole inputs, each once."""
        return tuple(dict.fromkeys(f"{r.path}: {note}" for r in self._done for note in r.source.notes))
