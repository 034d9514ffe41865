"""Open request logs of any known format as one log in the order of time."""

from __future__ import annotations

import glob
import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from prefixlint import registry
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import InputFile, Json, ReadOptions, Request, Span
from prefixlint.sources import _json, _record, _when
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

__all__ = ["Log", "ReadOptions", "formats", "open_log", "request_of"]

Item = Request | InputError
_SKIPPED_SUFFIXES = {".py", ".pyc", ".so", ".png", ".jpg", ".lock", ".idx", ".parquet"}
_NO_TIME = float("-inf")


def formats() -> list[str]:
    """List the names of the known input formats."""
    return [m.NAME for m in registry.modules("sources", "claims")]


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


class _File(NamedTuple):
    """Hold a file that was asked for; ``sorted`` when its place among the others is not the user's."""

    path: str
    named: bool


def _expand(path: str) -> list[_File]:
    """Return the files of a folder (recursively) or glob in natural order, or the one file."""
    if path == "-":
        return [_File(path, True)]
    place = Path(path)
    if place.is_dir():
        inside = (f for f in place.rglob("*") if f.is_file() and not _is_hidden(f.relative_to(place)))
        found = sorted((str(f) for f in inside if f.suffix not in _SKIPPED_SUFFIXES), key=_natural)
        if not found:
            raise InputError("the folder holds no file to read", path=path)
        return [_File(f, False) for f in found]
    if place.exists():
        return [_File(path, True)]
    globbed = glob.glob(path, recursive=True)  # noqa: PTH207  (pathlib takes no absolute patterns)
    matched = sorted((f for f in globbed if Path(f).is_file()), key=_natural)
    if not matched:
        raise InputError("no such file or folder", path=path)
    return [_File(f, False) for f in matched]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".aider.llm.history",) for part in path.parts)


