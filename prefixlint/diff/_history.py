"""Name what happened to a conversation: messages dropped, inserted, moved, summarized, or edited in place."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from prefixlint.diff.store import Store
from prefixlint.elements import Element, member, strings
from prefixlint.model import Json

REACH = 64  # so many messages may be new before the two conversations are in step again
SUMMARY = re.compile(
    r"(?i)\bsummar(?:y|ies|ized|ised|izing)\b|\bcompact(?:ed|ion)?\b|continued from a previous|conversation so far"
    r"|\brecap\b|earlier (?:messages|turns|conversation)|previous conversation|zusammenfassung|bisherige[nsr]? gespräch"
    r"|résumé de la"
    r"|resumen de|摘要|总结|總結|要約|요약|ملخص|краткое содержание"
)
REPLACES = re.compile(
    r"(?i)(?:summary|recap|compact\w*|overview|digest) of (?:the|our|this|your|an?) (?:\w+ )?"
    r"(?:conversation|chat|session|history|messages|discussion|dialog(?:ue)?|turns|context)"
    r"|(?:previous|earlier|prior|old(?:er)?) (?:conversation|messages|turns|context)(?: \w+){0,4}"
    r" (?:summar|compact|condens)"
    r"|(?:conversation|session|context|history|chat) (?:summary|recap)\b|<(?:\w+_)?(?:summary|compact\w*)>"
    r"|continued from a previous|(?:has|have) been (?:summari[sz]ed|compacted|condensed)|summary of what (?:was|has|we)"
    r"|zusammenfassung (?:des|der|unseres) (?:bisherigen )?\w*(?:gespräch|unterhaltung|chat|verlauf)"
    r"|résumé de (?:la|notre) conver|resumen de la conver|(?:对话|會話|会話)の?(?:摘要|总结|總結|要約)"
    r"|краткое содержание (?:беседы|разговора|диалога)"
)
TURN_START = re.compile(r"^\s*(?:(?:<\|[^<>\n]{1,40}\|>|<start_of_turn>|\[INST\])\s*\w{0,12}\s*|(?i:user|human|q): *)")
ASKS = re.compile(
    r"(?i)^\W*(?:please |can you |could you |now |your task is to )*"
    r"(?:summari[sz]e|write|create|give|make|provide|produce|compact)\b"
)
THINKING_TYPES = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_content"))
THINKING_KEYS = frozenset(("reasoning", "reasoning_content", "reasoning_details", "thinking", "encrypted_content"))
THINK_TEXT = re.compile(
    r"(?s)<(think|thinking|reasoning|thought)>.*?</\1>\s*|\[THINK\].*?\[/THINK\]\s*|<\|channel\|>analysis.*?<\|end\|>"
)

_ANALYSIS = re.compile(r"<\|start\|>assistant<\|channel\|>analysis")


@dataclass(frozen=True, slots=True)
class Step:
    """Say how a conversation goes on: ``rule`` None means that the pair of elements at the fork was edited in place.

    ``skip_left`` and ``skip_right`` messages are to be left out of each side for the two to be in step again.
    """

    rule: str | None
    skip_left: int = 0
    skip_right: int = 0
    in_step: bool = True


def history_step(store: Store, left: tuple[int, ...], right: tuple[int, ...], from_start: int) -> Step:
    """Compare two conversations from the message at which they part, ``from_start`` messages behind their start."""
    moved = permuted(left, right)
    if moved:
        return Step(
            "message-inserted" if _one_moved(store, left[:moved], right[:moved]) else "list-order",
            moved,
            moved,
        )
    if left[1:2] == right[1:2] and left[1:2] and store.role(left[0]) == store.role(right[0]):
        return Step(None, 1, 1)
    met = _meet(store, left, right)
    if met is None:
        return _unmet(store, left, right)
    gone, new = met
    return Step(_rule(store, left, right, gone, new, from_start), gone, new)


def permuted(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """Return the length of the shortest stretch that both hold in another order, 0 if there is none."""
    balance: Counter[int] = Counter()
    off = 0
    for count, (ours, theirs) in enumerate(zip(left, right, strict=False), 1):
        for item, step in ((ours, 1), (theirs, -1)):
            off -= abs(balance[item])
            balance[item] += step
            off += abs(balance[item])
        if not off:
            return count if count > 1 else 0
    return 0


def _one_moved(store: Store, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Say whether one message travels through a conversation, as a note that is kept at a depth from its end.

    Examples that are shuffled move in pairs, and stand without answers between them or with all of them.
    """
    gone, new = right.index(left[0]), left.index(right[0])
    one = left[0] if left[1 : gone + 1] == right[:gone] else right[0] if right[1 : new + 1] == left[:new] else None
    if one is None:
        return False
    if store.role(one) in ("system", "developer"):
        return True
    return len(left) > 2 and any(store.role(i) in ("assistant", "model") for i in left)


