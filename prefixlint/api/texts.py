"""Split a prompt file into its parts: front matter, and the texts of the roles it speaks for."""

# Paths are shown as they were given, so os.path, which does not rewrite them.
# ruff: noqa: PTH111, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from dataclasses import dataclass

from prefixlint.model import PromptKind, Segment

_FRONT_MATTER = r"(?s)\ufeff?(---[ \t]*\r?\n(?:.*?\r?\n)??---[ \t]*(?:\r?\n|\Z))"
_MAX_FRONT_MATTER = 20_000
_KEY_LINE = r"(?m)^[A-Za-z_][\w.-]*[ \t]*:"
# What the program shows to the model although it stands in the front matter: the description of an agent or skill.
_DESCRIPTION = r"(?m)^description:[ \t]*(?![|>&*!])(?P<quote>[\"']?)(?P<text>[^\n]*?)(?P=quote)[ \t]*\r?$"
_ROLES = {
    ".prompty": r"(?im)^[ \t]*#?[ \t]*(system|user|assistant|developer|tool|function)[ \t]*:[ \t]*\r?$\n?",
    ".prompt": r"\{\{~?[ \t]*role[ \t]+[\"'](system|user|model|assistant|tool)[\"'][ \t]*~?\}\}[ \t]*\n?",
}


@dataclass(frozen=True, slots=True)
class PromptText:
    """Hold the segments of a prompt file; ``bases`` maps each segment's pointer to its first character in the file."""

    kind: PromptKind
    segments: tuple[Segment, ...]
    bases: dict[str, int]


def split(path: str, text: str, *, kind: PromptKind, syntax: str = "") -> PromptText:
    """Split a prompt file; without front matter and role heads it is one system segment with the empty pointer."""
    start = front_matter_end(text)
    suffix = path[path.rfind(".") :].lower() if "." in path else ""
    pieces = _described(text, start) if start else []
    pieces += _by_role(text, start, _ROLES.get(suffix))
    if len(pieces) == 1 and not pieces[0][1]:
        return PromptText(kind, (Segment("system", "", text, "system", syntax=syntax),), {"": 0})
    segments, bases = [], {}
    for number, (role, first, last) in enumerate(pieces):
        pointer = f"#{number}" if len(pieces) > 1 else ""
        part = "system" if role in ("system", "developer") else "message"
        segments.append(
            Segment("system" if part == "system" else "message", pointer, text[first:last], role, syntax=syntax)
        )
        bases[pointer] = first
    return PromptText(kind, tuple(segments), bases)


def front_matter_end(text: str) -> int:
    """Return where the body begins: behind the YAML front matter, or at 0.

    >>> front_matter_end("---\\nname: x\\n---\\nBody")
    16
    """
    if not text.startswith(("---", "\ufeff---")):
        return 0
    found = re.match(_FRONT_MATTER, text[:_MAX_FRONT_MATTER])
    return found.end() if found and re.search(_KEY_LINE, found[1]) else 0


def _described(text: str, end: int) -> list[tuple[str, int, int]]:
    found = re.search(_DESCRIPTION, text[:end])
    bom = [("system", 0, 1)] if text.startswith("\ufeff") else []
    return [*bom, *([("system", *found.span("text"))] if found and found["text"] else [])]


def _by_role(text: str, start: int, heads: str | None) -> list[tuple[str, int, int]]:
    """Cut the body at its role heads; text before the first one is the system's."""
    found = list(re.compile(heads).finditer(text, start)) if heads else []
    if not found:
        return [("system", start, len(text))]
    pieces = [("system", start, found[0].start())] if text[start : found[0].start()].strip() else []
    for head, following in zip(found, [*found[1:], None], strict=True):
        role = head[1].lower()
        pieces.append((role, head.end(), following.start() if following else len(text)))
    return pieces


_IMPORTING = ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "AGENTS.md", "QWEN.md")
_IMPORT = r"(?:^|(?<=[\s(]))@((?:\.{1,2}/|~/|/)?[\w.-]+(?:/[\w.-]+)*\.(?:md|txt|mdc))\b"


def imports(path: str, text: str) -> Iterator[str]:
    """Yield the files that an agent instruction file takes in by ``@file``, where they exist."""
    if os.path.basename(path) not in _IMPORTING:
        return
    for found in re.finditer(_IMPORT, text):
        name = os.path.join(os.path.dirname(path), os.path.expanduser(found[1]))
        if os.path.isfile(name):
            yield os.path.normpath(name)
