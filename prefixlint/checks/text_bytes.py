"""Find bytes that carry no meaning but are tokens: trailing blanks, mixed line ends, decomposed and invisible letters.

One file cannot show that such bytes vary, only that they are fragile: an editor, a checkout or a copy changes them
unseen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from prefixlint.checks._lazy import lazy
from prefixlint.checks._passage import Passage, shared_segments
from prefixlint.model import Confidence, Hit, Prompt, Segment

RULES = (
    "trailing-whitespace",
    "newline-style",
    "unicode-normalization",
    "bom-or-zero-width",
    "blank-run",
    "escape-style",
)
_TRAILING = lazy(r"(?<=[^ \t\r\n])[ \t]+(?=\r?\n|\Z)")
_BLANK_RUN = lazy(r"(?<=\n)(?:[ \t]*\r?\n){4,}")
_LONE_SURROGATE = lazy(r"[\ud800-\udfff]")
_ESCAPE = lazy(r"(?<!\\)\\u(?:00[a-f][0-9a-f]|0[1-9a-f][0-9a-f]{2}|[1-9a-cef][0-9a-f]{3}|d[0-7][0-9a-f]{2})", re.I)
# Zero-width and format characters: BOM, zero-width space, word joiner and its invisible kin, combining grapheme joiner,
# Mongolian vowel separator, soft hyphen, joiners, Hangul fillers, bidi marks, tags (Unicode 16, general category Cf).
_INVISIBLE = lazy(
    "[\ufeff\u200b\u2060-\u2064\u034f\u180e\u00ad\u200c\u200d\u115f\u1160\u3164\uffa0\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\U000e0020-\U000e007f]"
)
_BIDI = lazy("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = lazy("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
# Scripts whose spelling needs joiners: Arabic to Thaana, Indic, Khmer, Mongolian, Tibetan, Balinese.
_JOINING = lazy(
    "[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefe\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u18af\u1b00-\u1b7f\ua840-\ua9ff]"
)
_WORDLESS = lazy("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u0f00-\u0fff]")  # Thai ... Tibetan: ZWSP separates words
_PICTURE = lazy("[\u203c-\u3299\ufe0f\u20e3\U0001f000-\U0001faff]")
_MAX_HITS = 20  # of one rule in one text


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield the fragile bytes of the texts that a developer wrote."""
    for segment in shared_segments(prompt):
        yield from _lines(segment, is_file=prompt.kind != "body")
        if not segment.text.isascii():
            yield from _beyond_ascii(segment)


def _lines(segment: Segment, *, is_file: bool) -> Iterator[Hit]:
    text = segment.text
    if is_file and (" \n" in text or "\t\n" in text or " \r" in text or text.endswith((" ", "\t"))):
        yield from _trailing(segment)
    if "\r" in text:
        yield from _newlines(segment)
    if "\n\n\n\n" in text and (found := _BLANK_RUN.search(text)):
        yield Hit("blank-run", segment.pointer, *found.span(), confidence="low")
    if "\\u" in text and (found := _ESCAPE.search(text)):
        yield Hit("escape-style", segment.pointer, *found.span(), confidence="low")


def _trailing(segment: Segment) -> Iterator[Hit]:
    """Yield the first line with trailing blanks; values say how many there are. Hard breaks and code do not count."""
    text, passage = segment.text, Passage(segment.text)
    found = [m for m in _TRAILING.finditer(text) if not _is_markup(text, m) and not passage.is_fenced(m.start())]
    if found:
        values = (found[0][0], str(len(found)))
        confidence: Confidence = "low" if segment.part == "tools" else "medium"
        yield Hit("trailing-whitespace", segment.pointer, *found[0].span(), values, confidence=confidence)


def _is_markup(text: str, blanks: re.Match[str]) -> bool:
    """Say whether blanks are Markdown's line break (two of them), or stand behind a mark alone (``> ``, ``- ``)."""
    if blanks[0] == "  " and blanks.end() < len(text.rstrip()):
        return True
    line = text[text.rfind("\n", max(0, blanks.start() - 8), blanks.start()) + 1 : blanks.start()]
    return line.strip(" \t>-*+#|") == ""


def _newlines(segment: Segment) -> Iterator[Hit]:
    """Yield the first line end of the rarer kind in a text that has both."""
    text = segment.text
    windows, returns = text.count("\r\n"), text.count("\r")
    unix = text.count("\n") - windows
    lone = returns - windows
    confidence: Confidence = "medium"
    if windows and unix:
        rare = re.compile(r"\r\n" if windows <= unix else r"(?<!\r)\n")
        values = (f"{windows} CRLF and {unix} LF", str(min(windows, unix)))
    elif lone and (windows or unix):
        rare, values, confidence = re.compile(r"\r(?!\n)"), (f"{lone} lone CR", str(lone)), "low"
    else:
        return
    if found := rare.search(text):
        yield Hit("newline-style", segment.pointer, *found.span(), values, confidence=confidence)


def _beyond_ascii(segment: Segment) -> Iterator[Hit]:
    text = segment.text
    for surrogate in _LONE_SURROGATE.finditer(text):
        yield Hit("unicode-normalization", segment.pointer, *surrogate.span(), confidence="high", severity="error")
        return  # what is broken has no normal form
    if not unicodedata.is_normalized("NFC", text):
        yield from _decomposed(segment)
    found = (m for m in _INVISIBLE.finditer(text) if not _is_needed(text, m.start()))
    for _, mark in zip(range(_MAX_HITS), found, strict=False):
        named = unicodedata.name(mark[0], f"U+{ord(mark[0]):04X}").lower()
        sure = "high" if mark[0] == "\ufeff" and mark.start() == 0 else "medium"
        yield Hit("bom-or-zero-width", segment.pointer, *mark.span(), (mark[0], named), confidence=sure)  # type: ignore[arg-type]


def _decomposed(segment: Segment) -> Iterator[Hit]:
    """Yield the first letter that is written as base and mark although one character exists; others are only low."""
    text, singleton = segment.text, None
    for at in range(1, len(text)):
        if text[at].isascii():
            continue
        pair = text[at - 1 : at + 1]
        composed = unicodedata.normalize("NFC", pair)
        if len(composed) == 1:
            yield Hit("unicode-normalization", segment.pointer, at - 1, at + 1, (pair, composed), confidence="medium")
            return
        if singleton is None and unicodedata.normalize("NFC", text[at]) != text[at]:
            singleton = at
    if singleton is not None:
        yield Hit("unicode-normalization", segment.pointer, singleton, singleton + 1, confidence="low")


def _is_needed(text: str, at: int) -> bool:
    """Say whether an invisible character is part of the spelling: joiners in emoji and joining scripts, bidi marks."""
    mark, around = text[at], text[max(0, at - 2) : at] + text[at + 1 : at + 3]
    if mark in "\u200c\u200d":
        return bool(_JOINING.search(around)) or (mark == "\u200d" and bool(_PICTURE.search(around)))
    if mark == "\u200b":
        return bool(_WORDLESS.search(around))
    if _BIDI.match(mark):
        return bool(_RIGHT_TO_LEFT.search(text))
    if "\U000e0020" <= mark <= "\U000e007f":  # regional flags are a black flag followed by tags
        return "\U0001f3f4" in text[max(0, at - 8) : at]
    if mark == "\u180e":
        return bool(re.search("[\u1800-\u18af]", around))
    if mark in "\u115f\u1160":
        return bool(re.search("[\u1100-\u11ff]", around))
    return False
