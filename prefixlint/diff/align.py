"""Walk two texts that differ here and there: jump over a difference that is explained, and go on comparing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from prefixlint.prefix import lcp

ANCHOR_CHARS = 12  # this many equal characters behind a difference say that the texts are in step again
REACH_CHARS = 4_000
SKETCH_CHARS = 20_000
MOST_WORDS = 1_000
_WORD = re.compile(r"\w+|[^\w\s]|\s+")


@dataclass(frozen=True, slots=True)
class Span:
    """Hold where a difference begins and ends in both texts."""

    start_left: int
    end_left: int
    start_right: int
    end_right: int


def common_suffix(left: str, right: str, low: int) -> int:
    """Return the length of the common end of two texts, not reaching below ``low`` in either."""
    return lcp(left[low:][::-1], right[low:][::-1])


def next_span(left: str, right: str, at_left: int, at_right: int) -> Span | None:
    """Find the next difference behind two positions, and where the texts are in step again.

    >>> next_span("id=7 rest of it here", "id=12 rest of it here", 0, 0)
    Span(start_left=3, end_left=4, start_right=3, end_right=5)
    """
    ours, theirs = left[at_left:], right[at_right:]
    same = lcp(ours, theirs)
    if same == len(ours) == len(theirs):
        return None
    over_left, over_right = _resync(ours[same:], theirs[same:])
    return Span(at_left + same, at_left + same + over_left, at_right + same, at_right + same + over_right)


def _resync(ours: str, theirs: str) -> tuple[int, int]:
    """Return how much of each text to leave out until they are in step again."""
    tail = lcp(ours[::-1], theirs[::-1])
    if tail >= min(len(ours), len(theirs)) or tail * 2 >= max(len(ours), len(theirs)):
        return _on_words(ours, theirs, len(ours) - tail, len(theirs) - tail)
    found = _anchor(ours[:REACH_CHARS], theirs[:REACH_CHARS])
    if found:
        return found
    return _on_words(ours, theirs, len(ours) - tail, len(theirs) - tail)


def _on_words(ours: str, theirs: str, left: int, right: int) -> tuple[int, int]:
    """Move the ends of a difference to the end of a word: 12 and 32 differ in two characters, not in one."""
    if not (ours[:left][-1:].isalnum() or theirs[:right][-1:].isalnum()):
        return left, right
    while left < len(ours) and right < len(theirs) and ours[left].isalnum() and ours[left] == theirs[right]:
        left, right = left + 1, right + 1
    return left, right


def _anchor(ours: str, theirs: str) -> tuple[int, int] | None:
    """Find the nearest words after which both texts have the same ANCHOR_CHARS characters."""
    places: dict[str, int] = {}
    for found in _WORD.finditer(theirs):
        places.setdefault(theirs[found.start() : found.start() + ANCHOR_CHARS], found.start())
    best: tuple[int, int] | None = None
    for found in _WORD.finditer(ours):
        at = found.start()
        if best and at >= sum(best):
            break
        there = places.get(ours[at : at + ANCHOR_CHARS])
        if there is not None and len(ours) - at >= ANCHOR_CHARS and (best is None or at + there < sum(best)):
            best = at, there
    return best


def similarity(left: str, right: str) -> float:
    """Return how much of two texts agrees, 0 to 1: by common beginning and end, else by words.

    >>> similarity("You are in area Kitchen.", "You are in area Bedroom.") > 0.6
    True
    """
    if left == right:
        return 1.0
    longest = max(len(left), len(right))
    head = lcp(left, right)
    tail = common_suffix(left, right, head)
    plain = (head + tail) / longest
    return plain if plain >= 0.8 else max(plain, _by_words(left, right))


def _by_words(left: str, right: str) -> float:
    """Compare words: all of them if they are the same in another order, else those in the same order."""
    ours, theirs = left[:SKETCH_CHARS].split(), right[:SKETCH_CHARS].split()
    if not ours or not theirs:
        return 0.0
    first, second = Counter(ours), Counter(theirs)
    size = sum(map(len, ours)) + sum(map(len, theirs))
    kept = sum(2 * len(w) * n for w, n in (first & second).items()) / size
    if kept < 0.3 or kept >= 0.9 or len(ours) + len(theirs) > MOST_WORDS:
        return kept
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()
