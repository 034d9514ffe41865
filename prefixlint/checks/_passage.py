"""Tell what a place in a prompt is: plain text, code, an example, a comment of the template language, escaped text."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from prefixlint.checks._lazy import lazy
from prefixlint.model import Prompt, Segment

_FENCE = lazy(r"^[ \t>]{0,8}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_CODE = lazy(r"(`{1,3})(?!`)[^`\n]{1,400}\1")
_CALL = lazy(r"\w\(")
_INDENT = ("    ", "\t")
_LIST_ITEM = lazy(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_EXAMPLE_TAG = lazy(r"<(/?)(?:good_|bad_)?(?:examples?|sample|few[_-]?shot|demo|example_\w{1,30})\b[^>\n]{0,80}>", re.I)
_EXAMPLE_WORD = lazy(
    r"\b(?:e\.g|i\.e|eg|examples?|such as|for instance|samples?|looks? like|something like|expected|outputs?|returns?"
    r"|z\. ?B\.|beispiel|par exemple|exemples?|por ejemplo|ejemplo|esempio|exemplo|пример|например)\b|例如|例えば|예:",
    re.IGNORECASE,
)
_CONDITION = lazy(
    r"\b(?:if|when|whether|unless|assum\w{1,4}|suppos\w{1,4}|pretend|imagine|never|don't|instead of|wenn|si|falls)\b"
    r"|如果",
    re.IGNORECASE,
)
_RAW = lazy(r"\{%-? *(?:raw|verbatim) *-?%\}.*?(?:\{%-? *end(?:raw|verbatim) *-?%\}|\Z)", re.S)
_COMMENT = lazy(r"\{#.*?(?:#\}|\Z)|\{\{!--.*?(?:--\}\}|\Z)|\{\{![^\n]*?\}\}|<%#.*?(?:%>|\Z)", re.S)
LINE_CHARS = 2000  # of a longer line only the part around a place is looked at
_EXAMPLE_CHARS = 100  # how far an "e.g." reaches

TURN = lazy(
    r"<\|im_start\|>user|<\|start_header_id\|>user|<\|user\|>|\[INST\]|<start_of_turn>user"
    r"|^(?:USER|User|Human|### Instruction):",
    re.M,
)


class Passage:
    """Answer questions about places in one text; what is asked for is computed once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def fences(self) -> list[int]:
        """Return the ends of the lines that open and close fenced code, alternating."""
        if "```" not in self.text and "~~~" not in self.text:
            return []
        return _paired([(m.end(), m[1]) for m in _FENCE.finditer(self.text)])

    @cached_property
    def silent(self) -> list[tuple[int, int]]:
        """Return the ranges that are never rendered as templates: raw blocks and comments of template languages."""
        found = [m.span() for m in _RAW.finditer(self.text)] if "{%" in self.text else []
        if any(mark in self.text for mark in ("{#", "{{!", "<%#")):
            found += [m.span() for m in _COMMENT.finditer(self.text)]
        return sorted(found)

    @cached_property
    def examples(self) -> list[int]:
        """Return where example elements (``<example>`` ... ``</example>``) begin and end, alternating."""
        bounds: list[int] = []
        depth = 0
        for tag in _EXAMPLE_TAG.finditer(self.text) if "</" in self.text else ():
            depth = max(0, depth + (-1 if tag[1] else 1))
            if depth == (0 if tag[1] else 1):
                bounds.append(tag.start())
        return bounds

    def is_fenced(self, at_char: int) -> bool:
        """Say whether a place lies in a fenced code block."""
        return bisect_right(self.fences, at_char) % 2 == 1

    def is_code(self, at_char: int) -> bool:
        """Say whether a place lies in code of any kind, a few words in backticks included."""
        if self.is_code_block(at_char):
            return True
        start, end = self.line(at_char)
        if "`" not in self.text[start:at_char]:
            return False
        return any(m.start() < at_char < m.end() for m in _CODE.finditer(self.text, start, end))

    def is_code_block(self, at_char: int) -> bool:
        """Say whether a place lies in fenced or indented code, or on a line that looks like a statement."""
        start, end = self.line(at_char)
        return self.is_fenced(at_char) or _is_statement(self.text[start:end]) or self._is_indented(start)

    def _is_indented(self, line_start: int) -> bool:
        """Say whether a line belongs to a block that is indented like code behind a blank line."""
        if not self.text.startswith(_INDENT, line_start):
            return False
        lines = self.text[max(0, line_start - LINE_CHARS) : line_start].split("\n")[:-1]
        is_apart = False
        for line in reversed(lines):
            if line.strip() and not line.startswith(_INDENT):
                return is_apart and not _LIST_ITEM.match(line)
            is_apart = not line.strip()
        return False

    def is_silent(self, at_char: int) -> bool:
        """Say whether a place lies in a raw block or a template comment."""
        nearest = bisect_right(self.silent, (at_char, len(self.text))) - 1
        return nearest >= 0 and at_char < self.silent[nearest][1]

    def is_example(self, at_char: int) -> bool:
        """Say whether the words before a place, or an element around it, make it an example or a condition."""
        if bisect_right(self.examples, at_char) % 2 == 1:
            return True
        start = self._introduced_from(at_char)
        if _EXAMPLE_WORD.search(self.text, start, at_char):
            return True
        sentence = max(self.text.rfind(mark, start, at_char) for mark in (". ", "! ", "? ", "\n"))
        return _CONDITION.search(self.text, max(start, sentence), at_char) is not None

    def _introduced_from(self, at_char: int) -> int:
        """Return the start of the line, or of the one before it where that one introduces it by a colon."""
        start, _ = self.line(at_char)
        before = self.text[max(0, start - _EXAMPLE_CHARS) : start].rstrip()
        if before.endswith((":", "：")):
            start = max(self.text.rfind("\n", 0, max(0, start - 2)) + 1, start - _EXAMPLE_CHARS)
        return max(start, at_char - _EXAMPLE_CHARS)

    def line(self, at_char: int) -> tuple[int, int]:
        """Return the bounds of the line around a place, cut where a line is very long."""
        first, last = max(0, at_char - LINE_CHARS), min(len(self.text), at_char + LINE_CHARS)
        start, end = self.text.rfind("\n", first, at_char), self.text.find("\n", at_char, last)
        return first if start < 0 else start + 1, last if end < 0 else end


