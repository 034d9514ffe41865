"""Judge whether two requests that part are one conversation, one template, or two things that differ by design."""

from __future__ import annotations

import re
from enum import IntEnum

from prefixlint.diff._history import is_summary, replaces_history, without_thinking
from prefixlint.diff._values import fetched_cause
from prefixlint.diff.align import similarity
from prefixlint.diff.cause import tool_name
from prefixlint.diff.clash import ID_KEYS
from prefixlint.diff.fork import Place, common, difference
from prefixlint.diff.measure import Loss
from prefixlint.diff.sequence import ASSISTANT_ROLES, Sequence, last_turn
from prefixlint.diff.store import Store
from prefixlint.elements import Element, member
from prefixlint.model import Json
from prefixlint.prefix import lcp

SKETCH_CHARS = 20_000
_MARKUP = re.compile(r"<\|[^<>|\n]{1,40}\|>(?:(?:system|user|assistant|tool)\n)?|</?s>|\[/?INST\]")  # of turns
REPEATED_TOKENS = 16  # less than this stands behind a fork by chance
COMPACTED = 6  # a conversation of so many messages may have been summarized
FRAME_CHARS = 20  # so much of a prompt stands before the text that is fetched into it
TOLD = 3  # one of so many messages has been, if the new one says that it replaces a conversation


class Bond(IntEnum):
    """Grade the evidence: ``NONE``; ``LIKELY``: only a cause that is recognised counts; ``CERTAIN``: any cause does."""

    NONE = 0
    LIKELY = 1
    CERTAIN = 2


def bond(store: Store, before: Sequence, after: Sequence, place: Place) -> Bond:
    """Grade how sure it is that ``after`` continues the conversation of ``before``."""
    in_talk = place.part is after.layout.PARTS[-1]
    if in_talk and place.index >= max(before.lead, after.lead):
        return _same_history(store, before, after)
    return _same_talk(store, before, after, place)


def _same_talk(store: Store, before: Sequence, after: Sequence, place: Place) -> Bond:
    """Judge two requests whose fronts differ by what their conversations have in common."""
    ours, theirs = settled(store, before), settled(store, after)
    shared = common(ours, theirs)
    answered = any(store.role(i) in ASSISTANT_ROLES for i in theirs[:shared])
    alike = front_similarity(store, before, after)
    if shared and shared in (len(ours), len(theirs)):
        if answered:
            return Bond.CERTAIN if alike >= 0.3 else Bond.NONE
        if len(theirs) > len(ours) and store.role(theirs[shared]) in ASSISTANT_ROLES:
            return Bond.CERTAIN if alike >= 0.5 else Bond.NONE
        if _tools_only(before, after, place) and ours == theirs and _tools_alike(store, place) >= 0.5:
            return Bond.CERTAIN
        return Bond.LIKELY if alike >= 0.5 and place.kind != "model" else Bond.NONE
    turn = last_turn([store.role(i) for i in theirs])
    held = set(ours)
    kept = [i for i in theirs[:turn] if i in held]
    if _weight(store, kept) * 2 >= _weight(store, theirs[:turn]) > 0 and _answers(store, kept):
        return Bond.CERTAIN if alike >= 0.3 else Bond.NONE
    return Bond.NONE


def _tools_only(before: Sequence, after: Sequence, place: Place) -> bool:
    """Say whether nothing but the tools differs, neither the system prompt nor a setting."""
    ours, theirs = ([p.ids for p in s.front if p.part is not place.part] for s in (before, after))
    is_tools = place.part is not None and place.part.part == "tools" and place.before and place.after
    return bool(is_tools) and ours == theirs and before.talk.ids[: before.lead] == after.talk.ids[: after.lead]


def _tools_alike(store: Store, place: Place) -> float:
    """Return which share of the names of tools both requests have."""
    assert place.before is not None and place.after is not None
    ours, theirs = (
        [n for i in p.ids for n in _tool_names(store.element(i).value)] for p in (place.before, place.after)
    )
    return 2 * len(set(ours) & set(theirs)) / max(1, len(ours) + len(theirs))


def _tool_names(value: Json) -> list[str]:
    """Return the names of a tool, or of those in a group of declarations."""
    for key in ("functionDeclarations", "function_declarations"):
        group = member(value, key)
        if isinstance(group, list):
            return [tool_name(v) for v in group]
    return [tool_name(value)]


