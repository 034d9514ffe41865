"""Find volatile values that stand in the text itself: a label such as "current time" followed by a value of that shape.

A shape alone proves nothing (a policy date, a pinned commit and an example id look the same), so the label decides.
The labels are those of the rule cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

from prefixlint import cards
from prefixlint.checks._lazy import lazy
from prefixlint.checks._passage import Passage, shared_segments
from prefixlint.checks._words import any_of, lowered
from prefixlint.model import Confidence, Hit, Prompt, Segment

RULES = (
    "timestamp", "date", "epoch", "relative-time-phrase", "uuid", "random-id", "git-status", "temp-path", "commit-hash",
)  # fmt: skip
# What may follow a label of the rule: first the value that is wanted most.
VALUES = {
    "timestamp": ("timestamp", "epoch"),
    "date": ("timestamp", "date"),
    "epoch": ("epoch",),
    "relative-time-phrase": ("relative-time-phrase",),
    "uuid": ("uuid",),
    "random-id": ("uuid", "random-id"),
    "git-status": ("git-status",),
    "temp-path": ("temp-path",),
    "commit-hash": (),
}
MIN_TEXT_CHARS = 60
MAX_WORDY_CHARS = 200_000
MAX_LINE_CHARS = 2000  # a longer line is searched around its digits only
_CANDIDATE = lazy(r"[0-9]")
_WORDY = ("branch", "today is")  # labels whose values need no digit
_LINK = lazy(
    r"[\"'`*_)\]]{0,3}(?: ?\([^()\n]{0,40}\))?(?: (?:and|&) (?:current )?(?:time|date))?"
    r"(?: (?:in|for|and) [A-Z][\w/ ]{0,24}?)?"
    r"[\"'`*_]{0,3}"
    r"(?P<link> ?(?:[:=：>]|->|→|⇒|–|-(?= )|は|是|为|為|은|는)| (?:is|was|are|ist|est|es|é|è|il|la)\b)?[*_\"'`]{0,3}"
    r"(?: (?:now|currently|still|today)\b:?)?[ \t]{0,3}[\"'`*_<\[(]{0,3}(?:it is |it's |the )?"
)
_DIRECT = lazy(r"(?:\b(?:at|on|of|is|le|now|ist|es)|[^\x00-\x7f])$")  # such labels need no colon behind them
_EPOCH = lazy(r"1[6-9]\d{8}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?\b")
_BRANCH = lazy(r"[A-Za-z0-9][\w./@-]{0,98}\w")
_FIRST_LINE = lazy(r"\s*(?:<!-- *|[#/*;> \[(-]{0,6})")
_MAYBE_CLOCK = lazy(r"[^\n]{0,40}[0-9] ?[:：時时点點시T]")
_LINE_END = lazy(r"[\])*> .-]{0,6}\s*(?:\n|\Z)")
_WORD = lazy(r"[a-z]+")
_BEFORE = lazy(r"([A-Za-z]+)[ \t]+\Z")
QUALIFIERS = ("current", "this", "your", "the", "utc", "local", "server", "system", "my", "our", "active", "new", "is")
VAGUE = ("time", "clock", "timestamp", "ts", "created at", "created_at", "updated at", "updated_at", "updated", "as of")
_ID = lazy(r"[A-Za-z0-9][A-Za-z0-9_.:+/=-]{2,127}")
_MADE_UP = lazy(
    r"1234|2345|4567|abc|xyz|xxx|0000|1111|9999|deadbeef|cafebabe|example|sample|test|demo|dummy|foo|bar|your|a1b2|1a2b"
    r"|550e8400-e29b|6ba7b81|f47ac10b-58cc|def456|fake|uuid",
    re.IGNORECASE,
)


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield the volatile values under a label, in the texts that requests are meant to share."""
    for segment in shared_segments(prompt):
        yield from _check(segment)


def _check(segment: Segment) -> Iterator[Hit]:
    text, passage = segment.text, Passage(segment.text)
    for label in _labels(text):
        hit = _valued(text, label, segment.pointer)
        if hit is not None and not passage.is_silent(hit.start_char):
            yield _weighed(hit, passage)
    yield from _bare_clock(segment, passage)


def _labels(text: str) -> Iterator[re.Match[str]]:
    """Yield the labels on lines that hold a digit, or a word whose value needs none; they match in lower case."""
    low, at = lowered(text), 0
    if any(word in low for word in _WORDY) and len(low) < MAX_WORDY_CHARS:
        yield from _label_regex().finditer(low)
        return
    while found := _CANDIDATE.search(low, at):
        start = max(at, low.rfind("\n", 0, found.start()) + 1, found.start() - MAX_LINE_CHARS)
        at = low.find("\n", found.end())
        at = min(at if at >= 0 else len(low), found.end() + MAX_LINE_CHARS)
        yield from _label_regex().finditer(low, start, at)


def _valued(text: str, label: re.Match[str], pointer: str) -> Hit | None:
    """Return the value that follows a label, or None."""
    name = label[0]
    link = _LINK.match(text, label.end())
    assert link is not None  # every part of it may be empty
    if (not link["link"] and not _DIRECT.search(name)) or _is_qualified(text, label):
        return None
    for rule in _known()[_folded(name)]:
        for wanted in VALUES[rule]:
            hit = _value(wanted, text, link.end(), pointer, name)
            if hit is not None:
                return replace(hit, confidence="low") if _is_vague(text, label, hit) else hit
    return None


