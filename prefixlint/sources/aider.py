"""Read aider's LLM history (``.aider.llm.history``, ``--llm-history-file``): text with a role before every line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import ReadOptions, Request, Span
from prefixlint.sources import _provider, _walk, _when
from prefixlint.sources._head import Head
from prefixlint.sources._stream import Input, Line

NAME = "aider"
_HEAD = re.compile(rb"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT[\d:.+-]+)\s*$")
_ROLE = re.compile(rb"(SYSTEM|DEVELOPER|USER|ASSISTANT|TOOL|FUNCTION)(?: |$)")
_RULE = b"-------"


def claims(head: Head) -> bool:
    """Tell whether the file begins with the head of a request or an answer."""
    return bool(head.lines) and bool(_HEAD.match(head.lines[0]))


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Yield one request for each ``TO LLM`` block; tools and usage are not in the file."""
    yield from _walk.counted(_read(source))


def _read(source: Input) -> Iterator[Request]:
    block: list[Line] = []
    for line in source.lines():
        if _HEAD.match(line.data):
            yield from _request(source.path, block)
            block = []
        block.append(line)
    yield from _request(source.path, block)


def _request(path: str, block: list[Line]) -> Iterator[Request]:
    head = _HEAD.match(block[0].data) if block else None
    if head is None or head[1] != b"TO LLM":
        return
    messages = [{"role": role, "content": "\n".join(lines)} for role, lines in _messages(block[1:])]
    last = block[-1]
    span = Span(path, 0, block[0].start_byte, last.start_byte + len(last.data), block[0].number)
    at_s = _when.seconds(head[2].decode())
    yield Request("", _provider.CHAT, span, _walk.body(messages=messages), at_s=at_s, rebuilt=True)


def _messages(block: list[Line]) -> list[tuple[str, list[str]]]:
    """Join lines of one role; a rule or another role begins the next message."""
    messages: list[tuple[str, list[str]]] = []
    fresh = True
    for line in block:
        data = line.data.removesuffix(b"\r")
        if data == _RULE:
            fresh = True
            continue
        found = _ROLE.match(data)
        if found:
            role, text = found[1].decode().lower(), data[found.end() :].decode("utf-8", "replace")
            if fresh or messages[-1][0] != role:
                messages.append((role, []))
            messages[-1][1].append(text)
        elif messages:
            messages[-1][1].append(data.decode("utf-8", "replace"))
        fresh = False if found else fresh
    return messages
