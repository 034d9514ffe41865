"""Read the inputs of a log: find their formats, and merge them by time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import chain, pairwise
from types import ModuleType
from typing import NamedTuple

from prefixlint import registry
from prefixlint.errors import InputError
from prefixlint.model import Progress, ReadOptions, Request
from prefixlint.sources import _bodies
from prefixlint.sources._head import Head
from prefixlint.sources._json import BrokenJsonError
from prefixlint.sources._stream import Input, wide_encoding

Item = Request | InputError
_NO_TIME = float("-inf")
_MAX_ERRORS = 1_000  # kept for the report; all of them are yielded
_PEEK_REQUESTS = 50
_PEEK_BYTES = 1 << 23
_PICKLE = tuple(b"\x80" + bytes([version]) for version in range(2, 6))


class File(NamedTuple):
    """Hold a file that was asked for; ``named`` is False where a folder brought it in."""

    path: str
    named: bool


class Reader:
    """Read one input."""

    def __init__(self, file: File, options: ReadOptions, beside: tuple[str, ...], progress: Progress | None) -> None:
        self.path = file.path
        self.named = file.named
        self.format = "unknown"
        self.requests = 0
        self.errors: list[str] = []
        self.unread = 0
        self.unique = False
        self._options = options
        self._beside = beside
        self._progress = progress
        self.source = Input(file.path, progress, beside=beside)
        self._items: Iterator[Item] | None = None
        self._ahead: list[Item] = []

    def fail(self, error: InputError) -> None:
        """Keep what could not be read, for the report."""
        if len(self.errors) < _MAX_ERRORS:
            self.errors.append(str(error))
        self.unread += 1

    def leave_out(self, why: str) -> None:
        """Read nothing of this input; a folder may hold other files than logs."""
        self.format = ""
        self._items = iter(())
        self._ahead.clear()
        self.source.notes.append(why)

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
        if self.path == "-" or not self.format:
            return
        self._items = None
        self._ahead.clear()
        self.source.close()
        self.source = Input(self.path, self._progress, beside=self._beside)

    def _read(self) -> Iterator[Item]:
        try:
            module = _format_of(self.source, self._options)
            self.format = module.NAME
            self.unique = getattr(module, "UNIQUE", False)
            yield from _ordered(module, self._guarded(module.read(self.source, self._options)))
        except InputError as error:
            yield self._placed(error)
        except OSError as error:
            yield InputError(f"cannot be read: {error.strerror or error}", path=self.path)
        finally:
            self.source.close()

    def _guarded(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yield what ends a file early as its last item, behind all that was read."""
        try:
            yield from items
        except InputError as error:
            yield self._placed(error)

    def _placed(self, error: InputError) -> InputError:
        if error.path:
            return error
        return InputError(error.message, path=self.path, line=error.line, column=error.column)


def _ordered(module: ModuleType, items: Iterator[Item]) -> Iterator[Item]:
    """Sort the requests of exports that are written newest first or in no order; others stream."""
    if getattr(module, "UNORDERED", False):
        return _sorted(list(items))
    ahead: list[Item] = []
    seen_bytes = 0
    for item in items:
        ahead.append(item)
        seen_bytes += item.span.end_byte - item.span.start_byte if isinstance(item, Request) else 0
        if len(ahead) >= _PEEK_REQUESTS or seen_bytes > _PEEK_BYTES:
            break
    if not _is_newest_first([i for i in ahead if isinstance(i, Request)]):
        return chain(ahead, items)
    return _sorted([*ahead, *items])


def _is_newest_first(requests: list[Request]) -> bool:
    times = [r.at_s for r in requests if r.at_s is not None]
    if len(times) < 3 or len(times) < len(requests):
        return False
    return times[0] > times[-1] and all(a >= b for a, b in pairwise(times))


def _sorted(held: list[Item]) -> Iterator[Item]:
    errors = [i for i in held if isinstance(i, InputError)]
    requests = [i for i in held if isinstance(i, Request)]
    if all(r.at_s is not None for r in requests):
        requests.sort(key=lambda r: r.at_s or 0.0)
    return chain(errors, requests)


