"""Find tools that share a name: which of them the model sees is up to the server, and orders of equals drift."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.checks._lazy import lazy
from prefixlint.model import Hit, Prompt

RULES = ("duplicate-key",)
_NAME = lazy(r"(?:^|/)(?:tools|functions|functionDeclarations|function_declarations)/\d+(?:/function)?/name$")
_BARE_NAME = lazy(r"^/\d+(?:/function)?/name$")


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield the second and later tools of a name."""
    seen: set[str] = set()
    for segment in prompt.segments:
        if segment.part != "tools" or not segment.pointer.endswith("/name"):
            continue
        if not _NAME.search(segment.pointer) and not (prompt.kind == "tools" and _BARE_NAME.match(segment.pointer)):
            continue
        if segment.text in seen:
            yield Hit("duplicate-key", segment.pointer, 0, len(segment.text), confidence="high")
        seen.add(segment.text)