def _meet(store: Store, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, int] | None:
    """Find the least number of messages to leave out on each side until both go on alike."""
    places: dict[int, int] = {}
    for at, item in enumerate(left):
        places.setdefault(item, at)
    best: tuple[int, int] | None = None
    for at, item in enumerate(right[:REACH]):
        there = places.get(item)
        if there is None or (best and at + there >= sum(best)):
            continue
        if _run(left, right, there, at) or store.chars[item] > 40 or there == len(left) - 1:
            best = there, at
    return best


def _run(left: tuple[int, ...], right: tuple[int, ...], at_left: int, at_right: int) -> bool:
    ours, theirs = left[at_left : at_left + 2], right[at_right : at_right + 2]
    return len(ours) == 2 and ours == theirs


def _rule(
    store: Store, left: tuple[int, ...], right: tuple[int, ...], gone: int, new: int, from_start: int
) -> str | None:
    dropped, added = left[:gone], right[:new]
    if added and any(is_summary(store, item) for item in added) and (gone > new or gone > 1):
        return "compaction"
    if gone and all(is_thinking(store.element(item)) for item in dropped) and not new:
        return "thinking-stripped"
    if set(dropped) & set(right[:REACH]) or set(added) & set(left[:REACH]):
        return "message-inserted"
    if not gone:
        return "message-inserted"
    if gone > new and from_start <= 2 and (from_start == 0 or gone - new > 1):
        return "sliding-window"
    if gone == new and _roles(store, dropped) == _roles(store, added):
        return None
    return "history-rewrite"


def _roles(store: Store, items: tuple[int, ...]) -> list[str]:
    return [store.role(item) for item in items]


def _unmet(store: Store, left: tuple[int, ...], right: tuple[int, ...]) -> Step:
    """Name the change of two conversations that have nothing in common behind the fork."""
    shorter = len(right) < len(left)
    if any(is_summary(store, item) for item in right[:3]) and (shorter or len(left) > 2):
        return Step("compaction", len(left), len(right), in_step=False)
    if store.role(left[0]) == store.role(right[0]):
        return Step(None, 1, 1)
    return Step("history-rewrite", len(left), len(right), in_step=False)


def is_summary(store: Store, item: int) -> bool:
    """Say whether a message speaks of a summary of what came before, and does not ask for one."""
    return _speaks(store, item, SUMMARY)


def replaces_history(store: Store, item: int) -> bool:
    """Say whether a message says of itself that it stands for a conversation; one that asks for a summary does not."""
    return _speaks(store, item, REPLACES)


def _speaks(store: Store, item: int, pattern: re.Pattern[str]) -> bool:
    texts = [TURN_START.sub("", p.text[:600]) for p in store.element(item).pieces if p.kind == "text"]
    return any(pattern.search(text) for text in texts) and not any(ASKS.match(text) for text in texts)


def is_thinking(element: Element) -> bool:
    """Say whether a whole element is a thought of the model."""
    kind = member(element.value, "type")
    content = member(element.value, "content")
    if isinstance(content, list) and content:
        return all(map(_is_thought, content))
    if isinstance(element.value, str):  # a stretch of a raw prompt
        return _ANALYSIS.match(element.value) is not None
    return _is_thinking_type(kind)


def without_thinking(value: Json) -> Json:
    """Return a message without the thoughts in it, whether blocks, members or tagged text."""
    if isinstance(value, str):
        return THINK_TEXT.sub("", value) if "think" in value or "<" in value or "[" in value else value
    if isinstance(value, list):
        return [without_thinking(v) for v in value if not _is_thought(v)]
    if isinstance(value, dict):
        kept = {k: without_thinking(v) for k, v in value.items() if k not in THINKING_KEYS or not v}
        return {k: v for k, v in kept.items() if k not in THINKING_KEYS}
    return value


def _is_thought(block: Json) -> bool:
    return isinstance(block, dict) and (_is_thinking_type(block.get("type")) or block.get("thought") is True)


def _is_thinking_type(kind: Json) -> bool:
    return isinstance(kind, str) and kind in THINKING_TYPES


def has_thinking(value: Json) -> bool:
    """Say whether a message holds thoughts."""
    return bool(without_thinking(value) != value)


def joined(value: Json) -> str:
    """Return all text of a content, however it is cut into blocks."""
    return "".join(text for pointer, text in strings(value) if not pointer.endswith("/type"))
