"""Read a stretch of JSON lines; of a conversation that grew since an earlier line only what is new is parsed."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from prefixlint.api.index_blocks import Node
from prefixlint.errors import InputError
from prefixlint.model import Request, Span
from prefixlint.sources import _bodies, _json, _provider, _record, _records, _response
from prefixlint.sources._stream import BOM, Line

LEAST_TRIES = 1_000
RARE = 50
STEP_BYTES = 512
WINDOW_BYTES = 32
MOST_TRIED = 3
READ_BYTES = 1 << 18
KEPT_BYTES = 32_000_000
SMALL_BYTES = 1_500  # a shorter line is parsed as fast as it is looked up
TALKS = {"messages": b'"messages"', "contents": b'"contents"', "input": b'"input"'}
_BLANK = b" \t\r\n"
_BODIES = _provider._BODY_KEYS
_TELLING = frozenset((*_record.SESSIONS, *_record._HOLDERS, *_record._ADDRESSES, "model"))
LOOK_BYTES = _provider._LOOK_BYTES
_NO_PROMPT = frozenset(("metadata", "user", "max_tokens", "temperature", "stream", "seed"))


class WholeFileError(Exception):
    """Say that the records of this file depend on one another, so it must be read from its start."""


@dataclass(slots=True)
class Known:
    """Hold a conversation: its line up to the first element, the bytes of all elements, and what was made of it.

    It grows with the conversation; ``noted_bytes`` of the elements are in the table of windows.
    """

    head: bytes
    region: bytes | memoryview
    pointer: str
    front: Mapping[str, bytes]
    outer: KeysView[str]
    around: tuple[_json.Members, ...] = ()
    session: str | None = None
    node: Node | None = None
    scope: tuple[str, str | None, str] = ("", None, "")
    noted_bytes: int = 0

    def is_quick(self, found: _record.Found) -> bool:
        """Say whether a record names the same session, model and cache as this one, and has a time of its own.

        What decides about the API stands in the members of the body and at the start of its conversation.
        """
        members = found.members
        if any(members[k] != v for k, v in self.front.items()) or len(found.around) != len(self.around):
            return False
        if "model" not in members:
            return False
        levels = zip(found.around, self.around, strict=True)
        if any(new.get(k) != old.get(k) for new, old in levels for k in old if k in _TELLING):
            return False
        outer = found.around[0] if found.around else members
        return not any(k in outer for k in _response.KEYS) or _record.time_of(found.around or (members,)) is not None


class Found(NamedTuple):
    """Hold a request; with ``base`` it begins with that conversation, and ``items`` are its elements behind it."""

    request: Request
    base: Node | None = None
    items: tuple[bytes, ...] = ()
    known: Known | None = None


def raw_lines(path: str, start: int, end: int) -> Iterator[Line]:
    """Yield the lines that begin in ``[start, end)``; numbers count from 1 in this stretch."""
    with Path(path).open("rb", buffering=READ_BYTES) as file:
        at, number = _line_start(path, start), 1
        file.seek(at)
        while at < end:
            data = file.readline()
            if not data:
                return
            size = len(data)
            skip = 3 if at == 0 and data.startswith(BOM) else 0
            yield Line(number, at + skip, data[skip:].removesuffix(b"\n"))
            at += size
            number += 1


def _line_start(path: str, start: int) -> int:
    """Return where the first line at or behind ``start`` begins."""
    if start == 0:
        return 0
    with Path(path).open("rb") as file:
        file.seek(start - 1)
        return start - 1 + len(file.readline())


@dataclass(slots=True)
class Lines:
    """Read requests; ``lines`` counts the lines seen."""

    path: str
    lines: int = 0
    _number: int = 0
    _windows: dict[int, Known] = field(default_factory=dict)
    _talk: str = ""
    _waiting: dict[int, tuple[Known, int]] = field(default_factory=dict)
    _kept_bytes: int = 0
    _tries: int = 0
    _hits: int = 0

    def read(self, lines: Iterator[Line]) -> Iterator[Found | InputError]:
        """Yield what each line that is not blank holds. Raises WholeFileError."""
        for line in lines:
            self.lines += 1
            if line.data and not line.data.isspace():
                yield (self._grown(line) if self._is_worth(line) else None) or self._parsed(line)

    def _is_worth(self, line: Line) -> bool:
        """Say whether to look for an earlier line; in a log whose conversations do not grow there is none."""
        return len(line.data) > SMALL_BYTES and (self._tries < LEAST_TRIES or self._hits * RARE > self._tries)

    def _parsed(self, line: Line) -> Found | InputError:
        data = line.data
        try:
            bad = _json.invalid_utf8(data)
            if bad is not None:
                raise _json.BrokenJsonError("invalid UTF-8", bad)
            members = _json.members(data)
        except _json.BrokenJsonError as error:
            return _records.broken_line(self.path, line, error)
        made = _bodies._request(self._place(line, members), self._number, None)
        if isinstance(made, InputError):
            return made
        self._number += 1
        _refuse_chain(made)
        return Found(made, known=self._remember(data, made, members) if self._is_worth(line) else None)

    def _place(self, line: Line, members: _json.Members) -> _records.Record:
        end = line.start_byte + len(line.data) - line.data.endswith(b"\r")
        return _records.Record(members, self.path, line.start_byte, end, line.number)

    def _remember(self, data: bytes, request: Request, outer: _json.Members) -> Known | None:
        """Note where the conversation of a line lies, to recognise the next one that continues it."""
        if request.body_pointer and not _BODIES.isdisjoint(outer):
            return None  # which of two bodies counts depends on more than the names of members
        name = next((n for n in TALKS if request.members.get(n, b"").startswith(b"[")), "")
        raw = request.members.get(name, b"")
        region = raw[1:-1].rstrip()
        begin = data.find(raw, max(data.find(TALKS[name]), 0)) if region.endswith((b"}", b'"')) else -1
        if begin < 0:
            return None
        self._talk = name
        front = {k: v for k, v in request.members.items() if k != name}
        known = Known(data[: begin + 1], region, request.body_pointer, front, outer.keys())
        return known if _opens(known.head, known.pointer, name) else None

    def keep(self, known: Known, node: Node, request: Request) -> None:
        """Keep a conversation with what was made of it."""
        known.node, known.scope = node, (request.provider, request.model, request.scope)
        known.session = request.session
        self._bound(known)
        region, end = known.region, len(known.region) - WINDOW_BYTES
        for at in range(known.noted_bytes, end, STEP_BYTES):
            self._windows[hash((at, region[at : at + WINDOW_BYTES]))] = known
        known.noted_bytes = max(0, -(-end // STEP_BYTES)) * STEP_BYTES

    def _bound(self, known: Known) -> None:
        """Forget the conversations that have waited longest, so that memory does not grow with their number."""
        size = len(known.head) + len(known.region)
        self._kept_bytes += size - self._waiting.pop(id(known), (known, 0))[1]
        self._waiting[id(known)] = known, size
        while self._kept_bytes > KEPT_BYTES and len(self._waiting) > 1:
            old, freed = self._waiting.pop(next(iter(self._waiting)))
            self._kept_bytes -= freed
            old.node, old.region, old.head = None, b"", b""

    def _grown(self, line: Line) -> Found | None:
        """Read a line that begins like one before; None where it has to be parsed whole."""
        self._tries += 1
        at = line.data.find(TALKS[self._talk]) if self._talk else -1
        begin = line.data.find(b"[", at) + 1 if at >= 0 else 0
        known = self._candidate(line.data, begin) if begin else None
        if known is None:
            return None
        head = line.data[:begin]
        if head != known.head and not _opens(head, known.pointer, self._talk):
            return None
        return self._continued(line, known, begin)

    def _candidate(self, data: bytes, begin: int) -> Known | None:
        """Find a conversation by its bytes at the same places, the places furthest back first."""
        last = (len(data) - begin - WINDOW_BYTES) // STEP_BYTES * STEP_BYTES
        tried: list[Known] = []
        for at in range(last, -1, -STEP_BYTES):
            known = self._windows.get(hash((at, data[begin + at : begin + at + WINDOW_BYTES])))
            if known is None or known.node is None or any(known is t for t in tried):
                continue
            if data.startswith(known.region, begin):
                return known
            tried.append(known)
            if len(tried) == MOST_TRIED:
                break
        return None

    def _continued(self, line: Line, known: Known, begin: int) -> Found | None:
        """Parse the line with the known elements left out; it is well formed exactly if the line is."""
        data, name = line.data, self._talk
        rest = begin + len(known.region)
        while data[rest : rest + 1] in (b" ", b"\t", b"\r"):
            rest += 1
        mark = data[rest : rest + 1]
        if mark not in (b",", b"]"):
            return None
        rest += mark == b","
        found = _opened(data[:begin] + data[rest:], known)
        talk = found.members.get(name, b"") if found else b""
        if found is None or not talk.startswith(b"[") or found.members.keys() - {name} != known.front.keys():
            return None
        items = tuple(_json.items(talk))
        # A second member of the same name would have won, so there must be none.
        if (mark == b",") != bool(items) or not data.startswith(talk[1:], rest) or data.find(TALKS[name], rest) >= 0:
            return None
        end = rest + len(talk)
        if known.is_quick(found):
            request = self._alike(line, known, found, data[begin - 1 : begin + LOOK_BYTES])
        else:
            found.members[name] = data[begin - 1 : end - 1]
            request = self._built(line, found)
        if request is None:
            return None
        self._number += 1
        self._hits += 1
        return self._kept(line, known, found, request, (begin, end - 2), items)

    def _alike(self, line: Line, known: Known, found: _record.Found, talk: bytes) -> Request | None:
        """Make the request of a line that differs from an earlier one in nothing but time and talk."""
        provider, model, scope = known.scope
        members = found.members
        if len(known.region) < LOOK_BYTES and _provider.candidates({**members, self._talk: talk})[:1] != (provider,):
            return None
        at_s = _record.time_of(found.around or (found.members,))
        end = line.start_byte + len(line.data) - line.data.endswith(b"\r")
        span = Span(self.path, self._number, line.start_byte, end, line.number)
        return Request("", provider, span, found.members, model, known.session, at_s, None, known.pointer, scope)

    def _built(self, line: Line, found: _record.Found) -> Request | None:
        members = found.members
        whole = _record.Found(found.pointer, members, found.around, _provider.candidates(members))
        if not whole.candidates:
            return None
        try:
            request = _record.build(whole, self._place(line, members).span(self._number), None, self._number)
        except (InputError, _json.BrokenJsonError):
            return None
        _refuse_chain(request)
        return request

    def _kept(
        self,
        line: Line,
        known: Known,
        found: _record.Found,
        request: Request,
        talk: tuple[int, int],
        items: tuple[bytes, ...],
    ) -> Found:
        """Let a conversation grow; ``talk`` is where its elements and what follows them lie."""
        front = {k: v for k, v in found.members.items() if k != self._talk}
        same = (request.provider, request.model, request.scope) == known.scope and _same_front(front, known.front)
        base = known.node if same else None
        begin, end = talk
        while line.data[end - 1] in _BLANK:
            end -= 1
        known.head, known.region = line.data[:begin], memoryview(line.data)[begin:end]
        known.front, known.around, known.node = front, found.around, None
        is_closed = line.data[end - 1] in b'}"'
        return Found(request, base, items, known if is_closed else None)


def _refuse_chain(request: Request) -> None:
    if request.provider == _provider.RESPONSES and "previous_response_id" in request.members:
        raise WholeFileError


def _same_front(left: Mapping[str, bytes], right: Mapping[str, bytes]) -> bool:
    return left == right or all(left[k] == right[k] for k in left if k not in _NO_PROMPT)


def _opens(head: bytes, pointer: str, name: str) -> bool:
    """Say whether a line up to a bracket ends where the array of the conversation opens, not inside a string."""
    try:
        members: _json.Members | None = _json.members(head + b"]" + b"}" * (pointer.count("/") + 1))
    except _json.BrokenJsonError:
        return False
    for key in pointer.split("/")[1:]:
        raw = members.get(key.replace("~1", "/").replace("~0", "~")) if members else None
        members = _json.members(raw) if raw and raw.startswith(b"{") else None
    return members is not None and members.get(name) == b"[]"


def _opened(short: bytes, known: Known) -> _record.Found | None:
    """Find the body where it was, in a line that has the same members as the one before.

    Whether it is a body at all is looked at when its conversation is whole again.
    """
    try:
        if _json.invalid_utf8(short) is not None:
            return None
        level: _json.Members | None = _json.members(short)
        if level is None or level.keys() != known.outer:
            return None
        around = []
        for key in known.pointer.split("/")[1:]:
            around.append(level or {})
            level = _json.opened(around[-1].get(key.replace("~1", "/").replace("~0", "~")))
    except _json.BrokenJsonError:
        return None
    return None if level is None else _record.Found(known.pointer, level, tuple(around))
