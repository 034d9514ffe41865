"""Bring text to the one form that its equals share: line ends, invisible characters, Unicode form, trailing blanks.

No word, no indentation, no line break and no list changes; fenced code keeps its trailing blanks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the code points ``[start_char, end_char)`` of a text by ``new``."""

    start_char: int
    end_char: int
    new: str
    rule: str


_CRLF = re.compile(r"\r[\r \t]*\n")
_BLANKS_AT_END = re.compile(r"(?<![ \t])[ \t]++(?=\n|\Z)")  # each run of blanks is tried once, from its start
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$", re.M)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ZERO_WIDTH = re.compile("[\ufeff\u200b\u200c\u200d\u2060\u180e]")
_CLUSTER = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
# A path with a folder and an extension: its exact code points decide whether the file is found.
_PATH = re.compile(r"[^\s\"'`<>|*?:]*/[^\s\"'`<>|*?:/]+\.\w{1,5}(?!\w)")
# Scripts that are written without spaces use U+200B as a word border: Thai, Lao, Tibetan, Myanmar, Khmer.
_SPACELESS = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf]")
# Hebrew to Mongolian, Phags-pa to Meetei Mayek, presentation forms, and their cousins beyond the first plane.
_JOINING_SCRIPTS = re.compile(
    "[\u0590-\u1fff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00011fff\U0001e800-\U0001efff]"
)


def canonical(text: str, *, all_blanks: bool = False, unsafe: bool = False, open_end: bool = False) -> str:
    """Return the form that all spellings of this text share; a text that has it comes back as the same object.

    ``all_blanks`` strips blanks in fenced code and Markdown hard breaks too, ``unsafe`` composes file paths as well;
    ``open_end`` keeps blanks at the very end, where a model is to continue.
    """
    if not text.isascii():
        text = _unicode(text, unsafe=unsafe)
    if "\r" in text:
        text = _CRLF.sub("\n", text)
    if has_trailing_blanks(text):
        text = _strip_blanks(text, all_blanks=all_blanks, open_end=open_end)
    return text


def has_trailing_blanks(text: str) -> bool:
    """Return whether a blank stands before a line end or at the end of the text."""
    return " \n" in text or "\t\n" in text or text.endswith((" ", "\t"))


def edits(text: str, new: str) -> Iterator[TextEdit]:
    """Yield the edits that turn ``text`` into its canonical form ``new``, at most one for each line."""
    old_lines, new_lines = text.split("\n"), new.split("\n")
    assert len(old_lines) == len(new_lines), "the canonical form keeps every line"
    at = 0
    for old, fresh in zip(old_lines, new_lines, strict=True):
        if old != fresh:
            start, end, piece = trim(old, fresh)
            yield TextEdit(at + start, at + end, piece, name(old, fresh))
        at += len(old) + 1


def trim(old: str, new: str) -> tuple[int, int, str]:
    """Cut equal ends off a replacement: (start and end in ``old``, what goes there)."""
    limit = min(len(old), len(new))
    start = next((i for i in range(limit) if old[i] != new[i]), limit)
    tail = 0
    while tail < limit - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return start, len(old) - tail, new[start : len(new) - tail]


def name(old: str, new: str) -> str:
    """Name the rule that tells a spelling from its canonical form."""
    if _SURROGATE.search(old):
        return "unicode-normalization"
    if len(_ZERO_WIDTH.findall(old)) != len(_ZERO_WIDTH.findall(new)):
        return "bom-or-zero-width"
    if "\r" in old and "\r" not in new:
        return "newline-style"
    return "trailing-whitespace" if unicodedata.is_normalized("NFC", old) else "unicode-normalization"


def fenced(text: str) -> list[tuple[int, int]]:
    """Return the character spans between code fences, without the fence lines; an open fence runs to the end."""
    spans, start, mark = [], -1, ""
    for match in _FENCE.finditer(text):
        fence = match[1]
        if start < 0:
            start, mark = match.end(), fence
            continue
        bare = match[0].strip() == fence
        if bare and fence[0] == mark[0] and len(fence) >= len(mark):
            spans.append((start, match.start()))
            start = -1
    return [*spans, (start, len(text))] if start >= 0 else spans


def _unicode(text: str, *, unsafe: bool) -> str:
    """Bring characters into form, again until nothing changes: composition can give a joiner other neighbours."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    before = ""
    while before != text:
        before = text
        if _ZERO_WIDTH.search(text):
            text = _ZERO_WIDTH.sub(_keep_meaningful, text)
        if not unicodedata.is_normalized("NFC", text):
            text = _compose(text, keep_paths=not unsafe)
    return text


def _keep_meaningful(match: re.Match[str]) -> str:
    """Keep joiners that join something: emoji sequences, and letters of scripts whose shapes they decide."""
    char, text = match[0], match.string
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if not before.strip() or not after.strip():  # at the end of a word it joins nothing
        return ""
    if char == "\u200b":
        return char if _SPACELESS.search(before + after) else ""
    if char in "\u200c\u200d":
        if _is_joining_letter(before) or _is_joining_letter(after):
            return char
        if char == "\u200d" and _is_emoji(before) and _is_emoji(after):
            return char
    return ""


def _is_joining_letter(char: str) -> bool:
    return _JOINING_SCRIPTS.match(char) is not None and unicodedata.category(char)[0] in "LM"


def _is_emoji(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sk") or char in "\ufe0f\u2642\u2640" or ord(char) >= 0xE0020


def _compose(text: str, *, keep_paths: bool) -> str:
    kept = [m.span() for m in _PATH.finditer(text)] if keep_paths and "/" in text else []

    def composed(match: re.Match[str]) -> str:
        if any(start < match.end() and match.start() < end for start, end in kept):
            return match[0]
        return unicodedata.normalize("NFC", match[0])

    return _CLUSTER.sub(composed, text)


def _strip_blanks(text: str, *, all_blanks: bool, open_end: bool) -> str:
    fences = [] if all_blanks or ("```" not in text and "~~~" not in text) else fenced(text)

    def stripped(match: re.Match[str]) -> str:
        start, end = match.span()
        if open_end and end == len(text):
            return match[0]
        if any(a <= start < b for a, b in fences):
            return match[0]
        return "" if all_blanks or not _is_hard_break(text, start, end) else "  "

    return _BLANKS_AT_END.sub(stripped, text)


def _is_hard_break(text: str, start: int, end: int) -> bool:
    """Return whether blanks break a line in Markdown: two or more spaces, text before them and text below them."""
    if not text.startswith("  ", end - 2) or end - start < 2:
        return False
    below = text[end + 1 : text.find("\n", end + 1) if text.find("\n", end + 1) >= 0 else len(text)]
    has_text_before = start > 0 and text[start - 1] != "\n"
    return has_text_before and bool(below.strip())
