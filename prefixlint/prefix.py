"""Compare prefixes: common length, safe token boundaries, and a chain for texts that grow from request to request.

A position ``b`` of a text is a *safe boundary* when tokenizing the two parts gives the tokens of the whole:
``encode(t) == encode(t[:b]) + encode(t[b:])``. Two neighbours ``x = t[b-1]`` and ``y = t[b]`` are enough to know one,
so both must lie inside the part of a text that is known::

    common prefix of two texts   "... the sum is 12|34"      fork at |, 18 characters before it agree
    last safe boundary before it "... the sum is| 12"        "s" and " " agree in both texts
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cache
from typing import AnyStr, Protocol

FIRST_BLOCK, LAST_BLOCK = 256, 65_536
CHECKPOINT_CHARS = 2_048


def lcp(left: AnyStr, right: AnyStr, start: int = 0) -> int:
    """Return the length of the common prefix; ``start`` characters (or bytes) are known to agree.

    Blocks are compared by memcmp and grow from 256 to 65,536, the last one is bisected: about 9 GB/s on bytes.
    """
    end, at, block = min(len(left), len(right)), start, FIRST_BLOCK
    while at < end and left[at : at + block] == right[at : at + block]:
        at += block
        block = min(LAST_BLOCK, block * 4)
    return _bisect(left, right, at, min(end, at + block)) if at < end else end


def _bisect(left: AnyStr, right: AnyStr, low: int, high: int) -> int:
    """Find the first difference in ``[low, high)``; the texts agree before ``low``."""
    start = low
    while low < high:
        middle = (low + high + 1) // 2
        if left[start:middle] == right[start:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Boundaries(Protocol):
    """Find safe boundaries; ``skip`` characters are left out at the start of every part but the first."""

    @property
    def skip(self) -> int:
        """Return 1 where the tokenizer itself puts a space before each text, else 0."""

    def last(self, text: str, known: int) -> int:
        """Return the largest safe ``b < known``, 0 if there is none."""

    def next(self, text: str, start: int) -> int:
        """Return the smallest safe ``b > start``, ``len(text)`` if there is none."""

    def anchor(self, text: str, start: int) -> int:
        """Return a safe boundary at or behind ``start`` that depends on the text near it only."""


@dataclass(frozen=True, slots=True)
class NoBoundaries:
    """Stand for a tokenizer about which nothing is known: a text is always tokenized whole."""

    skip: int = 0

    def last(self, text: str, known: int) -> int:
        """Return 0."""
        return 0

    def next(self, text: str, start: int) -> int:
        """Return the end of the text."""
        return len(text)

    def anchor(self, text: str, start: int) -> int:
        """Return the end of the text."""
        return len(text)


# Classes are written out: `\s` of Python's re holds U+001C..1F, which is no white space to the tokenizers.
_BLANK = "[ \\t\\v\\f]"
_LETTER, _DIGIT = "[A-Za-z]", "[0-9]"
_OTHER = "\\x00-\\x08\\x0e-\\x1f!-/:-@\\[-`{-\\x7f"  # ASCII that is neither letter, digit nor white space
# Letters of scripts that seldom hold ASCII pairs: assigned, no marks, and nothing in front of them composes with them.
_SCRIPT = "\\u4e00-\\u9fa5\\u3041-\\u3096\\u30a1-\\u30fa\\uac00-\\ud7a3\\u0410-\\u044f\\u05d0-\\u05ea\\u0e01-\\u0e2e"
_RULES = {
    "R1": f"[A-Za-z0-9{_OTHER}](?={_BLANK})",
    "R2": "[A-Za-z0-9](?=[\\r\\n])",
    "R3": f"[0-9](?=[A-Za-z{_OTHER} \\t\\v\\f\\r\\n])",
    "R4": f"[A-Za-z](?=[0-9{_OTHER.replace('!-/', '!-&(-/')} \\t\\v\\f\\r\\n])",
    "R5": f"[\\r\\n](?=[A-Za-z0-9{_SCRIPT}{_OTHER.replace('!-/', '!-.')}])",
}
ALL_RULES = ("R1", "R2", "R3", "R4", "R5")
GPT2_RULES = ("R1", "R2", "R3", "R4")

# Anchors are rare on purpose (every few hundred characters), so that the cuts of an edited text meet the old ones
# again soon behind the edit. Each is a case of one of the rules: R5 or R2 at a line, else R3 or R4 at a word.
_LINE_START = re.compile("\n(?=[BCDGHMPRWbcdfghmpw0257\u4e00-\u62ff\u3041-\u3060\uac00-\ub3ff\u0410-\u041f])")
_LINE_END = re.compile("[bcdfghkmpsvwyz013679](?=\n)")  # for GPT-2, which may not be cut behind a newline
_WORD = re.compile('[a-z0-9](?=[ "\\\\<,}][bcdghmpwBCDGHMPRW])')
ANCHOR_REACH = 4_096


@cache
def _expression(rules: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the rules for a search backwards and forwards."""
    either = "|".join(_RULES[name] for name in rules)
    return re.compile(f"(?s:.*)(?:{either})"), re.compile(either)