def formats() -> list[str]:
    """List the names of the known input formats."""
    return [m.NAME for m in registry.modules("sources", "claims")]


def _format_of(source: Input, options: ReadOptions) -> ModuleType:
    """Find the one format that claims an input. Raises InputError when none or several do."""
    if options.input_format:
        return next(m for m in registry.modules("sources", "claims") if options.input_format == m.NAME)
    head = Head(source)
    if not head.data.strip():
        raise source.failure or InputError("the file is empty", path=source.path)
    if wide_encoding(head.data):
        raise InputError("the file is UTF-16; convert it to UTF-8", path=source.path, line=1, column=1)
    if head.data.startswith(_PICKLE):
        raise InputError(
            "this is a Python pickle, and reading one runs what it says, so prefixlint never does; "
            "SGLang writes JSON with --log-requests-level 3 --log-requests-format json",
            path=source.path,
        )
    plain = _bodies.plain(head)
    if plain:
        return registry.module("sources", plain.replace("-", "_"))
    modules = list(registry.modules("sources", "claims"))
    claimed = [m for m in modules if not getattr(m, "GENERIC", False) and _claims(m, head)]
    claimed = claimed or [m for m in modules if getattr(m, "GENERIC", False) and _claims(m, head)]
    if len(claimed) == 1:
        return claimed[0]
    if claimed:
        names = " and ".join(m.NAME for m in claimed)
        raise InputError(f"this can be {names}; say which with --input-format", path=source.path)
    raise _unknown(head)


def _claims(module: ModuleType, head: Head) -> bool:
    """Ask a format; a record that breaks while it is looked at speaks for no format."""
    try:
        return bool(module.claims(head))
    except BrokenJsonError:
        return False


def _unknown(head: Head) -> InputError:
    """Say what was seen in a file that no format claims."""
    known = f"known formats: {', '.join(formats())}"
    place = head.broken_at()
    if place:
        return InputError(place[0], path=head.path, line=place[1], column=place[2])
    return InputError(f"no known log format: {head.seen()}; {known}", path=head.path)


def merged(readers: list[Reader]) -> Iterator[tuple[Reader, Item]]:
    """Merge inputs by time; without times they follow one another as they were named.

    Only inputs whose spans of time overlap are open at once, so a folder of any number of files can be read.
    """
    if len(readers) < 2:
        for reader in readers:
            yield from ((reader, item) for item in reader.items())
        return
    waiting: list[tuple[float, int, Reader]] = []
    for place, reader in enumerate(readers):
        waiting.append((reader.first_at_s(), place, reader))
    _leave_out(readers)
    for reader in readers:
        reader.pause()
    waiting.sort(key=lambda w: w[:2])
    yield from _interleaved(waiting)


def _leave_out(readers: list[Reader]) -> None:
    """Pass over files of a folder that are no logs, unless nothing else is there.

    A README beside logs is no prompt, so text files count only where there is nothing but text.
    """
    found = [r for r in readers if r.format not in ("unknown", "text")] or [r for r in readers if r.format == "text"]
    for reader in readers if found else ():
        if reader not in found and not reader.named and reader.format in ("unknown", "text"):
            reader.leave_out("left out, since it is no log of a known format")


def _interleaved(waiting: list[tuple[float, int, Reader]]) -> Iterator[tuple[Reader, Item]]:
    open_now: list[tuple[float, int, Item, Reader, Iterator[Item]]] = []
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
    open_now: list[tuple[float, int, Item, Reader, Iterator[Item]]],
    time: float,
    place: int,
    reader: Reader,
    items: Iterator[Item],
) -> None:
    """Put the next item of an input into the queue; one without a time goes with the one before it."""
    item = next(items, None)
    if item is None:
        return
    if isinstance(item, Request) and item.at_s is not None:
        time = max(item.at_s, time)
    heapq.heappush(open_now, (time, place, item, reader, items))