def settled(store: Store, sequence: Sequence) -> tuple[int, ...]:
    """Return the conversation; of a raw prompt without its open end, where the answer is to be written."""
    talk = sequence.conversation
    is_open = bool(sequence.talk.starts) and len(talk) > 1 and store.role(talk[-1]) in ASSISTANT_ROLES
    return talk[:-1] if is_open else talk


def _answers(store: Store, items: list[int]) -> bool:
    return any(store.role(i) in ASSISTANT_ROLES for i in items)


def _weight(store: Store, items: tuple[int, ...] | list[int]) -> int:
    return sum(store.chars[i] + 4 for i in items)


def _same_history(store: Store, before: Sequence, after: Sequence) -> Bond:
    """Judge two requests with one front whose conversations part before the last turn."""
    ours, theirs = settled(store, before), settled(store, after)
    shared = common(ours, theirs)
    turn = last_turn([store.role(i) for i in theirs])
    told = any(replaces_history(store, i) for i in theirs[shared : shared + 2])
    if told and len(ours) - shared >= TOLD and len(theirs) < len(ours):
        return Bond.CERTAIN
    if shared >= turn:
        return Bond.CERTAIN if _answered_again(store, ours, theirs, shared) else Bond.NONE
    if _comes_back(store, ours[shared:], theirs[shared:], turn - shared, begun=shared > 0):
        return Bond.CERTAIN
    if _in_place(store, ours[shared:], theirs[shared:], begun=shared > 0):
        return Bond.CERTAIN
    pairs = zip(ours[shared:], theirs[shared:], strict=False)
    if shared < len(ours) < len(theirs) and all(a == b or _edited(store, a, b) for a, b in pairs):
        return Bond.CERTAIN
    summarized = any(is_summary(store, i) for i in theirs[shared : shared + 2])
    if len(ours) >= COMPACTED and len(theirs) < len(ours) and summarized:
        return Bond.CERTAIN
    return Bond.NONE


def _comes_back(store: Store, left: tuple[int, ...], right: tuple[int, ...], turn: int, *, begun: bool) -> bool:
    """Say whether much of a conversation stands behind the fork again, and not by chance.

    Records of whole conversations repeat short answers; but the next request of one always ends with something new.
    The same questions with other answers are two runs of one script.
    """
    held = set(left)
    kept = [i for i in right if i in held]
    if not kept or _weight(store, tuple(kept)) < 0.3 * _weight(store, right[:turn]):
        return False
    if len(kept) == 1 and store.chars[kept[0]] <= 40:
        return False
    if left and _both_answer(store, left[0], right[0]) and not _answers(store, kept):
        return False
    return begun or right[-1] not in held or _likeness(store, left[0], right[0]) >= 0.5


def _both_answer(store: Store, left: int, right: int) -> bool:
    return store.role(left) in ASSISTANT_ROLES and store.role(right) in ASSISTANT_ROLES


def _in_place(store: Store, left: tuple[int, ...], right: tuple[int, ...], *, begun: bool) -> bool:
    """Say whether one message changed and those behind it did not."""
    following = common(left[1:], right[1:])
    if not following:
        return False
    if store.role(left[0]) != store.role(right[0]):
        return _likeness(store, left[0], right[0]) >= 0.8
    if following > 1 and (begun or following < len(right) - 1):
        return True
    return _likeness(store, left[0], right[0]) >= 0.5


def _answered_again(store: Store, left: tuple[int, ...], right: tuple[int, ...], at: int) -> bool:
    """Say whether a message that was sent before is another one now, although the conversation went on behind it."""
    if not (at < len(left) < len(right) and at < len(right) - 1) or store.role(left[at]) != store.role(right[at]):
        return False
    return _same_call(store, left[at], right[at]) or _likeness(store, left[at], right[at]) >= 0.8


def _edited(store: Store, left: int, right: int) -> bool:
    """Say whether one message is another version of the other: the answer to the same call, or much the same text."""
    if store.role(left) != store.role(right):
        return False
    return _same_call(store, left, right) or _likeness(store, left, right) >= 0.5


def _same_call(store: Store, left: int, right: int) -> bool:
    first, second = store.element(left).value, store.element(right).value
    return bool(_call_ids(first) & _call_ids(second))


def _likeness(store: Store, left: int, right: int) -> float:
    """Return how much of two messages agrees; thoughts and the data of images do not count."""
    first, second = store.element(left), store.element(right)
    if without_thinking(first.value) == without_thinking(second.value):
        return 1.0
    return similarity(_words(first), _words(second))