@dataclass(frozen=True, slots=True)
class PairRules:
    """Know safe boundaries of byte-level BPE from two ASCII neighbours.

    With ``x`` before and ``y`` behind the boundary:

    ====  =================  ==================================================
    rule  x                  y
    ====  =================  ==================================================
    R1    not white space    space, tab, vertical tab, form feed
    R2    letter, digit      carriage return, newline
    R3    digit              not a digit
    R4    letter             not a letter, not an apostrophe
    R5    newline, return    not white space, not a slash (also letters of some other scripts); not for GPT-2
    ====  =================  ==================================================

    They hold for pre-tokenizers that match from left to right without look-behind and whose alternatives continue a
    letter by letters, marks or a contraction, a digit by digits, a newline by white space or a slash. ``refused``
    are pairs inside (or touching) an added token, which would be torn.
    """

    rules: tuple[str, ...] = ALL_RULES
    refused: Set[str] = field(default_factory=frozenset)
    skip: int = 0

    def last(self, text: str, known: int) -> int:
        """Return the largest safe ``b < known``, 0 if there is none."""
        backwards = _expression(self.rules)[0]
        high, reach = known, 64
        while high > 1:
            low = max(0, known - reach)
            found = backwards.match(text, low, high)
            if found and not self._refuses(text, found.end()):
                return found.end()
            high = found.end() if found else low + 1
            reach = reach if found else reach * 4
        return 0

    def next(self, text: str, start: int) -> int:
        """Return the smallest safe ``b > start``, ``len(text)`` if there is none."""
        return self._search(_expression(self.rules)[1], text, start, len(text))

    def _search(self, pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
        for found in pattern.finditer(text, start, end):
            if not self._refuses(text, found.end()):
                return found.end()
        return len(text)

    def anchor(self, text: str, start: int) -> int:
        """Return a safe boundary at or behind ``start`` that depends on the text near it only."""
        for pattern in (_LINE_START if "R5" in self.rules else _LINE_END, _WORD):
            found = self._search(pattern, text, start, start + ANCHOR_REACH)
            if found < len(text):
                return found
        return self.next(text, start) if start < len(text) else len(text)

    def _refuses(self, text: str, at: int) -> bool:
        return bool(self.refused) and text[at - 1 : at + 1] in self.refused


@dataclass(frozen=True, slots=True)
class PieceTable:
    """Know safe boundaries of a vocabulary that is applied without a pre-tokenizer (SentencePiece BPE).

    A pair of characters that stands inside no piece is never crossed by a merge. ``pairs`` holds the pairs that do,
    with the space written as ``▁``, and ``alphabet`` the characters with a piece of their own: others may be fused.
    A tokenizer that puts a space before every text is cut ``before_space`` only; with ``skip`` it does so even where
    there is one, and the right part drops it again. ``not_next`` are then characters that must not follow it, because
    an added token there would take the place of the text that gets the space.
    """

    pairs: Set[str]
    alphabet: Set[str]
    before_space: bool = False
    skip: int = 0
    not_next: Set[str] = field(default_factory=frozenset)

    def _is_safe(self, text: str, at: int) -> bool:
        left, right = text[at - 1 : at].replace(" ", "▁"), text[at : at + 1].replace(" ", "▁")
        if not right or left + right in self.pairs or not {left, right} <= self.alphabet:
            return False
        if not self.before_space:
            return True
        following = text[at + 1 : at + 2]
        return right == "▁" != left and (not self.skip or bool(following and following not in self.not_next))

    def last(self, text: str, known: int) -> int:
        """Return the largest safe ``b < known``, 0 if there is none."""
        high = known - 1 - self.skip
        return next((b for b in range(high, 0, -1) if self._is_safe(text, b)), 0)

    def next(self, text: str, start: int) -> int:
        """Return the smallest safe ``b > start``, ``len(text)`` if there is none."""
        return next((b for b in range(start + 1, len(text)) if self._is_safe(text, b)), len(text))

    def anchor(self, text: str, start: int) -> int:
        """Return a safe boundary at or behind ``start`` that depends on the text near it only."""
        for found in _SPACE.finditer(text, start, start + ANCHOR_REACH):
            if self._is_safe(text, found.start()):
                return found.start()
        return self.next(text, start) if start < len(text) else len(text)


_SPACE = re.compile(" (?=[bcdghmpwBCDGHMPRW])")


@dataclass(frozen=True, slots=True)
class WordStarts:
    """Know safe boundaries of tokenizers that split at spaces and encode each word alone (Metaspace)."""

    refused: Set[str] = field(default_factory=frozenset)
    skip: int = 0

    def last(self, text: str, known: int) -> int:
        """Return the largest safe ``b < known``, 0 if there is none."""
        at = text.rfind(" ", 0, known)
        while at > 0 and not self._is_safe(text, at):
            at = text.rfind(" ", 0, at)
        return max(at, 0)

    def next(self, text: str, start: int) -> int:
        """Return the smallest safe ``b > start``, ``len(text)`` if there is none."""
        at = text.find(" ", start + 1)
        while at >= 0 and not self._is_safe(text, at):
            at = text.find(" ", at + 1)
        return at if at >= 0 else len(text)

    def _is_safe(self, text: str, at: int) -> bool:
        return "!" <= text[at - 1] <= "~" and text[at - 1 : at + 1] not in self.refused

    def anchor(self, text: str, start: int) -> int:
        """Return a safe boundary at or behind ``start`` that depends on the text near it only."""
        for found in _SPACE.finditer(text, max(start, 1), start + ANCHOR_REACH):
            if self._is_safe(text, found.start()):
                return found.start()
        return self.next(text, start) if start < len(text) else len(text)


@dataclass(frozen=True, slots=True)
class Step:
    """Say what one text of a chain is: its tokens, and how much of the text before it holds still."""

    tokens: int
    shared_chars: int
    shared_tokens: int


class Chain:
    """Count the tokens of a text that grows from request to request, tokenizing only what is new.

    It keeps the last text and checkpoints ``(safe boundary, tokens before it)``: one about every 2,048 characters and
    one at the last boundary, so that the next request starts a few characters before the new part. ``count`` may
    remember what it counted: the checkpoints lie at anchors, so that text behind an edit is cut as before.
    """

    def __init__(
        self,
        encode: Callable[[str], list[int]],
        boundaries: Boundaries,
        *,
        count: Callable[[str], int] | None = None,
        checkpoint_chars: int = CHECKPOINT_CHARS,
    ) -> None:
        self._count_part = count or (lambda text: len(encode(text)))
        self._encode, self._boundaries, self._checkpoint_chars = encode, boundaries, checkpoint_chars
        self._text, self._tokens = "", 0
        self._offsets, self._counts = [0], [0]

    def feed(self, text: str) -> Step:
        """Take the next text and compare it with the one before."""
        before, tokens_before = self._text, self._tokens
        shared = lcp(before, text)
        safe = self._boundaries.last(text, shared)
        keep = bisect.bisect_right(self._offsets, safe)
        del self._offsets[keep:], self._counts[keep:]
        start, count = self._offsets[-1], self._counts[-1]
        self._text, self._tokens = text, self._advance(text)
        if shared == len(before) == len(text):
            return Step(self._tokens, shared, tokens_before)
        return Step(self._tokens, shared, self._fork(before, text, start, count, shared))

    def _count(self, text: str, start: int, end: int) -> int:
        return self._count_part(text[start + (self._boundaries.skip if start else 0) : end])

    def _advance(self, text: str) -> int:
        """Set checkpoints from the last one kept to the end and return the tokens of the whole."""
        start, count = self._offsets[-1], self._counts[-1]
        stops = iter(self._stops(text, start))
        for stop in stops:
            count += self._count(text, start, stop)
            self._offsets.append(stop)
            self._counts.append(count)
            start = stop
        return count + self._count(text, start, len(text))

    def _stops(self, text: str, start: int) -> list[int]:
        found = []
        while len(text) - start > 2 * self._checkpoint_chars:
            start = self._boundaries.anchor(text, start + self._checkpoint_chars)
            if start >= len(text):
                break
            found.append(start)
        last = self._boundaries.last(text, len(text))
        return [*found, last] if last > (found[-1] if found else self._offsets[-1]) else found

    def _fork(self, before: str, after: str, start: int, count: int, shared: int) -> int:
        return count + first_difference(self._encode, self._boundaries, before, after, start, shared)


def first_difference(
    encode: Callable[[str], list[int]], boundaries: Boundaries, left: str, right: str, start: int, shared: int
) -> int:
    """Count the equal tokens of two texts from their common safe boundary ``start``; ``shared`` characters agree.

    The windows end at the first safe boundary behind the difference. They grow while one is a prefix of the other:
    a normalizer may make different characters equal.
    """
    skip, reach = boundaries.skip if start else 0, 0
    while True:
        left_end, right_end = boundaries.next(left, shared + reach), boundaries.next(right, shared + reach)
        ours, theirs = encode(left[start + skip : left_end]), encode(right[start + skip : right_end])
        equal = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
        if equal >= 0:
            return equal
        shorter = min(len(ours), len(theirs))
        ended_left, ended_right = left_end >= len(left), right_end >= len(right)
        if (ended_left and len(ours) == shorter) or (ended_right and len(theirs) == shorter):
            return shorter
        reach = max(64, reach * 4)
