"""Read Ollama debug logs (``OLLAMA_DEBUG=1``): usage only, since the server logs no prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Span, Usage
from prefixlint.sources import _provider, _walk, _when
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input

NAME = "ollama-log"
_NO_PROMPT = "Ollama logs hold no prompt text; log the requests of the client, or put a recording proxy in front"
_SLOT = re.compile(rb'msg="loading cache slot" id=(\d+) cache=(\d+) prompt=(\d+) used=(\d+) remaining=(\d+)')
_TIME = re.compile(rb"time=(\S+)")
_START = re.compile(rb"^time=\S+ level=\w+ source=\S+", re.M)


def claims(head: Head) -> bool:
    """Tell whether lines have Ollama's shape and speak of cache slots, completions or its web server."""
    marks = (b"loading cache slot", b"completion request", b"[GIN] ", b"ollama")
    return head.kind == "text" and bool(_START.search(head.data)) and any(m in head.data for m in marks)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each loaded cache slot."""
    _walk.note_once(source, _NO_PROMPT)
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request]:
    for line in source.lines():
        found = _SLOT.search(line.data)
        if found is None:
            continue
        time = _TIME.match(line.data)
        yield Request(
            id="",
            provider=_provider.RAW,
            span=Span(source.path, 0, line.start_byte, line.start_byte + len(line.data), line.number),
            at_s=_when.seconds(time[1].decode("ascii", "replace")) if time else None,
            usage=Usage(int(found[3]), int(found[4])),
            no_prompt=True,
        )
