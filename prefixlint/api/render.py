"""Render a request: its pieces of text in the order in which this provider feeds them to the model."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from prefixlint import registry
from prefixlint.elements import Element, Layout, PromptPart, decode, join, member
from prefixlint.errors import ConfigError
from prefixlint.model import Json, Prompt, Request, Segment
from prefixlint.names import suggestion

ALIASES = {
    "openai": "openai-chat", "chat": "openai-chat", "responses": "openai-responses", "claude": "anthropic",
    "google": "gemini", "bedrock": "bedrock-converse", "converse": "bedrock-converse", "llama-raw": "raw",
    "text": "raw",
}  # fmt: skip


def layout(name: str) -> Layout:
    """Find the send order of a provider API by its name; an unknown name lists the known ones."""
    wanted = ALIASES.get(name, name)
    module = wanted.replace("-", "_")
    if module in registry.names("render"):
        found = registry.module("render", module)
        if getattr(found, "NAME", "") == wanted:
            return _as_layout(found)
    known = [m.NAME for m in registry.modules("render", "PARTS")]
    raise ConfigError(f"unknown provider API {name!r}: {suggestion(name, known)}")


def _as_layout(module: ModuleType) -> Layout:
    return module


def render(request: Request, *, api: str | None = None) -> Prompt:
    """Render a request, completely and plainly; ``api`` overrides the provider's send order."""
    if request.text is not None:
        segments: tuple[Segment, ...] = (Segment("message", "", request.text),)
        return Prompt(request, segments, scope_of(request), exact=True)
    found = layout(api or request.provider)
    segments = tuple(s for part in found.PARTS if part.member in request.members for s in _part(found, part, request))
    return Prompt(request, segments, scope_of(request), found.EXACT)


def scope_of(request: Request) -> str:
    """Name the cache that a request can share: its model, and whatever else the log says splits caches."""
    return "\0".join((request.model or "", request.scope))


def elements(found: Layout, part: PromptPart, value: Json) -> Iterator[tuple[str, Element]]:
    """Yield the elements of a part with their pointers in the body."""
    pointer = join("", part.member)
    if part.path and isinstance(value, dict):
        value, pointer = member(value, *part.path), "".join([pointer, *(join("", p) for p in part.path)])
    if part.items == "list" and isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{pointer}/{index}", found.element(part, item)
    elif value is not None:
        yield pointer, found.element(part, value)


def _part(found: Layout, part: PromptPart, request: Request) -> Iterator[Segment]:
    for pointer, element in elements(found, part, decode(request.members[part.member])):
        for piece in element.pieces:
            place = pointer + piece.pointer
            yield Segment(part.part, place, piece.text, element.role, piece.breakpoint, kind=piece.kind)
