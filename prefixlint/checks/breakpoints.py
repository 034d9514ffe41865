"""Judge the cache markers of one request: how many, in which order, on which block, behind how much text.

Limits are those of the provider's data file; a model whose limits are not known is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prefixlint.checks import labelled
from prefixlint.model import Hit, Prompt, Request, Segment

if TYPE_CHECKING:
    from prefixlint.facts import Facts

RULES = ("too-many-breakpoints", "ttl-order", "below-minimum", "breakpoint-misplaced", "lookback-exceeded")
MARKERS = ("cache_control", "cachePoint")
ORDER = ("tools", "toolConfig", "system", "messages")
# Tokens are not counted here. Text has at least one byte per token, and prose and JSON more than 2.5 characters.
CHARS_PER_TOKEN_AT_LEAST = 2.5


@dataclass(frozen=True, slots=True)
class Marker:
    """Hold one cache marker: where it is written, its lifetime, and the pointer of the block that it stands on."""

    pointer: str
    ttl: str
    block: str


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield what is wrong with the markers of a request body."""
    request = prompt.request
    if prompt.kind != "body" or not any(s.breakpoint for s in prompt.segments):
        return
    from prefixlint import facts

    known = facts.provider_facts(request.model, request.provider)
    found = list(markers(request))
    if known is None or not found:
        return
    yield from _too_many(found, known, has_automatic="cache_control" in request.members)
    yield from _ttl_order(found)
    yield from _below_minimum(prompt, found[-1], known)
    yield from _misplaced(prompt, found)
    yield from _lookback(request, found, known)


def markers(request: Request) -> Iterator[Marker]:
    """Yield the markers of a body in the order in which its parts are sent."""
    from prefixlint.elements import decode

    for member in ORDER:
        if member in request.members:
            yield from _walk(decode(request.members[member]), f"/{member}")


def _walk(value: Any, pointer: str) -> Iterator[Marker]:
    if isinstance(value, list):
        for index, below in enumerate(value):
            yield from _walk(below, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, below in value.items():
            if key in MARKERS and isinstance(below, dict):
                yield Marker(f"{pointer}/{key}", str(below.get("ttl", "5m")), pointer)
            elif isinstance(below, dict | list) and key not in ("input", "input_schema", "inputSchema", "parameters"):
                yield from _walk(below, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")


def _too_many(found: list[Marker], known: Facts, *, has_automatic: bool) -> Iterator[Hit]:
    allowed = known.max_breakpoints - has_automatic
    if known.max_breakpoints and len(found) > allowed:
        yield Hit("too-many-breakpoints", found[allowed].pointer, values=(str(len(found)), str(known.max_breakpoints)))


def _ttl_order(found: list[Marker]) -> Iterator[Hit]:
    short = next((m for m in found if m.ttl != "1h"), None)
    late = next((m for m in found[found.index(short) :] if m.ttl == "1h"), None) if short else None
    if short is not None and late is not None:
        yield Hit("ttl-order", late.pointer, values=(late.ttl, short.ttl, short.pointer))


def _below_minimum(prompt: Prompt, last: Marker, known: Facts) -> Iterator[Hit]:
    """Yield if even the longest marked prefix is certainly shorter than what the model caches."""
    chars = 0
    for segment in prompt.segments:
        if segment.kind == "image" and not _is_behind(segment, last):
            return
        chars += len(segment.text.encode("utf-8", "surrogatepass")) if segment.kind in ("text", "json") else 0
        if segment.breakpoint and segment.pointer.startswith(last.block):
            break
    if chars < known.min_tokens.low * CHARS_PER_TOKEN_AT_LEAST:
        sure = "high" if chars < known.min_tokens.low else "medium"
        values = (str(int(known.min_tokens.value)), str(chars))
        yield Hit("below-minimum", last.pointer, values=values, confidence=sure)  # type: ignore[arg-type]


def _is_behind(segment: Segment, marker: Marker) -> bool:
    return segment.pointer > marker.block and not segment.pointer.startswith(marker.block)


def _misplaced(prompt: Prompt, found: list[Marker]) -> Iterator[Hit]:
    """Yield the markers whose own block holds a volatile value, where a stable block stands before it."""
    volatile = [h for h in labelled.check_prompt(prompt) if h.confidence != "low"]
    for index, marker in enumerate(found):
        inside = [h for h in volatile if h.pointer.startswith(f"{marker.block}/") or h.pointer == marker.block]
        before = [h for h in volatile if h not in inside and h.pointer < marker.block]
        covered = any(m.block.rpartition("/")[0] == marker.block.rpartition("/")[0] for m in found[:index])
        if inside and not before and not covered and _previous(marker.block):
            text = next(s.text for s in prompt.segments if s.pointer == inside[0].pointer and s.kind == "text")
            values = (text[inside[0].start_char : inside[0].end_char], _previous(marker.block))
            yield Hit("breakpoint-misplaced", marker.pointer, values=values)


def _previous(block: str) -> str:
    """Return the pointer of the block before one in its list, '' for the first."""
    head, _, index = block.rpartition("/")
    return f"{head}/{int(index) - 1}" if index.isdigit() and int(index) > 0 else ""


def _lookback(request: Request, found: list[Marker], known: Facts) -> Iterator[Hit]:
    """Yield if the newest turn added more blocks than the server looks back over, with no marker in between."""
    from prefixlint.elements import decode

    messages = decode(request.members.get("messages", b"[]"))
    reach = int(known.lookback.value)
    last = found[-1]
    if not reach or not isinstance(messages, list) or not last.block.startswith("/messages/"):
        return
    places = [f"/messages/{i}/content/{j}" for i, m in enumerate(messages) for j in range(_blocks(m))]
    marked = [places.index(m.block) for m in found if m.block in places]
    newest = max((i for i, m in enumerate(messages) if isinstance(m, dict) and m.get("role") == "assistant"), default=0)
    start = next((n for n, p in enumerate(places) if p.startswith(f"/messages/{newest}/")), 0)
    if not newest or not marked:
        return
    reached = start - 1  # where the request before this one ended, and with it its entry
    for at in sorted(marked):
        if at >= start and at - reached < reach:
            reached = at
    if marked[-1] - reached >= reach:
        yield Hit("lookback-exceeded", last.pointer, values=(str(marked[-1] - start + 1), str(reach)))


def _blocks(message: Any) -> int:
    content = message.get("content") if isinstance(message, dict) else None
    return len(content) if isinstance(content, list) else 1