def _natural(path: str) -> list[tuple[int, int | str]]:
    """Sort ``run-9`` before ``run-10``."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", path)]


@dataclass(eq=False)
class Log:
    """Read the requests of several inputs as one stream; memory is bounded by the longest record.

    ``inputs()`` and ``notes()`` are complete once ``requests()`` was read to its end.
    """

    files: tuple[_File, ...]
    options: ReadOptions
    _done: list[_Reader] = field(default_factory=list)

    def requests(self) -> Iterator[Item]:
        """Yield every request in the order of time; what cannot be read comes as an InputError in between."""
        paths = tuple(f.path for f in self.files)
        self._done = [_Reader(f, self.options, tuple(p for p in paths if p != f.path)) for f in self.files]
        wanted = _filter(self.options)
        for reader, item in _merged(self._done):
            if isinstance(item, InputError):
                reader.errors.append(str(item))
                yield item
            elif wanted(item):
                reader.requests += 1
                yield item

    def inputs(self) -> tuple[InputFile, ...]:
        """Say what was read from each input."""
        return tuple(InputFile(r.path, r.format, r.requests, tuple(r.errors)) for r in self._done)

    def notes(self) -> tuple[str, ...]:
        """Return what readers had to say about whole inputs, each once."""
        return tuple(dict.fromkeys(f"{r.path}: {note}" for r in self._done for note in r.source.notes))


class _Reader:
    """Read one input."""

    def __init__(self, file: _File, options: ReadOptions, beside: tuple[str, ...]) -> None:
        self.path = file.path
        self.named = file.named
        self.format = "unknown"
        self.requests = 0
        self.errors: list[str] = []
        self._options = options
        self._beside = beside
        self.source = Input(file.path, options.progress, beside=beside)
        self._items: Iterator[Item] | None = None
        self._ahead: list[Item] = []

    def items(self) -> Iterator[Item]:
        """Yield the requests of this input, and close it at the end."""
        if self._items is None:
            self._items = self._read()
        while self._ahead:
            yield self._ahead.pop(0)
        yield from self._items

    def first_at_s(self) -> float:
        """Return the time of the first request that has one, reading only as far as that."""
        if self._items is None:
            self._items = self._read()
        for item in self._items:
            self._ahead.append(item)
            if isinstance(item, Request):
                return _NO_TIME if item.at_s is None else item.at_s
        return _NO_TIME

    def pause(self) -> None:
        """Forget what was read ahead and close the file, to be opened again; standard input stays open."""
        if self.path == "-":
            return
        self._items = None
        self._ahead.clear()
        self.source.close()
        self.source = Input(self.path, self._options.progress, beside=self._beside)

    def _read(self) -> Iterator[Item]:
        try:
            module = _format_of(self.source, self._options)
            self.format = module.NAME
            yield from _ordered(module, module.read(self.source, self._options))
        except InputError as error:
            yield (
                error if error.path else InputError(error.message, path=self.path, line=error.line, column=error.column)
            )
        except OSError as error:
            yield InputError(f"cannot be read: {error.strerror or error}", path=self.path)
        finally:
            self.source.close()


def _ordered(module: ModuleType, items: Iterator[Item]) -> Iterator[Item]:
    """Sort the requests of exports that are written newest first or in no order; others stream."""
    if not getattr(module, "UNORDERED", False):
        return items
    held = list(items)
    errors: list[Item] = [i for i in held if isinstance(i, InputError)]
    requests = [i for i in held if isinstance(i, Request)]
    if all(r.at_s is not None for r in requests):
        requests.sort(key=lambda r: r.at_s or 0.0)
    return iter([*errors, *requests])


def _format_of(source: Input, options: ReadOptions) -> ModuleType:
    """Find the one format that claims an input. Raises InputError when none or several do."""
    if options.input_format:
        return next(m for m in registry.modules("sources", "claims") if options.input_format == m.NAME)
    head = Head(source)
    if not head.data.strip():
        raise InputError("the file is empty", path=source.path)
    modules = list(registry.modules("sources", "claims"))
    claimed = [m for m in modules if not getattr(m, "GENERIC", False) and m.claims(head)]
    claimed = claimed or [m for m in modules if getattr(m, "GENERIC", False) and m.claims(head)]
    if len(claimed) == 1:
        return claimed[0]
    if claimed:
        names = " and ".join(m.NAME for m in claimed)
        raise InputError(f"this can be {names}; say which with --input-format", path=source.path)
    raise _unknown(head)


def _unknown(head: Head) -> InputError:
    """Say what was seen in a file that no format claims."""
    known = f"known formats: {', '.join(formats())}"
    place = head.broken_at()
    if place:
        return InputError(place[0], path=head.path, line=place[1], column=place[2])
    return InputError(f"no known log format: {head.seen()}; {known}", path=head.path)


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


def _merged(readers: list[_Reader]) -> Iterator[tuple[_Reader, Item]]:
    """Merge inputs by time; without times they follow one another as they were named.

    Only inputs whose spans of time overlap are open at once, so a folder of any number of files can be read.
    """
    if len(readers) < 2:
        for reader in readers:
            yield from ((reader, item) for item in reader.items())
        return
    waiting: list[tuple[float, int, _Reader]] = []
    for place, reader in enumerate(readers):
        waiting.append((reader.first_at_s(), place, reader))
        reader.pause()
    waiting.sort(key=lambda w: w[:2])
    yield from _interleaved(waiting)


def _interleaved(waiting: list[tuple[float, int, _Reader]]) -> Iterator[tuple[_Reader, Item]]:
    open_now: list[tuple[float, int, Item, _Reader, Iterator[Item]]] = []
    at = 0
    while open_now or at < len(waiting):
        if at < len(waiting) and (not open_now or waiting[at][:2] <= open_now[0][:2]):
            time, place, reader = waiting[at]
            at += 1
            _push(open_now, time, place, reader, reader.items())
            continue
        time, place, item, reader, items = heapq.heappop(open_now)
        yield reader, item
        _push(open_now, time, place, reader, items)


def _push(
    open_now: list[tuple[float, int, Item, _Reader, Iterator[Item]]],
    time: float,
    place: int,
    reader: _Reader,
    items: Iterator[Item],
) -> None:
    """Put the next item of an input into the queue; one without a time goes with the one before it."""
    item = next(items, None)
    if item is None:
        return
    if isinstance(item, Request) and item.at_s is not None:
        time = max(item.at_s, time)
    heapq.heappush(open_now, (time, place, item, reader, items))
