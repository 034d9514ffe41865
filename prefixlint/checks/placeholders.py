"""Judge the places that a template fills in: volatile values, and per-request text in front of the shared text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from prefixlint import cards
from prefixlint.checks._lazy import lazy
from prefixlint.checks._passage import Passage, shared_segments
from prefixlint.checks._slots import Slot, slots
from prefixlint.checks.chat_template import is_chat_template
from prefixlint.model import Confidence, Hit, Prompt, Segment, Severity

RULES = ("dynamic-before-static", "unrendered-placeholder")
# Rules about values that stay the same within a session: they only matter in front of text that others share.
SHARED_ONLY = ("user-or-host", "cwd-or-env", "git-status", "temp-path", "commit-hash")
SHARED_CHARS = 200  # about 50 tokens: less than that behind a variable is not worth a word
BULK_CHARS = 1000  # about 250 tokens of static text
# Objects whose members are the variables of a request; of other objects a member may be anything (page.date).
ROOTS = frozenset(
    "sys user request req input inputs state ctx context vars variables values args params data env session".split()
)
_WORDS_BEFORE = 48  # a label stands this near to its placeholder
_EXPLAINED = lazy(r"[`'\"]?[ \t]*(?:=>|->|→|[-–—:|=](?=[ \t]))[ \t]*[^\s{$<]")
_IN_PATH = lazy(r"[\w/=&?.@#%-]$")


class Place:
    """Answer questions about the surroundings of a slot."""

    def __init__(self, slot: Slot, segment: Segment, passage: Passage, behind_chars: int) -> None:
        self.slot, self.segment, self.passage = slot, segment, passage
        self.static_behind = len(segment.text) - slot.end_char + behind_chars
        start, _ = passage.line(slot.start_char)
        self.before = segment.text[max(start, slot.start_char - _WORDS_BEFORE) : slot.start_char]

    @property
    def is_labelled(self) -> bool:
        """Say whether words in front of the slot announce a volatile value."""
        return not self.is_glued and bool(_label_regex().search(self.before.lower()))

    @property
    def is_in_block(self) -> bool:
        """Say whether the slot stands in a block of code; a label counts for one in backticks, not for this."""
        return self.passage.is_code_block(self.slot.start_char)

    @property
    def is_code(self) -> bool:
        """Say whether the slot stands in code of any kind."""
        return self.passage.is_code(self.slot.start_char)

    @property
    def is_example(self) -> bool:
        """Say whether the slot is part of an example."""
        return self.passage.is_example(self.slot.start_char)

    @property
    def is_defined(self) -> bool:
        """Say whether the slot begins a line that explains it: ``{{now}} => the time``, ``- {date}: today``."""
        head = self.before.strip(" \t-*|`'\"")
        return not head and _EXPLAINED.match(self.segment.text, self.slot.end_char) is not None

    @property
    def is_glued(self) -> bool:
        """Say whether the slot is part of a word, a path or a URL: ``/users/{id}``, ``report-{date}.pdf``."""
        is_value = self.before.rstrip().endswith(("=", '="'))
        return self.before.endswith("://") or (bool(_IN_PATH.search(self.before)) and not is_value)


def check_prompt(prompt: Prompt) -> Iterator[Hit]:
    """Yield what the templates among the shared texts of a prompt fill in too early."""
    segments = shared_segments(prompt)
    behind = sum(len(s.text) for s in segments)
    for segment in segments:
        behind -= len(segment.text)
        if "{" in segment.text or "$(" in segment.text or "%" in segment.text or "!`" in segment.text:
            yield from _check(prompt, segment, behind)


def _check(prompt: Prompt, segment: Segment, behind: int) -> Iterator[Hit]:
    if is_chat_template(prompt, segment.text):
        return  # chat_template.py judges those: their variables are the request itself
    passage = Passage(segment.text)
    found: list[Slot] = [s for s in slots(segment.text, passage, segment.syntax) if not _is_chat_call(s)]
    if prompt.kind == "body":
        yield from filter(None, (_unrendered(Place(s, segment, passage, behind)) for s in found))
        return
    flagged = [_volatile(Place(s, segment, passage, behind)) for s in found if s.rule]
    yield from flagged
    if not any(h.confidence != "low" for h in flagged):
        yield from _too_early(found, segment, passage, behind)


def _is_chat_call(slot: Slot) -> bool:
    return "strftime_now" in slot.expression


def _volatile(place: Place) -> Hit:
    """Return the hit for a placeholder with a volatile name, its confidence by name, label and surroundings."""
    slot = place.slot
    severity: Severity | None = "info" if slot.is_day else None
    return Hit(
        slot.rule,
        place.segment.pointer,
        slot.start_char,
        slot.end_char,
        confidence=_confidence(place),
        severity=severity,
    )


def _confidence(place: Place) -> Confidence:
    slot = place.slot
    if place.is_example or place.is_in_block or place.is_defined or (place.is_code and not place.is_labelled):
        return "low"
    if slot.rule in SHARED_ONLY and place.static_behind < SHARED_CHARS:
        return "low"
    if place.is_labelled:
        return "high" if slot.is_sure else "medium"
    if not slot.is_sure or place.is_glued or slot.is_day:
        return "low"
    return "medium"


def _unrendered(place: Place) -> Hit | None:
    """Return the hit for a placeholder that a rendered request still holds."""
    slot = place.slot
    if slot.syntax in ("shell", "command", "percent", "erb", "tag") or place.is_code or place.is_example:
        return None
    is_plain = re.fullmatch(r"[A-Za-z_][\w.]*", slot.expression) is not None
    sure = is_plain and (slot.syntax == "double" or place.is_labelled) and not place.is_glued
    confidence: Confidence = "medium" if sure or (slot.is_sure and is_plain) else "low"
    return Hit("unrendered-placeholder", place.segment.pointer, slot.start_char, slot.end_char, confidence=confidence)


def _too_early(found: list[Slot], segment: Segment, passage: Passage, behind: int) -> Iterator[Hit]:
    """Yield the first per-request variable if the bulk of the static text stands behind it."""
    for slot in filter(_is_of_request, found):
        if passage.is_code(slot.start_char) or passage.is_example(slot.start_char):
            continue
        static = _static_chars(found, segment.text, slot.end_char) + behind
        if static >= BULK_CHARS and static >= _static_chars(found, segment.text, 0, slot.start_char):
            values = (slot.expression, str(static))
            place = (segment.pointer, slot.start_char, slot.end_char)
            yield Hit("dynamic-before-static", *place, values, confidence="medium")
        return


def _is_of_request(slot: Slot) -> bool:
    root, _, name = slot.name.rpartition(".")
    return name in _request_names() and (not root or root in ROOTS)


def _static_chars(found: list[Slot], text: str, start: int, end: int | None = None) -> int:
    end = len(text) if end is None else end
    return end - start - sum(s.end_char - s.start_char for s in found if start <= s.start_char and s.end_char <= end)


@cache
def _request_names() -> frozenset[str]:
    return frozenset(cards.rule_names("dynamic-before-static")[0])


@cache
def _label_regex() -> re.Pattern[str]:
    """Match words that announce a volatile value right before a placeholder."""
    return re.compile(
        r"(?:\b(?:(?:current|today'?s?|local|server|system|utc|present) ?"
        r"(?:date|time|day|year|month|clock|datetime|timestamp)"
        r"|date|time|day|today|now|timestamp|clock|as of"
        r"|(?:generated|created|updated|rendered|started|synced) (?:at|on)"
        r"|(?:session|request|trace|run|conversation|message|thread|chat|user|task|job|correlation|span|batch) ?(?:id)?"
        r"|nonce|uuid|id|iteration|turn|step|attempt|round|budget|remaining|left|branch|commit|revision|(?:git )?status"
        r"|working dir(?:ectory)?|cwd|directory|workspace|folder|path|files|platform|os|shell|(?:user(?:'s)? )?name"
        r"|username|user|host(?:name)?|device|room|area|location|time ?zone|e-?mail|talking to|speaking (?:to|with)"
        r"|heute|datum|uhrzeit|fecha|hora|hoy|date du jour|aujourd'hui|heure|hoje|oggi|data|ora|сегодня|дата|время)\b"
        r"|日期|时间|今天|現在|今日|日時|時刻|오늘|현재|시간)"
        r"[^\w\n{}]{0,6}(?:(?:and time|is|was|are|ist|est|es|é|è|は|是|now|the|it is|currently)[^\w\n{}]{0,4}){0,3}$"
    )