def _is_qualified(text: str, label: re.Match[str]) -> bool:
    """Say whether a word in front makes a one-word label mean something else: "opening time", "training session"."""
    if not _WORD.fullmatch(label[0]):
        return False
    before = _BEFORE.search(text, max(0, label.start() - 24), label.start())
    return before is not None and before[1].lower() not in QUALIFIERS


def _is_vague(text: str, label: re.Match[str], hit: Hit) -> bool:
    """Say whether a label is too common to be believed: a key of some JSON sample, or "time" of an opening hour."""
    if label[0] not in VAGUE or hit.rule not in ("timestamp", "epoch"):
        return False
    around = text[label.start() - 1 : label.start()] + text[label.end() : label.end() + 1]
    value = text[hit.start_char : hit.end_char]
    return around in ('""', "''") or (len(value) < 9 and value.count(":") < 2)


def _value(rule: str, text: str, at: int, pointer: str, label: str) -> Hit | None:
    if rule == "random-id":
        found = _ID.match(text, at)
        value = found[0].rstrip(".:") if found else ""
        return Hit(rule, pointer, at, at + len(value)) if is_random(value, short=_names_id(label)) else None
    if rule in ("git-status", "temp-path"):
        return _after_label(rule, text, at, pointer)
    from prefixlint import shapes  # here, since most texts hold no label and need no shapes

    ends = [(m.end(), p.confidence) for p in shapes.patterns(rule) if (m := p.regex.match(text, at))]
    if rule in ("timestamp", "date", "uuid", "relative-time-phrase") and ends:
        end, sure = max(ends)
        if rule != "uuid" or not _MADE_UP.search(text, at, end):
            is_past = label.startswith(("last", "updated", "created", "cached"))
            return Hit(rule, pointer, at, end, confidence="high" if sure == "high" and not is_past else "medium")
    return _epoch(text, at, pointer) if rule == "epoch" else None


def _epoch(text: str, at: int, pointer: str) -> Hit | None:
    found = _EPOCH.match(text, at)
    return Hit("epoch", pointer, *found.span(), confidence="medium") if found else None


def _after_label(rule: str, text: str, at: int, pointer: str) -> Hit | None:
    if rule == "git-status":
        found = _BRANCH.match(text, at)
        return Hit(rule, pointer, *found.span(), confidence="medium") if found else None
    from prefixlint import shapes

    for shape in shapes.find(text, at, min(len(text), at + 300)):
        leaf = text[at : shape.end_char].rstrip("/").rpartition("/")[2]
        if shape.start_char == at and shape.rule == rule and is_random(leaf, short=True):
            return Hit(rule, pointer, at, shape.end_char, confidence="medium")
    return None


def is_random(value: str, *, short: bool = False) -> bool:
    """Say whether a value looks made by a machine: digits and letters in turn, or a long number; not an example.

    >>> is_random("9f2c41d07be3"), is_random("python311"), is_random("abc123def456")
    (True, False, False)
    """
    if _MADE_UP.search(value) or not any(c.isdigit() for c in value):
        return False
    part = max(re.split(r"[_\-.:/=+]", value), key=len)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(part))
    if part.isdigit():
        return len(part) >= 9
    return changes >= 2 and len(part) >= (4 if short else 8)


def _names_id(label: str) -> bool:
    return label.endswith((" id", "id", "nonce", "checksum", "salt", "buster"))


def _weighed(hit: Hit, passage: Passage) -> Hit:
    """Lower the confidence in code and examples."""
    confidence: Confidence = hit.confidence or "medium"
    if passage.is_code(hit.start_char) or passage.is_example(hit.start_char):
        confidence = "low"
    return Hit(hit.rule, hit.pointer, hit.start_char, hit.end_char, confidence=confidence)


def _bare_clock(segment: Segment, passage: Passage) -> Iterator[Hit]:
    """Yield a first or last line that is nothing but a date with a time."""
    text = segment.text
    if len(text) < MIN_TEXT_CHARS:
        return  # a value on its own, not a prompt that begins with one
    first = _FIRST_LINE.match(text)
    last = text.rstrip().rfind("\n") + 1
    for start in {first.end() if first else 0} | ({last} if last else set()):
        if _MAYBE_CLOCK.match(text, start) and (found := _clock_line(text, start)) and not passage.is_code(start):
            yield Hit("timestamp", segment.pointer, *found, confidence="medium")


def _clock_line(text: str, start: int) -> tuple[int, int] | None:
    """Return the bounds of a date with a time that fills the rest of the line."""
    from prefixlint import shapes

    for pattern in shapes.patterns("timestamp"):
        found = pattern.regex.match(text, start) if pattern.confidence == "high" else None
        if found and _LINE_END.match(text, found.end()):
            return found.start(), found.end()
    return None


@cache
def _known() -> dict[str, tuple[str, ...]]:
    """Map every label to the rules that claim it."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        for label in cards.rule(rule).labels if VALUES[rule] else ():
            found.setdefault(_folded(label), []).append(rule)
    return {label: tuple(rules) for label, rules in found.items()}


def _folded(label: str) -> str:
    return re.sub(r"[ _-]", "", label.replace("’", "'"))


@cache
def _label_regex() -> re.Pattern[str]:
    """Join the labels; a blank in them also stands for ``_``, ``-`` or nothing. For text in lower case."""
    labels = {label for rule in RULES if VALUES[rule] for label in cards.rule(rule).labels}
    spelled = {" ": "[ _-]?", "'": "['’]"}
    latin = any_of((x for x in labels if x.isascii()), spelled)
    others = any_of((x for x in labels if not x.isascii()), spelled)
    return re.compile(rf"(?<![a-z0-9_])(?:{latin})(?![a-z0-9])|(?:{others})")
