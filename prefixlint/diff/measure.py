"""Count what a fork costs: mask its cause, compare on, and see how far the two prompts would have gone together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence as Items
from dataclasses import dataclass, field

from prefixlint.diff.cause import explain
from prefixlint.diff.clash import Cause, Clash
from prefixlint.diff.fork import Place, common, token_fork
from prefixlint.diff.sequence import ASSISTANT_ROLES, PartIds, Sequence, last_turn
from prefixlint.diff.store import Store
from prefixlint.diff.text_cause import name_text
from prefixlint.elements import Element, Piece, PromptPart
from prefixlint.model import Tokenizer
from prefixlint.prefix import lcp

MOST_STEPS = 24


@dataclass(frozen=True, slots=True)
class Loss:
    """Hold the cost of a fork in tokens of the later prompt, and the causes that would break it next."""

    shared_tokens: int
    lost_tokens: int
    recoverable_tokens: int
    also: tuple[str, ...]


@dataclass(slots=True)
class _Tally:
    """Count on: to ``recovered`` while only the first cause was met, to ``lost`` in any case."""

    rule: str
    recovered: int = 0
    lost: int = 0
    also: list[str] = field(default_factory=list)
    steps: int = 0
    masked: bool = True

    def add(self, tokens: int) -> None:
        self.lost += tokens
        if self.masked:
            self.recovered += tokens

    def meet(self, rule: str) -> None:
        self.steps += 1
        if rule != self.rule:
            self.masked = False
            if rule not in self.also:
                self.also.append(rule)


def flat(sequence: Sequence) -> tuple[list[int], list[int]]:
    """Return the ids of all elements in send order, and for each the number of its part."""
    ids: list[int] = []
    parts: list[int] = []
    for part in (*sequence.front, sequence.talk):
        ids += part.ids
        parts += [sequence.layout.PARTS.index(part.part)] * len(part.ids)
    return ids, parts


def measure(clash: Clash, cause: Cause) -> Loss:
    """Count the tokens shared before a fork, those lost behind it, and those its cause alone has lost."""
    walk = _Walk(clash)
    shared = walk.shared_before() + walk.shared_inside(cause)
    tally = _Tally(cause.rule, also=list(cause.also))
    walk.go_on(cause, tally, shared)
    tokens = clash.after.tokens
    return Loss(shared, min(tally.lost, tokens - shared), min(tally.recovered, tokens - shared), tuple(tally.also))


class _Walk:
    """Walk both prompts behind a fork, element by element."""

    def __init__(self, clash: Clash) -> None:
        self.clash, self.store, self.tokenizer = clash, clash.store, clash.after.tokenizer
        self.left, self.left_parts = flat(clash.before)
        self.right, self.right_parts = flat(clash.after)
        self.at_left, self.at_right = (
            self._start(clash.before, self.left_parts),
            self._start(clash.after, self.right_parts),
        )
        is_open = bool(clash.before.talk.starts) and self.store.role(self.left[-1]) in ASSISTANT_ROLES
        if is_open and self.at_left < len(self.left) - 1:
            del self.left[-1], self.left_parts[-1]  # the open end of a raw prompt, where the answer was written
        roles = [self.store.role(i) for i in clash.after.talk.ids]
        self.fresh = len(self.right) - len(roles) + last_turn(roles)

    def _start(self, sequence: Sequence, parts: list[int]) -> int:
        place = self.clash.place
        if place.part is None:
            return 0
        number = sequence.layout.PARTS.index(place.part)
        first = next((at for at, part in enumerate(parts) if part >= number), len(parts))
        return first + (place.index if place.kind in ("element", "missing") else 0)

    def tokens(self, index: int) -> int:
        return self.store.tokens(index, self.tokenizer)

    def shared_before(self) -> int:
        if self.clash.place.kind == "model":
            return 0
        return sum(self.tokens(i) for i in self.right[: self.at_right])

    def shared_inside(self, cause: Cause) -> int:
        if self.clash.place.kind != "element" or cause.found is None:
            return 0
        left, right = (self.store.element(i) for i in self.clash.place.pair)
        return token_fork(left.pieces, right.pieces, cause.found, self.tokenizer)

    def go_on(self, cause: Cause, tally: _Tally, shared: int) -> None:
        """Leave the cause out and compare the rest."""
        self._skip(cause, tally, self.shared_inside(cause))
        while self.at_left < len(self.left) and self.at_right < len(self.right):
            self._equal(tally)
            if self.at_left >= len(self.left) or self.at_right >= len(self.right):
                break
            if self.at_right >= self.fresh or tally.steps >= MOST_STEPS:
                break
            if not self._step(tally):
                break
        self._rest(tally)

    def _equal(self, tally: _Tally) -> None:
        while True:
            count = common(self.left[self.at_left :], self.right[self.at_right :])
            tally.add(sum(self.tokens(i) for i in self.right[self.at_right : self.at_right + count]))
            self.at_left, self.at_right = self.at_left + count, self.at_right + count
            if not count:
                return

    def _step(self, tally: _Tally) -> bool:
        """Name the next difference and leave it out too; False where the two cannot be brought in step."""
        ours, theirs = self.left_parts[self.at_left], self.right_parts[self.at_right]
        if ours != theirs:
            tally.meet("tool-set-change" if self._part(min(ours, theirs)).part == "tools" else "instructions-edited")
            if ours < theirs:
                self.at_left = self._part_end(self.left_parts, self.at_left)
            else:
                self.at_right = self._part_end(self.right_parts, self.at_right)
            return True
        clash = self._clash(ours)
        cause = explain(clash)
        tally.meet(cause.rule)
        left, right = (self.store.element(i) for i in clash.place.pair)
        inside = token_fork(left.pieces, right.pieces, cause.found, self.tokenizer) if cause.found else 0
        tally.lost += inside
        self._skip(cause, tally, inside)
        return True

    def _part(self, number: int) -> PromptPart:
        return self.clash.after.layout.PARTS[number]

    def _clash(self, number: int) -> Clash:
        """Describe the next difference as a fork of the two rests."""
        part = self._part(number)
        sides = []
        for sequence, ids, parts, at in (
            (self.clash.before, self.left, self.left_parts, self.at_left),
            (self.clash.after, self.right, self.right_parts, self.at_right),
        ):
            whole = next(p for p in (*sequence.front, sequence.talk) if p.part is part)
            behind = tuple(ids[at : self._part_end(parts, at)])
            sides.append(
                (PartIds(part, whole.pointer, whole.shape, whole.ids[: len(whole.ids) - len(behind)] + behind), behind)
            )
        offset = max(len(s[0].ids) - len(s[1]) for s in sides)
        padded = [PartIds(part, s[0].pointer, s[0].shape, (-1,) * offset + s[1]) for s in sides]
        place = Place(part, padded[0], padded[1], offset, "element")
        return Clash(self.store, self.clash.before, self.clash.after, place, self.clash.grown)

    def _part_end(self, parts: Items[int], at: int) -> int:
        end = at
        while end < len(parts) and parts[end] == parts[at]:
            end += 1
        return end

    def _skip(self, cause: Cause, tally: _Tally, inside: int) -> None:
        """Leave the masked stretch out of both sides."""
        mask = cause.mask
        if mask.kind == "rest":
            self.at_left, self.at_right = len(self.left), len(self.right)
        elif mask.kind == "part":
            self._skip_part(tally, equal=mask.equal)
        elif mask.kind == "shift":
            masked = self.right[self.at_right : self.at_right + mask.end_right]
            if mask.equal:
                tally.add(max(0, sum(self.tokens(i) for i in masked) - inside))
            self.at_left, self.at_right = self.at_left + mask.end_left, self.at_right + mask.end_right
        elif self.clash.place.kind != "model" or cause.found is not None:
            self._inside(cause, tally, inside)
            self.at_left, self.at_right = self.at_left + 1, self.at_right + 1

    def _skip_part(self, tally: _Tally, *, equal: bool) -> None:
        number = self.clash.after.layout.PARTS.index(self.clash.place.part)
        ends = [self._behind(parts, number) for parts in (self.left_parts, self.right_parts)]
        if equal:
            tally.add(sum(self.tokens(i) for i in self.right[self.at_right : ends[1]]))
        else:
            same = Counter(self.left[self.at_left : ends[0]]) & Counter(self.right[self.at_right : ends[1]])
            tally.add(sum(self.tokens(i) * n for i, n in same.items()))
        self.at_left, self.at_right = ends

    @staticmethod
    def _behind(parts: list[int], number: int) -> int:
        return next((at for at, part in enumerate(parts) if part > number), len(parts))

    def _inside(self, cause: Cause, tally: _Tally, inside: int) -> None:
        """Go on within the element that holds the fork."""
        left, right = self.store.element(self.left[self.at_left]), self.store.element(self.right[self.at_right])
        if cause.mask.kind == "element" or cause.found is None:
            if cause.mask.equal:
                tally.add(max(0, self.tokens(self.right[self.at_right]) - inside))
            return
        ours, theirs = _behind(left, cause.found.pointer), _behind(right, cause.found.pointer)
        if ours and theirs:
            rest = _Rest(self.clash, self.tokenizer, tally)
            rest.leaf(ours[0], theirs[0], cause)
            rest.pieces(ours[1:], theirs[1:])

    def _rest(self, tally: _Tally) -> None:
        """Count what both still hold when they cannot be brought in step any more."""
        left, right = Counter(self.left[self.at_left :]), Counter(self.right[self.at_right : self.fresh])
        tally.lost += sum(self.tokens(i) * n for i, n in (left & right).items())


def _behind(element: Element, pointer: str) -> tuple[Piece, ...]:
    """Return the pieces of an element from the one at a pointer on."""
    for at, piece in enumerate(element.pieces):
        if piece.pointer == pointer and piece.kind != "json":
            return element.pieces[at:]
    return ()


@dataclass(slots=True)
class _Rest:
    """Compare the rest of one element, string by string."""

    clash: Clash
    tokenizer: Tokenizer
    tally: _Tally

    def leaf(self, left: Piece, right: Piece, cause: Cause) -> None:
        """Go on behind the masked stretch of one string."""
        if left.kind == "image" or right.kind == "image":
            return
        if cause.mask.kind == "leaf":
            if cause.mask.equal:
                offset = cause.found.char_offset if cause.found and cause.found.char_offset else 0
                self.tally.add(self.tokenizer.count(right.text[offset:]))
            return
        self._text(left.text, right.text, cause.mask.end_left, cause.mask.end_right)

    def _text(self, left: str, right: str, end_left: int, end_right: int) -> None:
        """Compare on behind a masked value; the texts before it are taken as equal, so that labels stay in sight."""
        while self.tally.steps < MOST_STEPS:
            masked = right[:end_right] + left[end_left:]
            if masked == right:
                self.tally.add(self.tokenizer.count(right[end_right:]))
                return
            same = lcp(masked, right, min(end_right, len(masked)))
            self.tally.add(self.tokenizer.count(right[end_right:same]))
            named = name_text(self.clash, masked, right, same)
            self.tally.meet(named.rule)
            if named.equal:
                self.tally.add(self.tokenizer.count(right[same:]))
                return
            if (named.end_left, named.end_right) <= (same, same):
                return
            left, end_left, end_right = masked, max(named.end_left, same), max(named.end_right, same)

    def pieces(self, left: Items[Piece], right: Items[Piece]) -> None:
        """Compare the strings behind the one that holds the fork."""
        for ours, theirs in zip(left, right, strict=False):
            if ours.text == theirs.text:
                self.tally.add(self.tokenizer.count(theirs.text))
            elif ours.kind == theirs.kind == "text" and ours.pointer == theirs.pointer:
                self._differing(ours.text, theirs.text)
            else:
                self.tally.meet("content-shape" if self.clash.part == "message" else self.tally.rule)
                return

    def _differing(self, left: str, right: str) -> None:
        same = lcp(left, right)
        self.tally.add(self.tokenizer.count(right[:same]))
        named = name_text(self.clash, left, right, same)
        self.tally.meet(named.rule)
        if named.equal:
            self.tally.add(self.tokenizer.count(right[same:]))
        else:
            self._text(left, right, max(named.end_left, same), max(named.end_right, same))


def store_tokens(store: Store, sequence: Sequence) -> int:
    """Count the tokens of a whole sequence."""
    ids, _ = flat(sequence)
    return sum(store.tokens(i, sequence.tokenizer) for i in ids)
