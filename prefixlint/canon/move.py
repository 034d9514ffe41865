"""Find the unit of text (a line, or a sentence of it) that changes from request to request, and take it out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Causes whose text may move behind the stable part: the value changes, the instructions around it do not.
MOVABLE = frozenset(
    (
        *("timestamp", "date", "epoch", "relative-time-phrase", "uuid", "random-id", "counter", "commit-hash"),
        *("temp-path", "user-or-host", "git-status", "cwd-or-env", "retrieved-context"),
    )
)
SHORT_CHARS = 400  # such texts may be one unit each, and are compared by characters
SIMILAR = 0.5  # share of characters in common units from which two texts are variants of one
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[\"'(\[*_A-Z\d])")
# Marks against prompt injection work because they are new in each request: they must never be pinned or moved.
_SECURITY = re.compile(
    r"nonce|spotlight|canary|delimiter|boundary (?:marker|token|tag)|untrusted|injection|"
    r"(?:do not|don't|never|must not) (?:follow|obey|execute|trust)|"
    r"(?:data|text|content|everything) (?:between|inside|within) (?:the )?(?:mark|tag|delimit|random)",
    re.IGNORECASE,
)
_ITEM_START = re.compile(r"[:\[({,;|] ?|\n")
_ITEM_END = re.compile(r"[,;|\])}\n]|\.(?=\s|\Z)|\Z")
# A header for a proxy or a vendor; the model does not read it, so it may keep its first value.
_HEADER = re.compile(r"\s*x-[\w-]+\s*[:=]", re.IGNORECASE)
_OPEN_TAG = re.compile(r"\s*<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>\s*\Z")
_MEMBER = re.compile(r"\s*\"[^\"\n]+\"\s*:")
_CLOSE_TAG = re.compile(r"\s*</([A-Za-z][\w.-]*)\s*>\s*\Z")


@dataclass(frozen=True, slots=True)
class Gap:
    """Locate what changes between two stable units of several texts; ``unit`` counts inside the gap, -1 takes all."""

    skeleton: tuple[str, ...]
    index: int
    unit: int


def units(text: str) -> list[str]:
    """Split a text into sentences and lines that join to the same text again.

    >>> units("A b. C d.\\nE\\n")
    ['A b. ', 'C d.\\n', 'E\\n']
    """
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        at = 0
        for match in _SENTENCE.finditer(line):
            found.append(line[at : match.end()])
            at = match.end()
        if at < len(line):
            found.append(line[at:])
    return found


def similar(left: str, right: str) -> bool:
    """Return whether two texts share most of their units, and so are variants of one text."""
    if max(len(left), len(right)) <= SHORT_CHARS:
        return difflib.SequenceMatcher(None, left, right, autojunk=False).ratio() > SIMILAR
    shared = sum(len(u) for u in common(units(left), units(right)))
    return shared >= SIMILAR * min(len(left), len(right)) and shared > 0


def common(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Return the longest run of units, in order, that both texts have."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return [u for block in matcher.get_matching_blocks() for u in left[block.a : block.a + block.size]]


def gap_at(texts: Iterable[str], text: str, char_offset: int) -> Gap | None:
    """Find what changes at a character of ``text`` over all variants of it; None where that is stable in all."""
    every = list(dict.fromkeys(texts))
    skeleton = units(text)
    for other in every:
        skeleton = common(skeleton, units(other))
    own = aligned(units(text), skeleton)
    at = _unit_at(units(text), char_offset)
    for index, places in enumerate(own):
        if at in places or (not places and _ends_before(own, index, at)):
            sizes = {len(aligned(units(other), skeleton)[index]) for other in every}
            unit = places.index(at) if len(sizes) == 1 and at in places else -1
            return Gap(tuple(skeleton), index, unit)
    return None


def _unit_at(found: list[str], char_offset: int) -> int:
    end = 0
    for i, unit in enumerate(found):
        end += len(unit)
        if char_offset < end:
            return i
    return len(found)


def _ends_before(own: list[list[int]], index: int, at: int) -> bool:
    """Return whether an empty gap lies right in front of a unit: there another variant has a unit more."""
    before = sum(len(places) for places in own[:index]) + index
    return before == at


def aligned(found: Sequence[str], skeleton: Sequence[str]) -> list[list[int]]:
    """Return, for each gap of a skeleton (before, between, behind its units), the places of the units in it."""
    matcher = difflib.SequenceMatcher(None, found, skeleton, autojunk=False)
    of_skeleton: dict[int, int] = {}
    for block in matcher.get_matching_blocks():
        for k in range(block.size):
            of_skeleton[block.b + k] = block.a + k
    gaps: list[list[int]] = []
    start = 0
    for i in range(len(skeleton)):
        end = of_skeleton.get(i, start)
        gaps.append(list(range(start, end)))
        start = max(start, end + (i in of_skeleton))
    return [*gaps, list(range(start, len(found)))]


def take_out(text: str, gap: Gap) -> tuple[str, str]:
    """Return the text without what changes, and what was taken out.

    >>> take_out("A. It is 5. B.\\nC", gap_at(["A. It is 6. B.\\nC"], "A. It is 5. B.\\nC", 9))
    ('A. B.\\nC', 'It is 5.')
    """
    found = units(text)
    places = aligned(found, gap.skeleton)[gap.index]
    if gap.unit >= 0:
        places = places[gap.unit : gap.unit + 1]
    taken = "".join(found[i] for i in places)
    return _kept(found, places, text), _named(found, places, taken)


def take_units(text: str, offsets: Iterable[int]) -> tuple[str, list[str]]:
    """Return the text without the units at some characters, and these units with the element that they stood in.

    >>> take_units("Be kind. Time: 9:14. Be short.", [15])
    ('Be kind. Be short.', ['Time: 9:14.'])
    """
    found = units(text)
    places = sorted({_unit_at(found, offset) for offset in offsets} & set(range(len(found))))
    return _kept(found, places, text), [_named(found, [i], found[i]) for i in places]


def _kept(found: list[str], places: list[int], text: str) -> str:
    kept = ""
    for i, unit in enumerate(found):
        if i not in places:
            kept += unit
            continue
        if unit.endswith("\n") and kept and not kept.endswith("\n"):
            kept = kept.rstrip(" \t") + "\n"
        if _is_last_member(found, i) and kept.rstrip().endswith(","):
            bare = kept.rstrip()
            kept = bare[:-1] + kept[len(bare) :]
    if places and places[-1] == len(found) - 1 and not text.endswith("\n"):
        kept = kept.rstrip(" \t")
    return kept


def _is_last_member(found: list[str], index: int) -> bool:
    """Return whether a line is the last member of a JSON object, so that the comma before it goes with it."""
    following = found[index + 1].strip() if index + 1 < len(found) else ""
    return _MEMBER.match(found[index]) is not None and following[:1] in ("}", "]") and following != ""


def to_the_end(text: str, offsets: Iterable[int]) -> str:
    """Move the units at some characters behind the rest of a text, where they stay in order.

    >>> to_the_end("It is {now}. Be kind.\\nBe short.\\n", [6])
    'Be kind.\\nBe short.\\nIt is {now}.\\n'
    """
    found = units(text)
    places = sorted({_unit_at(found, offset) for offset in offsets} & set(range(len(found))))
    if not places or places == list(range(len(found) - len(places), len(found))):
        return text
    kept, taken = take_units(text, offsets)
    end = "\n" if text.endswith("\n") else ""
    return "\n".join([kept.rstrip("\n"), *taken]) + end


def _named(found: list[str], places: list[int], taken: str) -> str:
    """Keep the element that lines stood in: a file name says little without ``<files>`` around it."""
    lines = [line.strip() for line in taken.strip("\n").split("\n")]
    lines = [line.rstrip(",") if _MEMBER.match(line) else line for line in lines]
    body = "\n".join(lines).strip()
    tag = _enclosing(found[: places[0]]) if places else ""
    return f"<{tag}>\n{body}\n</{tag}>" if tag and body else body


def _enclosing(before: Sequence[str]) -> str:
    open_tags: list[str] = []
    for unit in before:
        if match := _OPEN_TAG.match(unit):
            open_tags.append(match[1])
        elif (match := _CLOSE_TAG.match(unit)) and match[1] in open_tags:
            del open_tags[len(open_tags) - 1 - open_tags[::-1].index(match[1]) :]
    return open_tags[-1] if open_tags else ""


def is_security_mark(text: str, char_offset: int) -> bool:
    """Return whether the place belongs to a mark against prompt injection, which must change."""
    found = units(text)
    at = _unit_at(found, char_offset)
    return _SECURITY.search("".join(found[max(0, at - 2) : at + 3])) is not None


def is_header(text: str, char_offset: int) -> bool:
    """Return whether the place lies in a header line such as ``x-vendor-billing: ...``, which no model needs."""
    start = text.rfind("\n", 0, char_offset) + 1
    return _HEADER.match(text, start) is not None


def reordered(before: Sequence[str], after: Sequence[str]) -> list[str] | None:
    """Return ``after`` in the order of ``before`` with new items behind, or None where the two share no order.

    >>> reordered(["a", "b", "c"], ["c", "x", "a", "b"])
    ['a', 'b', 'c', 'x']
    """
    left = list(after)
    ordered = []
    for item in before:
        if item in left:
            left.remove(item)
            ordered.append(item)
    return ordered + left if len(ordered) >= 2 else None


def with_list_order(first: str, text: str) -> str:
    """Put the lines of a text, or the items of a list in a line, in the order in which another text has them.

    >>> with_list_order("Use: a, b, c.", "Use: c, a, b.")
    'Use: a, b, c.'
    """
    ours, theirs = first.split("\n"), text.split("\n")
    head, tail = _ends(ours, theirs)
    middle, model = theirs[head : len(theirs) - tail], ours[head : len(ours) - tail]
    wanted = reordered(model, middle)
    if wanted is None or not set(middle) & set(model):
        return _with_item_order(first, text)
    return "\n".join([*theirs[:head], *wanted, *theirs[len(theirs) - tail :]])


def _ends(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """Return how many items two sequences have in common at their beginnings and at their ends."""
    least = min(len(ours), len(theirs))
    head = 0
    while head < least and ours[head] == theirs[head]:
        head += 1
    tail = 0
    while tail < least - head and ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    return head, tail


def _with_item_order(first: str, text: str) -> str:
    """Take over the first order of items that commas or semicolons part, where the two lists hold the same ones."""
    head, tail = _ends(first, text)
    start = max((m.end() for m in _ITEM_START.finditer(text, 0, head)), default=0)
    end = _ITEM_END.search(text, len(text) - tail)
    stop = end.start() if end else len(text)
    ours, theirs = first[start : len(first) - (len(text) - stop)], text[start:stop]
    for mark in (", ", "; ", " | ", ","):
        if sorted(ours.split(mark)) == sorted(theirs.split(mark)) and mark in ours:
            return text[:start] + ours + text[stop:]
    return text
