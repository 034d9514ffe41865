"""Find what no fork shows: misplaced markers, keys that split caches, prefixes that were there and not read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prefixlint.diff.engine import Step
from prefixlint.diff.sequence import ASSISTANT_ROLES, PartIds, Sequence
from prefixlint.diff.store import Store
from prefixlint.elements import member
from prefixlint.facts import Facts, provider_facts
from prefixlint.model import Confidence, Finding, Fix, Request, Severity, Span, Trust

ROUTING = (
    "prompt_cache_key", "cache_salt", "user", "lora", "lora_name", "lora_path", "lora_request", "adapter", "adapter_id",
    "id_slot", "slot_id", "cache_key",
)  # fmt: skip
BY_DESIGN = frozenset(("user", "cache_salt"))  # tenants are kept apart on purpose: only a change within one counts
MOST_STRANDS = 20_000
MOST_PLACES = 2_000
BURST_S, BURST = 5.0, 3  # so many requests so close together all pay for the same prefix
LEAST_SHARED = 1_024


@dataclass(frozen=True, slots=True)
class Marker:
    """Hold a cache marker: the element it stands on in send order, its pointer, its TTL, and the text up to it."""

    element: int
    block: str
    ttl: str
    part: PartIds
    index: int

    @property
    def pointer(self) -> str:
        """Return the pointer of the marker itself."""
        return f"{self.block}/cache_control"


@dataclass(slots=True)
class _Marked:
    """Remember the longest marked prefix of one front, and where it was first seen."""

    tokens: int
    span: Span
    pointer: str
    minimum: int
    model: str


class Watch:
    """Look at every request after it was compared; ``findings`` tells each problem once, with its first place."""

    def __init__(self, store: Store, trust: Callable[[str], Trust]) -> None:
        self._store, self._trust = store, trust
        self._found: OrderedDict[tuple[str, str], Finding] = OrderedDict()
        self._keys: OrderedDict[int, tuple[dict[str, bytes], Sequence]] = OrderedDict()
        self._marked: OrderedDict[int, _Marked] = OrderedDict()
        self._key_uses: OrderedDict[int, tuple[dict[bytes, int], Span, int]] = OrderedDict()
        self._repeats: dict[tuple[int, str], tuple[dict[bytes, int], Sequence, Span]] = {}
        self._known: dict[tuple[str, str], Facts | None] = {}
        self._burst: list[tuple[float, Sequence]] = []

    def look(self, request: Request, step: Step) -> None:
        """Take one request."""
        known = self._facts(step.sequence.model, request.provider)
        found = list(markers(step.sequence))
        if found and known:
            self._markers(step, found, known)
        self._routing(request, step)
        self._usage(step, known, marked=bool(found))
        if self._store.duplicates:
            self._duplicates(step.sequence)

    def _facts(self, model: str, provider: str) -> Facts | None:
        if (model, provider) not in self._known:
            self._known[model, provider] = provider_facts(model, provider)
        return self._known[model, provider]

    def findings(self) -> tuple[Finding, ...]:
        """Return what was found, in the order of the log."""
        for marked in self._marked.values():
            if marked.tokens < marked.minimum:
                self._below(marked)
        for (_, key), (uses, before, span) in self._repeats.items():
            if max(uses.values()) == 1:
                self._split(key, before, span)
        for uses, span, tokens in self._key_uses.values():
            if len(uses) >= BURST and max(uses.values()) == 1 and tokens >= LEAST_SHARED:
                text = f"each of {len(uses)} requests has its own cache key: their {tokens} shared tokens are not read"
                self._add("routing-key", span, "/prompt_cache_key", text, "warning", "medium")
        return tuple(sorted(self._found.values(), key=lambda f: (f.span.path, f.span.record, f.pointer)))

    def _add(
        self,
        rule: str,
        span: Span,
        pointer: str,
        message: str,
        severity: Severity,
        confidence: Confidence = "high",
        related: tuple[Span, ...] = (),
    ) -> None:
        if (rule, pointer) in self._found or len(self._found) >= MOST_PLACES:
            return
        fix = Fix(message, self._trust(rule))
        self._found[rule, pointer] = Finding(rule, severity, confidence, message, span, pointer, None, related, fix=fix)

    def _markers(self, step: Step, found: list[Marker], known: Facts) -> None:
        span = step.sequence.span
        if known.max_breakpoints and len(found) > known.max_breakpoints:
            text = f"{len(found)} cache markers, {known.max_breakpoints} are allowed: the request is refused"
            self._add("too-many-breakpoints", span, found[known.max_breakpoints].pointer, text, "error")
        short = next((m for m in found if m.ttl != "1h"), None)
        late = next(
            (m for m in found if short and m.ttl == "1h" and m.element >= short.element and m is not short), None
        )
        if short and late:
            text = f"a marker of 1h behind one of {short.ttl}: longer ones must come first"
            self._add("ttl-order", span, late.pointer, text, "error")
        self._minimum(step.sequence, found[-1], known)
        self._misplaced(step, found)
        self._lookback(step, found, known)

    def _minimum(self, sequence: Sequence, last: Marker, known: Facts) -> None:
        """Remember the longest marked prefix of each front: it may grow over the minimum."""
        least = int(known.min_tokens.low)
        tokens = self._tokens_up_to(sequence, last.element)
        key = hash((sequence.model, sequence.head))
        held = self._marked.get(key)
        if held is None:
            if len(self._marked) < MOST_PLACES:
                self._marked[key] = _Marked(tokens, sequence.span, last.pointer, least, sequence.model)
        elif tokens > held.tokens:
            held.tokens = tokens

    def _tokens_up_to(self, sequence: Sequence, element: int) -> int:
        ids = [i for p in (*sequence.front, sequence.talk) for i in p.ids][: element + 1]
        return sum(self._store.tokens(i, sequence.tokenizer) for i in ids)

    def _below(self, marked: _Marked) -> None:
        text = (
            f"the marked prefix has {marked.tokens} tokens, {marked.model} caches nothing below {marked.minimum}: "
            "the marker does nothing"
        )
        self._add("below-minimum", marked.span, marked.pointer, text, "info")

    def _misplaced(self, step: Step, found: list[Marker]) -> None:
        """Name a marker on or behind a block that changed, if stable blocks before it have none."""
        place = step.place
        if step.fork is None or place is None or place.after is None or place.kind != "element":
            return
        at = _element_at(step.sequence, place.after, place.index)
        is_front = place.part is not step.sequence.layout.PARTS[-1] or place.index < step.sequence.lead
        if not is_front or at == 0 or any(m.element < at for m in found):
            return
        first = next((m for m in found if m.element >= at), None)
        stable = self._tokens_up_to(step.sequence, at - 1)
        if first is None or not stable:
            return
        text = (
            f"the first marker covers text that changes ({step.fork.cause} at {step.fork.pointer}), so the {stable} "
            "stable tokens before it are never read; mark the block before it"
        )
        self._add("breakpoint-misplaced", step.sequence.span, first.pointer, text, "warning")

    def _lookback(self, step: Step, found: list[Marker], known: Facts) -> None:
        """Name a turn that added more blocks than the server looks back over."""
        reach = int(known.lookback.value)
        before = step.previous
        if before is None or not reach or step.fork is not None:
            return
        old = [m for m in markers(before) if m.part is before.talk]
        new = [m for m in found if m.part is step.sequence.talk]
        if not old or not new:
            return
        held = self._blocks(before, old[-1])
        gaps = [self._blocks(step.sequence, m) - held for m in new]
        if min(abs(gap) for gap in gaps) >= reach and max(gaps) >= reach:
            text = (
                f"{max(gaps)} blocks since the last marker, but only {reach} are looked back over: the conversation is "
                "written again; put a marker in between"
            )
            self._add("lookback-exceeded", step.sequence.span, new[-1].pointer, text, "warning")

    def _blocks(self, sequence: Sequence, marker: Marker) -> int:
        """Count the content blocks of the conversation up to a marker."""
        count = 0
        for index, item in enumerate(sequence.talk.ids[: marker.index + 1]):
            content = member(self._store.element(item).value, "content")
            blocks = len(content) if isinstance(content, list) and content else 1
            inner = marker.block.removeprefix(sequence.talk.place(index)).split("/")
            is_last = index == marker.index and len(inner) > 2 and inner[2].isdigit()
            count += int(inner[2]) + 1 if is_last else blocks
        return count

    def _routing(self, request: Request, step: Step) -> None:
        """Compare the keys that choose a cache with those of the request before in the same conversation."""
        keys = {k: request.members[k] for k in ROUTING if k in request.members}
        self._spread(keys, step)
        if step.strand is None or not (keys or self._keys):
            return
        held = self._keys.get(step.strand.number)
        repeated = step.previous is not None and step.previous.talk.ids == step.sequence.talk.ids
        if (repeated or step.arrival.relation == "same") and held is not None:
            self._repeat(keys, held, step)
            return
        self._keys[step.strand.number] = (keys, step.sequence)
        self._keys.move_to_end(step.strand.number)
        if len(self._keys) > MOST_STRANDS:
            self._keys.popitem(last=False)
        if held is None or step.fork is not None:
            return
        for key in held[0].keys() & keys.keys():
            if held[0][key] != keys[key] and (key not in BY_DESIGN or self._is_one_talk(held[1], step.sequence)):
                self._split(key, held[1], step.sequence.span)

    def _repeat(self, keys: dict[str, bytes], held: tuple[dict[str, bytes], Sequence], step: Step) -> None:
        """Count the keys of requests that repeat one: a key for each of them is a fault, one per session is not."""
        assert step.strand is not None
        for key in held[0].keys() & keys.keys():
            if key in BY_DESIGN and not self._is_one_talk(held[1], step.sequence):
                continue
            first = {held[0][key]: 1}
            uses = self._repeats.setdefault((step.strand.number, key), (first, held[1], step.sequence.span))[0]
            uses[keys[key]] = uses.get(keys[key], 0) + 1

    def _is_one_talk(self, before: Sequence, after: Sequence) -> bool:
        if before.session and before.session == after.session:
            return True
        return any(self._store.role(i) in ASSISTANT_ROLES for i in after.conversation[: len(before.conversation) + 1])

    def _split(self, key: str, before: Sequence, after: Span) -> None:
        text = f"{key} changes although the prompt does not: its {before.tokens} known tokens are looked up elsewhere"
        place, other = (after, before.span) if after.path == before.span.path else (before.span, after)
        self._add("routing-key", place, f"/{key}", text, "warning", related=(other,))

    def _spread(self, keys: dict[str, bytes], step: Step) -> None:
        """Count how often each cache key is used with one shared front."""
        value = keys.get("prompt_cache_key")
        head = step.sequence.head
        if value is None or not any(head):
            return
        key = hash((step.sequence.model, head))
        if key not in self._key_uses:
            tokens = sum(self._store.tokens(i, step.sequence.tokenizer) for ids in head for i in ids)
            self._key_uses[key] = ({}, step.sequence.span, tokens)
            if len(self._key_uses) > MOST_PLACES:
                self._key_uses.popitem(last=False)
        uses = self._key_uses[key][0]
        if len(uses) < MOST_STRANDS:
            uses[value] = uses.get(value, 0) + 1

    def _usage(self, step: Step, known: Facts | None, *, marked: bool) -> None:
        """Compare what could be read with what the log says was read."""
        sequence, usage = step.sequence, step.sequence.usage
        if known is None or usage is None or usage.cache_read is None or step.fork is not None:
            return
        least = max(LEAST_SHARED, int(known.min_tokens.high))
        before = step.previous
        if step.arrival.shared_tokens < least or usage.cache_read * 10 > step.arrival.shared_tokens:
            return
        if known.cache == "breakpoint" and known.max_breakpoints and not marked and known.provider == "anthropic":
            return
        if before is None:
            self._fan_out(step)
        elif before.at_s is not None and sequence.at_s is not None:
            self._unread(before, sequence, step.arrival.shared_tokens, known)

    def _unread(self, before: Sequence, after: Sequence, shared: int, known: Facts) -> None:
        assert before.at_s is not None and after.at_s is not None and after.usage is not None
        gap_s = after.at_s - before.at_s
        longest = max([known.ttl_s.value, *(3_600.0 for m in markers(before) if m.ttl == "1h")])
        if gap_s > longest:
            minutes = f"{gap_s / 60:.0f} minutes after the request before, past the {longest / 60:.0f}"
            text = f"{minutes} for which its {shared} tokens are kept"
            self._add("ttl-expired", after.span, "", text, "info", "medium")
        elif gap_s > 1 and before.usage is not None and (before.usage.cache_read or before.usage.cache_write):
            text = (
                f"{shared} tokens are the same as {gap_s:.0f} s before, yet {after.usage.cache_read} were read from "
                "cache: look at routing, eviction and settings outside of the prompt"
            )
            self._add("intact-but-not-read", after.span, "", text, "info", "medium")

    def _fan_out(self, step: Step) -> None:
        at_s = step.sequence.at_s
        if at_s is None:
            return
        self._burst = [b for b in self._burst if at_s - b[0] <= BURST_S] + [(at_s, step.sequence)]
        if len(self._burst) >= BURST:
            text = (
                f"{len(self._burst)} requests within {BURST_S:.0f} s share {step.arrival.shared_tokens} tokens, "
                "none read from cache; send one first, then the others"
            )
            self._add("fan-out-before-warm", self._burst[0][1].span, "", text, "info", "medium")

    def _duplicates(self, sequence: Sequence) -> None:
        """Name keys that stand twice in one object of an element that is new in this request."""
        fresh, self._store.duplicates = self._store.duplicates, {}
        for part in (*sequence.front, sequence.talk):
            for index, item in enumerate(part.ids):
                if item in fresh:
                    keys = ", ".join(map(repr, fresh[item][:3]))
                    text = f"{keys} stands twice in one object; which one counts is chance"
                    self._add("duplicate-key", sequence.span, part.place(index), text, "warning")


def markers(sequence: Sequence) -> Iterator[Marker]:
    """Yield the cache markers of a request in send order."""
    element = 0
    for part in (*sequence.front, sequence.talk):
        for index, pointer, ttl in part.marks:
            yield Marker(element + index, part.place(index) + pointer, ttl, part, index)
        element += len(part.ids)


def _element_at(sequence: Sequence, part: PartIds, index: int) -> int:
    before = 0
    for known in (*sequence.front, sequence.talk):
        if known.part is part.part:
            break
        before += len(known.ids)
    return before + index
