"""Find what a chat template puts into the prompt by itself: the date, an empty think block, a tool list that moves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixlint.checks._lazy import lazy
from prefixlint.checks._passage import Passage, shared_segments
from prefixlint.model import Hit, Prompt, Segment

RULES = ("template-injected", "thinking-stripped")
_CLOCK = lazy(r"\bstrftime_now\((?:[^()\n]{0,80})\)")
_NOW = lazy(
    r"\b(?:datetime\.(?:now|utcnow|today)|(?<![\w.])now|time\.time)\((?:[^()\n]{0,40})\)(?:\.\w+\([^()\n]{0,60}\))?"
)
_MESSAGE_LOOP = lazy(r"\{%-?\s*for\s+\w+\s+in\s+(?:loop_)?messages\b")
_EMPTY_THINK = lazy(r"<think>(?:\\n|\s)*</think>(?:\\n)*")
_STRIPPED = lazy(r"""\.split\((['"])</(?:think|thinking|reasoning)>\1\)(?:\[-1\]|\s*\|\s*last)?""")
_TOOLS_LAST = lazy(
    r"\{%-?\s*(?:if|elif)\b[^%]{0,200}(?:user_messages\[-1\]|loop\.last|messages\[-1\]|last_user)[^%]{0,200}%\}"
)
_TOOLS_NEAR = 400  # the tool list is printed right behind its condition
_FORWARD = lazy(r"\[AVAILABLE_TOOLS\]|\btools\b")


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield what a chat template injects; a clock call is one in any Jinja text."""
    if prompt.kind == "body":
        return
    for segment in shared_segments(prompt):
        if "{%" in segment.text or "{{" in segment.text:
            yield from _check(segment, is_chat=is_chat_template(prompt, segment.text))


def is_chat_template(prompt: Prompt, text: str) -> bool:
    """Say whether a template renders a whole conversation: it is one by its file, or it loops over the messages."""
    return prompt.kind == "chat-template" or _MESSAGE_LOOP.search(text) is not None


def _check(segment: Segment, *, is_chat: bool) -> Iterator[Hit]:
    passage = Passage(segment.text)
    for found in _CLOCK.finditer(segment.text):
        if not passage.is_silent(found.start()) and not passage.is_code(found.start()):
            yield Hit(
                "template-injected",
                segment.pointer,
                *found.span(),
                (found[0], "the date of the day"),
                confidence="high",
            )
    if is_chat:
        yield from (h for h in _injected(segment) if not passage.is_silent(h.start_char))


def _injected(segment: Segment) -> Iterator[Hit]:
    text = segment.text
    for found in _NOW.finditer(text):
        yield Hit("template-injected", segment.pointer, *found.span(), (found[0], "the clock"), confidence="high")
    if empty := _EMPTY_THINK.search(text):
        values = (empty[0], "an empty think block that the next request does not repeat")
        yield Hit("template-injected", segment.pointer, *empty.span(), values, confidence="medium", severity="info")
    for found in _TOOLS_LAST.finditer(text):
        behind = text[found.start() : found.end() + _TOOLS_NEAR]
        if re.search(r"\btools\b", found[0]) and _FORWARD.search(behind, len(found[0])):
            values = (found[0], "the tool list in front of the newest message, so it moves with every turn")
            yield Hit("template-injected", segment.pointer, *found.span(), values, confidence="medium")
            break
    if stripped := _STRIPPED.search(text):
        yield Hit("thinking-stripped", segment.pointer, *stripped.span(), confidence="medium", severity="info")
