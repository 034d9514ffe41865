"""Read llama.cpp server logs: usage only, since the server logs no prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Span, Usage
from prefixlint.sources import _provider, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input, Line

NAME = "llamacpp-log"
_NO_PROMPT = "llama.cpp logs hold no prompt text; log the requests of the client, or put a recording proxy in front"
_SLOT = re.compile(rb"slot\s+\S+: id\s+(\d+) \| task (\d+) \|")
_NEW = re.compile(rb"new prompt, .*?(?:task\.n_tokens|n_prompt_tokens|num_prompt_tokens|n_tokens) = (\d+)")
_CACHED = re.compile(rb"cached n_tokens = (\d+)|n_past = (\d+)|kv cache rm \[(\d+)")
_ANSWERED = re.compile(rb"\|\s+eval time = .*? (\d+) (?:tokens|runs)")
_CLOCK = re.compile(rb"(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) ")


def claims(head: Head) -> bool:
    """Tell whether lines report what slots do."""
    return head.kind == "text" and bool(_SLOT.search(head.data))


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each task: tokens of its prompt, and how many of them were cached."""
    _walk.note_once(source, _NO_PROMPT)
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request]:
    tasks: dict[bytes, _Task] = {}
    for line in source.lines():
        slot = _SLOT.search(line.data)
        if slot is None:
            continue
        new = _NEW.search(line.data)
        if new:
            tasks[slot[2]] = _Task(source.path, line, slot[2], int(new[1]))
        task = tasks.get(slot[2])
        if task is None:
            continue
        task.add(line.data)
        if b" release: " in line.data or b"slot      release" in line.data:
            yield tasks.pop(slot[2]).request()
    yield from (task.request() for task in tasks.values())


class _Task:
    """Gather what the lines say about one task."""

    def __init__(self, path: str, line: Line, name: bytes, tokens: int) -> None:
        self._span = Span(path, 0, line.start_byte, line.start_byte + len(line.data), line.number)
        self._name = name.decode()
        self._tokens = tokens
        self._cached: int | None = None
        self._output: int | None = None
        clock = _CLOCK.match(line.data)
        self._at_s = _seconds(clock) if clock else None

    def add(self, data: bytes) -> None:
        """Add a line; the first count of cached tokens is the one before the prompt is computed."""
        cached = _CACHED.search(data)
        if cached and self._cached is None:
            self._cached = int(next(g for g in cached.groups() if g is not None))
        answered = _ANSWERED.search(data)
        if answered:
            self._output = int(answered[1])

    def request(self) -> Request:
        """Return the request."""
        usage = Usage(self._tokens, self._cached, None, self._output)
        return Request(self._name, _provider.RAW, self._span, at_s=self._at_s, usage=usage, no_prompt=True)


def _seconds(clock: re.Match[bytes]) -> float:
    """Return seconds since the start of the server."""
    minutes, seconds, millis, micros = (int(g) for g in clock.groups())
    return minutes * 60 + seconds + millis / 1e3 + micros / 1e6