def _is_statement(line: str) -> bool:
    """Say whether a line is a command behind a prompt sign, or ends like a statement of a C-like language."""
    line = line.strip()
    if line.startswith((">>> ", "$ ", "#!/")):
        return True
    return line.endswith(";") and (" = " in line or _CALL.search(line) is not None)


def _paired(marks: list[tuple[int, str]]) -> list[int]:
    """Pair opening fences with the first closing one that is as long and of the same kind."""
    bounds: list[int] = []
    opened = ""
    for end, mark in marks:
        if not opened:
            opened = mark
            bounds.append(end)
        elif mark[0] == opened[0] and len(mark) >= len(opened):
            opened = ""
            bounds.append(end)
    return bounds


def shared_segments(prompt: Prompt) -> list[Segment]:
    """Return the texts that all requests are meant to share: system, developer, tools, settings and prompt files.

    Turns of user, assistant and tools are left out; a raw prompt counts up to its last user turn.
    """
    return [s for s in map(_shared, prompt.segments) if s is not None]


def _shared(segment: Segment) -> Segment | None:
    if segment.kind != "text" or not segment.text or segment.text.startswith("data:"):
        return None
    if segment.part != "message" or segment.role in ("system", "developer"):
        return segment
    if segment.role:
        return None
    turns = list(TURN.finditer(segment.text))
    end = turns[-1].start() if turns else len(segment.text)
    return Segment(segment.part, segment.pointer, segment.text[:end], "", segment.breakpoint, segment.syntax)
