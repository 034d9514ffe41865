"""Turn request bodies, alone or in a log, into prompts that can be linted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from prefixlint import json_spans
from prefixlint.api.places import DocumentPlaces, Places
from prefixlint.model import Json, Prompt, Request, Span

if TYPE_CHECKING:
    from prefixlint.api.documents import Loaded


def of_value(document: Loaded, root: str) -> list[tuple[Prompt, Places]]:
    """Render the body at ``root`` of a JSON document; empty when its members fit no API."""
    value = document.value
    for token in json_spans.split_pointer(root):
        value = value[token]
    request = request_of(value, path=document.path)
    if request is None:
        return []
    from prefixlint.api.render import render

    return [(render(request), DocumentPlaces(document.path, document.data, document.parse, root=root))]


def request_of(body: Json, provider: str | None = None, *, path: str = "") -> Request | None:
    """Wrap one decoded body; the provider is told by its members when it is not given."""
    from prefixlint.sources import _provider

    members = {k: json.dumps(v, ensure_ascii=False).encode("utf-8", "surrogatepass") for k, v in body.items()}
    candidates = (provider,) if provider else _provider.candidates(members)
    if not candidates:
        return None
    model = body.get("model")
    return Request("0", candidates[0], Span(path), members, model if isinstance(model, str) else None)


def of_log(path: str) -> Iterator[tuple[Prompt, Places] | str]:
    """Yield every request of a log with its places, and the errors of broken records."""
    from prefixlint.api import read
    from prefixlint.api.render import render

    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read()
    log = read.open_log([path], read.ReadOptions())
    for request in log.requests():
        if not isinstance(request, Request):
            yield str(request)
        elif not request.no_prompt:
            yield render(request), places_of(request, data)


def places_of(request: Request, data: bytes) -> Places:
    """Locate hits in the record of a request; a compressed or rebuilt record has only its own place."""
    span = request.span
    record = data[span.start_byte : span.end_byte]
    if record[:1] != b"{":
        return _Whole(span)
    parse = partial(json_spans.parse, record, path=span.path)
    return DocumentPlaces(
        span.path, data, parse, root=request.body_pointer, record=span.record, base_byte=span.start_byte
    )


class _Whole:
    """Give the place of the whole record for everything in it."""

    def __init__(self, whole: Span) -> None:
        self.whole = whole

    def span(self, pointer: str, start_char: int, end_char: int, *, on_key: bool = False) -> Span:
        """Return the record's place."""
        return self.whole

    def offset(self, pointer: str, start_char: int) -> int:
        """Offsets count inside the string at the pointer."""
        return start_char

    def shown_pointer(self, pointer: str) -> str:
        """Pointers are relative to the request body."""
        return pointer
