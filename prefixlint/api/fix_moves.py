"""Work on what a log proves to change: spell it as it was spelled first, and with ``--unsafe`` move, pin or reorder it.

The forks that ``diff`` finds drive it: each round takes the unwanted forks that are there, works on their places in
all requests, and looks again. What was taken out of a system prompt is told at the end of the turn it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from prefixlint.api import fix_notes
from prefixlint.api.fix_notes import SPELLINGS
from prefixlint.canon import marks, move
from prefixlint.canon.agree import INSTRUCTIONS, TALK, TOOLS, digest, without_marks
from prefixlint.canon.body import is_developer
from prefixlint.canon.place import Ledger
from prefixlint.canon.raw import RawLedger, with_completion
from prefixlint.canon.slots import adopted, news, parents, permuted, shares_up_to, without_empty
from prefixlint.canon.values import at, replaced, with_value
from prefixlint.canon.verify import equal
from prefixlint.json_spans import split_pointer
from prefixlint.model import Finding, FixNote, Fork, Json, Request

if TYPE_CHECKING:
    from prefixlint.api.fix_logs import Draft

ROUNDS = 16
_ID_KEYS = frozenset(("id", "tool_call_id", "tool_use_id", "toolUseId", "call_id", "callId", "message_id"))
_IDS = frozenset(("tool-call-id", "uuid", "random-id", "counter"))


@dataclass(slots=True)
class Texts:
    """Hold which bodies have, or had, which text at one pointer; ``seen`` counts the changes that were taken in."""

    by_text: dict[str, set[int]] = field(default_factory=dict)
    seen: int = 0


@dataclass(slots=True)
class Mover:
    """Work on the drafts of one log; ``values`` holds, for each draft, what was taken out of which slot."""

    drafts: list[Draft]
    requests_of: Callable[[Draft, Json], Request]
    unsafe: bool = False
    all_roles: bool = False
    left: tuple[Fork, ...] = ()
    forks: tuple[Fork, ...] = ()
    findings: tuple[Finding, ...] = ()
    bodies: list[Json] = field(default_factory=list)
    values: list[dict[str, str]] = field(default_factory=list)
    shown: list[dict[str, str]] = field(default_factory=list)
    notes: list[FixNote] = field(default_factory=list)
    tried: set[tuple[str, ...]] = field(default_factory=set)
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    touched: list[int] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)
    index: dict[str, Texts] = field(default_factory=dict)

    def run(self) -> list[Json]:
        """Return the new bodies."""
        self.bodies = [d.new for d in self.drafts]
        self.touched = list(range(len(self.bodies)))
        self.values = [{} for _ in self.drafts]
        self.shown = [{} for _ in self.drafts]
        for i, draft in enumerate(self.drafts):
            self.places.setdefault((draft.request.span.path, draft.request.span.record), i)
        for _ in range(ROUNDS):
            self.left = tuple(self._forks())
            changed = [self._handle(fork) for fork in self.left]
            if not any(changed) and not self._move_marks():
                break
        return self._placed()

    def _forks(self) -> Iterator[Fork]:
        """Yield the unwanted forks of the bodies as they are now, one for each system text and cause."""
        from prefixlint.api.diff import diff

        result = diff(self.requests_of(d, b) for d, b in zip(self.drafts, self.bodies, strict=True))
        self.findings = result.findings
        self.forks = result.forks
        seen: set[tuple[str, ...]] = set()
        for fork in result.forks:
            # One edit of a system prompt reaches all requests; a turn of the history is another text in each of them.
            tokens = split_pointer(fork.pointer)
            is_turn = len(tokens) > 2 and tokens[0] in TALK and tokens[1] != "0"
            key = (fork.pointer, fork.cause, f"{fork.after.path} {fork.after.record}" if is_turn else "")
            if not fork.wanted and key not in seen:
                seen.add(key)
                yield fork

    def _move_marks(self) -> bool:
        """Move markers that cover changing text in front of it, and drop those beyond what the API takes."""
        changed = False
        for finding in self.findings:
            places = ((f.after.path, f.after.record, f.pointer) for f in self.forks)
            span = finding.span
            if finding.rule == "breakpoint-misplaced":
                pointer = next((p for path, record, p in places if (path, record) == (span.path, span.record)), "")
                changed |= self._each(finding, partial(marks.moved, marker=finding.pointer, changing=pointer))
            elif finding.rule == "too-many-breakpoints" and self.unsafe:
                changed |= self._each(finding, self._most_useful)
            elif finding.rule == "ttl-order" and self.unsafe:
                changed |= self._each(finding, marks.ordered)
        return changed

    def _each(self, finding: Finding, change: Callable[[Json], Json]) -> bool:
        self.changed.clear()
        for i, body in enumerate(self.bodies):
            self._set(i, change(body))
        return self._remember(finding.rule, finding.pointer.rpartition("/")[0])

    def _set(self, i: int, body: Json) -> None:
        """Replace one body, and remember that it changed."""
        if body is not self.bodies[i]:
            self.bodies[i] = body
            self.touched.append(i)
            self.changed.add(i)

    def _remember(self, cause: str, pointer: str) -> bool:
        """Note which bodies a cause changed; return whether any did."""
        for i in self.changed:
            self.drafts[i].causes[pointer] = cause
        return bool(self.changed)

    def _where(self, pointer: str, text: str, start: int) -> list[int]:
        """Return the bodies from ``start`` on that have a text at a pointer, without a look at all of them."""
        texts = self.index.setdefault(pointer, Texts())
        for i in set(self.touched[texts.seen :]):
            own = at(self.bodies[i], pointer)
            if isinstance(own, str):
                texts.by_text.setdefault(own, set()).add(i)
        texts.seen = len(self.touched)
        return sorted(i for i in texts.by_text.get(text, ()) if i >= start and at(self.bodies[i], pointer) == text)

    def _most_useful(self, body: Json) -> Json:
        """Keep the four markers that most requests can read: of those that equally many share, the last ones."""
        blocks = marks.pointers(body)
        readers = {b: sum(shares_up_to(body, other, b) for other in self.bodies) for b in blocks}
        ranked = sorted(range(len(blocks)), key=lambda n: (-readers[blocks[n]], -n))
        for n in sorted(ranked[marks.MOST :], reverse=True):
            body = marks.without(body, blocks[n])
        return body

    def _handle(self, fork: Fork) -> bool:
        """Do what the cause of a fork asks for; return whether any body changed."""
        before, after = self._index(fork, before=True), self._index(fork, before=False)
        if before is None or after is None:
            return False
        key = (fork.pointer, fork.cause, str(after), fork.left, fork.right)
        if key in self.tried:
            return False
        self.tried.add(key)
        action = self._action(fork, before, after)
        if action is None:
            return False
        self.changed.clear()
        action(fork, before, after)
        return self._remember(fork.cause, self._pointer(fork))

    def _action(self, fork: Fork, before: int, after: int) -> Callable[[Fork, int, int], bool] | None:
        token = split_pointer(fork.pointer)[-1:]
        if fork.cause in SPELLINGS or "tool-order" in fork.also:
            return self._adopt if self.all_roles or self._is_developer(fork.pointer, after) else None
        if not self.unsafe:
            return None
        if fork.cause in _IDS and token and token[0] in _ID_KEYS and not self._is_developer(fork.pointer, after):
            return self._pin_id
        if fork.cause == "list-order":
            return self._reorder
        if fork.cause == "role-change" and fork.kind == "missing":
            return self._take_block
        if fork.cause not in move.MOVABLE or fork.kind != "string":
            return None
        if self._is_developer(fork.pointer, after) or self.drafts[after].request.provider == "raw":
            return self._take_text
        return self._freeze

    def _index(self, fork: Fork, *, before: bool) -> int | None:
        span = fork.before if before else fork.after
        return self.places.get((span.path, span.record))

    def _is_developer(self, pointer: str, index: int) -> bool:
        tokens = split_pointer(pointer)
        if tokens[:1] and tokens[0] in (*INSTRUCTIONS, *TOOLS, "toolConfig"):
            return True
        if len(tokens) > 1 and tokens[0] in TALK:
            return is_developer(at(self.bodies[index], f"/{tokens[0]}/{tokens[1]}"))
        return False

    def _pointer(self, fork: Fork) -> str:
        return fork.pointer or "/prompt"

    def _note(self, fork: Fork, message: str) -> bool:
        self.notes.append(FixNote(fork.after.path, message, fork.cause, fork.after.record, fork.pointer))
        return False

    def _adopt(self, fork: Fork, before: int, after: int) -> bool:
        """Spell the place of a fork as the earlier request does, there and in all later requests."""
        pointer = self._pointer(fork)
        if fork.cause == "trailing-whitespace" and self.drafts[before].request.completion:
            return self.unsafe and self._restore(fork, before, after)
        if "tool-order" in fork.also:
            pointer = pointer[: pointer.rindex("/tools") + 6] if "/tools" in pointer else pointer
        first = at(self.bodies[before], pointer)
        changed = False
        known: dict[str, Json] = {}
        for i in self._sharing(pointer, after):
            own = at(self.bodies[i], pointer)
            new = known.get(own) if type(own) is str else None
            if new is None:
                new = adopted(first, own, fork)
                known.update({own: new} if type(own) is str else {})
            if not equal(new, own):
                self._set(i, with_value(self.bodies[i], pointer, new))
                changed = True
        return changed

    def _sharing(self, pointer: str, after: int) -> list[int] | range:
        """Return the bodies that a change at a pointer is about: in a turn of the history, those with the same text."""
        tokens, own = split_pointer(pointer), at(self.bodies[after], pointer)
        is_turn = len(tokens) > 2 and tokens[0] in TALK and tokens[1] != "0"
        if is_turn and isinstance(own, str):
            return self._where(pointer, own, after)
        return range(after, len(self.bodies))

    def _take_text(self, fork: Fork, before: int, after: int) -> bool:
        """Take the unit that changes out of every variant of the text."""
        pointer, offset = self._pointer(fork), fork.char_offset or 0
        first, second = (at(self.bodies[i], pointer) for i in (before, after))
        if not isinstance(first, str) or not isinstance(second, str):
            return False
        if move.is_security_mark(second, offset):
            return self._note(fork, "this looks like a mark against prompt injection, which has to change")
        if move.is_header(second, offset):
            return self._pin_line(pointer, first, offset)
        raw = self.drafts[after].request.provider == "raw"
        texts = {i: text for i, body in enumerate(self.bodies) if isinstance(text := at(body, pointer), str)}
        alike = {t for t in dict.fromkeys(texts.values()) if t in (first, second) or move.similar(t, second)}
        variants = {i: text for i, text in texts.items() if text in alike}
        gap = move.gap_at(variants.values(), second, offset) or move.gap_at(variants.values(), first, offset)
        if gap is None:
            return False
        slot = f"{pointer} {len(self.tried)}"
        known = {text: move.take_out(text, gap) for text in dict.fromkeys(variants.values())}
        for i, text in variants.items():
            kept, taken = known[text]
            self.values[i][slot] = taken
            body = self.bodies[i]
            without = {**body, "prompt": kept} if raw else without_empty(with_value(body, pointer, kept), pointer)
            self._set(i, without)
        return True

    def _pin_line(self, pointer: str, first: str, offset: int) -> bool:
        """Give a header line its first value in every variant."""
        start = first.rfind("\n", 0, offset) + 1
        line = first[start:].split("\n")[0]
        changed = False
        for i, body in enumerate(self.bodies):
            text = at(body, pointer)
            if not isinstance(text, str) or text[:start] != first[:start]:
                continue
            own = text[start:].split("\n")[0]
            if own != line and move.is_header(text, start) and own.split(":")[0] == line.split(":")[0]:
                self._set(i, with_value(body, pointer, text[:start] + line + text[start + len(own) :]))
                changed = True
        return changed

    def _freeze(self, fork: Fork, before: int, after: int) -> bool:
        """Keep a turn of the history as it was first sent, and tell the new value at the end."""
        pointer = fork.pointer
        first, second = (at(self.bodies[i], pointer) for i in (before, after))
        tokens = split_pointer(pointer)
        if not isinstance(first, str) or not isinstance(second, str) or tokens[0] not in TALK:
            return False
        if move.is_security_mark(second, fork.char_offset or 0):
            return self._note(fork, "this looks like a mark against prompt injection, which has to change")
        following = f"/{tokens[0]}/{int(tokens[1]) + 1}"
        reply = at(self.bodies[after], following)
        if reply is None:
            return False
        slot = f"{pointer} {len(self.tried)}"
        fresh = news(first, second)
        gone = news(second, first)
        for i in self._where(pointer, second, after):
            if at(self.bodies[i], following) == reply:
                self._set(i, with_value(self.bodies[i], pointer, first))
                self.values[i][slot] = fresh
                self.shown[i][slot] = gone
        return True

    def _take_block(self, fork: Fork, before: int, after: int) -> bool:
        """Take blocks that turned up behind the system prompt in mid session back into the turn they belong to."""
        parent, _, index = fork.pointer.rpartition("/")
        extra = at(self.bodies[after], parent)
        if not isinstance(extra, list) or not index.isdigit():
            return False
        blocks = extra[int(index) :]
        texts = [b.get("text") for b in blocks if isinstance(b, dict)]
        if len(texts) != len(blocks) or not all(isinstance(t, str) for t in texts):
            return False
        slot = f"{fork.pointer} {len(self.tried)}"
        for i in range(after, len(self.bodies)):
            own = at(self.bodies[i], parent)
            if isinstance(own, list) and own[: len(extra)] == extra:
                self._set(i, with_value(self.bodies[i], parent, [*own[: int(index)], *own[len(extra) :]]))
                self.values[i][slot] = "\n".join(map(str, texts))
        return True

    def _reorder(self, fork: Fork, before: int, after: int) -> bool:
        """Put lines, blocks or messages into the order in which they were first sent."""
        pointer = self._pointer(fork)
        first = at(self.bodies[before], pointer)
        if isinstance(first, str) and isinstance(at(self.bodies[after], pointer), str):
            changed = False
            for i, body in enumerate(self.bodies):
                text = at(body, pointer)
                new = move.with_list_order(first, text) if isinstance(text, str) else text
                if new != text:
                    self._set(i, with_value(body, pointer, new))
                    changed = True
            if changed:
                return True
        return self._reorder_list(pointer, before)

    def _reorder_list(self, pointer: str, before: int) -> bool:
        """Put the elements around a pointer into their first order, in every body that has the same ones."""
        for parent in parents(pointer):
            first = at(self.bodies[before], parent)
            if not isinstance(first, list):
                continue
            keys = [digest(without_marks(e)) for e in first]
            changed = False
            for i, body in enumerate(self.bodies):
                own = at(body, parent)
                new = permuted(keys, own) if isinstance(own, list) else None
                if new is not None:
                    self._set(i, with_value(body, parent, new))
                    changed = True
            if changed:
                return True
        return False

    def _pin_id(self, fork: Fork, before: int, after: int) -> bool:
        """Give a call the id that it had first, in the call and in its result."""
        first, second = (at(self.bodies[i], fork.pointer) for i in (before, after))
        if not isinstance(first, str) or not isinstance(second, str):
            return False
        changed = False
        for i in self._where(fork.pointer, second, after):
            self._set(i, replaced(self.bodies[i], second, first))
            changed = True
        return changed

    def _restore(self, fork: Fork, before: int, after: int) -> bool:
        """Send generated text back as it was generated, with the blanks at its end."""
        changed = False
        for j in range(len(self.bodies)):
            for i in range(j):
                completion = self.drafts[i].request.completion
                prompt, later = (at(self.bodies[k], "/prompt") for k in (i, j))
                if completion and isinstance(prompt, str) and isinstance(later, str):
                    new = with_completion(prompt, completion, later)
                    if new != later:
                        self._set(j, {**self.bodies[j], "prompt": new})
                        changed = True
        return changed

    def _placed(self) -> list[Json]:
        """Tell each request what was taken out of it, unless its conversation was told already."""
        ledger, raw = Ledger(), RawLedger()
        cause = next((c for d in self.drafts for c in d.causes.values()), "")
        found = []
        for draft, body, values, shown in zip(self.drafts, self.bodies, self.values, self.shown, strict=True):
            if isinstance(body.get("prompt"), str):
                text = raw.place(body["prompt"], values)
                found.append(body if text == body["prompt"] else {**body, "prompt": text})
            else:
                found.append(ledger.place(body, values, shown, draft.request.session or ""))
            if found[-1] is not body:
                draft.causes.setdefault("", cause)
            if found[-1] is body and any(values.values()) and not _has_turns(body):
                self.notes.append(FixNote(draft.path, "there is no user turn to move text to", "", 0, ""))
                found[-1] = draft.new
        return found


def _has_turns(body: Json) -> bool:
    return any(body.get(k) for k in (*TALK, "prompt"))


def apply(
    drafts: list[Draft], requests_of: Callable[[Draft, Json], Request], *, unsafe: bool, all_roles: bool
) -> tuple[list[Json], list[FixNote]]:
    """Return the bodies after all edits that the options allow, and notes about what was left alone and why."""
    mover = Mover(drafts, requests_of, unsafe, all_roles)
    bodies = mover.run()
    noted = {(n.rule, n.pointer) for n in mover.notes}
    left = (f for f in mover.left if (f.cause, f.pointer) not in noted)
    return bodies, [
        *mover.notes,
        *(fix_notes.of_fork(f, unsafe=unsafe, all_roles=all_roles) for f in left),
        *map(fix_notes.of_finding, mover.findings),
    ]