def _words(element: Element) -> str:
    pieces = (p.text if p.kind != "image" else "<image>" for p in element.pieces if p.kind != "role")
    return _MARKUP.sub("", "\n".join(pieces)[:SKETCH_CHARS])


def _call_ids(value: Json) -> set[str]:
    """Collect the ids of the calls that a message makes or answers."""
    lists = (member(value, "content"), member(value, "tool_calls"))
    holders = [value, *(block for blocks in lists if isinstance(blocks, list) for block in blocks)]
    found = (member(holder, key) for holder in holders for key in ID_KEYS)
    return {i for i in found if isinstance(i, str)}


def front_similarity(store: Store, before: Sequence, after: Sequence) -> float:
    """Return how much of two fronts agrees, 0 to 1, weighted by text; two empty ones agree."""
    ours, theirs = _front_ids(before), _front_ids(after)
    shared = set(ours) & set(theirs)
    same = 2 * sum(store.chars[i] + 4 for i in shared)
    left, right = [i for i in ours if i not in shared], [i for i in theirs if i not in shared]
    rest = _weight(store, left) + _weight(store, right)
    if not rest:
        return 1.0
    texts = [_text(store, ids) for ids in (left, right)]
    agree = rest * similarity(*texts) if texts[0] and texts[1] else 0.0
    return (same + agree) / (same + rest)


def is_fetched(store: Store, place: Place) -> bool:
    """Say whether two texts with one frame part where text was fetched for the request."""
    if place.kind != "element":
        return False
    left, right = (store.element(i).value for i in place.pair)
    found = difference(left, right)
    if found is None or found.kind != "string" or (found.char_offset or 0) < FRAME_CHARS:
        return False
    return fetched_cause(str(found.left), str(found.right), found.char_offset or 0) is not None


def _front_ids(sequence: Sequence) -> list[int]:
    parts = [p for p in sequence.front if p.part.part != "setting"]
    lead = 1 if sequence.talk.starts and not sequence.lead else sequence.lead
    return [i for part in parts for i in part.ids] + list(sequence.talk.ids[:lead])


def _text(store: Store, ids: list[int]) -> str:
    found, size = [], 0
    for item in ids:
        for piece in store.element(item).pieces:
            found.append(piece.text)
            size += len(piece.text)
        if size > SKETCH_CHARS:
            break
    return "\n".join(found)[:SKETCH_CHARS]


def whole_text(store: Store, sequence: Sequence) -> str:
    """Return a raw prompt in one piece."""
    return "".join(piece.text for i in sequence.talk.ids for piece in store.element(i).pieces)


def text_continues(store: Store, before: Sequence, after: Sequence) -> bool:
    """Say whether a raw prompt begins with all of another one: the last stretch of a prompt is open and grows."""
    ours, theirs = before.talk.ids, after.talk.ids
    if not after.talk.starts or not ours or common(ours, theirs) != len(ours) - 1:
        return False
    left, right = store.element(ours[-1]), store.element(theirs[len(ours) - 1])
    return str(right.value).startswith(str(left.value))


def text_bond(store: Store, prompt: Sequence, before: Sequence, after: Sequence, place: Place, loss: Loss) -> Bond:
    """Grade how sure it is that a raw prompt continues another one, ``before`` being that one with its completion.

    It does if it repeats the prompt and differs within the completion, or if most of what follows the fork comes back.
    """
    left, right = whole_text(store, before), whole_text(store, after)
    asked = sum(store.chars[i] for i in prompt.talk.ids)
    same = lcp(left, right)
    if same >= asked and asked < len(left):
        return Bond.LIKELY
    is_other = place.kind == "element" and _is_other_turn(store, before, *place.pair)
    if is_other and _both_answer(store, *place.pair):
        return Bond.NONE  # another answer to the same question
    behind = before.tokens - loss.shared_tokens
    if same >= 0.3 * len(left) and loss.lost_tokens >= 0.5 * behind > 0 and len(right) > 0.7 * len(left):
        grown = len(right) > len(left) and loss.lost_tokens >= REPEATED_TOKENS
        return Bond.CERTAIN if same >= 0.5 * len(left) and grown and not is_other else Bond.LIKELY
    return Bond.NONE


def _is_other_turn(store: Store, before: Sequence, left: int, right: int) -> bool:
    """Say whether a raw prompt with turns has quite another one here, said by the same."""
    is_turn = len(before.talk.ids) > 2 and store.role(left) == store.role(right)
    return is_turn and _likeness(store, left, right) < 0.5
