"""Compare the requests of a log one after the other: what each shares, where it forks, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from prefixlint.diff.cause import explain
from prefixlint.diff.clash import Cause, Clash
from prefixlint.diff.fork import Place, part_at
from prefixlint.diff.measure import Loss, measure
from prefixlint.diff.reach import is_behind_markers
from prefixlint.diff.relation import (
    Bond,
    bond,
    front_similarity,
    is_fetched,
    text_bond,
    text_continues,
    whole_text,
)
from prefixlint.diff.sequence import (
    ASSISTANT_ROLES,
    SYSTEM_ROLES,
    Growing,
    PartIds,
    Sequence,
    SequenceReader,
    last_turn,
)
from prefixlint.diff.sessions import Arrival, Strand, Tracker
from prefixlint.diff.store import Store
from prefixlint.diff.variants import Variants
from prefixlint.elements import Layout
from prefixlint.model import Fork, Request, Tokenizer, Trust
from prefixlint.provenance import place_of

WANTED_KEPT = 100  # forks in a fresh last turn are told for small logs, to show that they were seen
NEAR = 0.8  # fronts of which so much agrees are one front with a value in it
SMALL_LOSS = 4  # tokens behind a fork that are not worth a word when two sessions differ


@dataclass(slots=True)
class Totals:
    """Sum up a log."""

    requests: int = 0
    prompt_tokens: int = 0
    shared_tokens: int = 0
    recoverable_tokens: int = 0
    forks: list[Fork] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    wanted: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """Say what one request did: its sequence, its partner if it forked, and the fork with its place.

    ``previous`` is the last request of its conversation, whether it forked or not.
    """

    sequence: Sequence
    arrival: Arrival
    strand: Strand | None
    before: Sequence | None
    fork: Fork | None
    previous: Sequence | None = None
    place: Place | None = None


class Engine:
    """Take requests in order; ``trust`` gives the fix level of a rule, ``pair`` says that two inputs are compared."""

    def __init__(
        self,
        layout_of: Callable[[Request], Layout],
        tokenizer_of: Callable[[Request], Tokenizer],
        trust: Callable[[str], Trust],
    ) -> None:
        self._layout_of, self._tokenizer_of, self._trust = layout_of, tokenizer_of, trust
        self.store = Store()
        self._reader = SequenceReader(self.store)
        self.tracker = Tracker(self.store, self._reader)
        self.totals = Totals()
        self._variants = Variants()
        self._first: Sequence | None = None
        self._place: Place | None = None
        self._request: Request | None = None
        self.pair_fork: Fork | None = None

    def add(self, request: Request) -> Step:
        """Take the next request."""
        layout, tokenizer = self._layout_of(request), self._tokenizer_of(request)
        self.tracker.name(request.session or "")
        self._request = request
        raw = _talk_bytes(layout, request)
        strand = self.tracker.continued(layout, request, raw) if raw else None
        if strand:
            sequence, growing = self._grown(strand, request, layout, tokenizer, raw)
            step = Step(sequence, self.tracker.append(strand, sequence), strand, None, None, strand.last)
            self.tracker.keep(sequence, strand=strand, growing=growing, request=request)
        else:
            step = self._new(request, layout, tokenizer, raw)
        self._count(step)
        return step

    def _grown(
        self, strand: Strand, request: Request, layout: Layout, tokenizer: Tokenizer, raw: bytes
    ) -> tuple[Sequence, Growing | None]:
        """Read a request that continues a strand: only the elements behind the known ones."""
        last = strand.last
        talk, growing = self._reader.talk(layout, raw, strand.growing)
        known = len(last.talk.ids)
        added = sum(self.store.tokens(i, tokenizer) for i in talk.ids[known:])
        lead = last.lead if last.lead < known else self._lead(talk)
        sequence = replace(
            last, span=request.span, at_s=request.at_s, usage=request.usage, talk=talk, lead=lead,
            tokens=last.tokens + added, tokenizer=tokenizer, session=request.session or "",
        )  # fmt: skip
        return sequence, growing

    def _read(
        self, request: Request, layout: Layout, tokenizer: Tokenizer, raw: bytes
    ) -> tuple[Sequence, Growing | None]:
        front = self._reader.front(layout, request)
        part = layout.PARTS[-1]
        growing = None
        if request.text is not None:
            talk = self._reader.text(layout, part, "", request.text)
        elif raw:
            talk, growing = self._reader.talk(layout, raw, self.tracker.reusable(request, raw))
        else:
            talk = PartIds(part, f"/{part.member}", "list", ())
        ids = [i for p in (*front, talk) for i in p.ids]
        sequence = Sequence(
            request.span, layout, tokenizer, request.model or "", request.scope, request.session or "", request.at_s,
            request.usage, front, talk, self._lead(talk), sum(self.store.tokens(i, tokenizer) for i in ids),
            request.completion or "",
        )  # fmt: skip
        return sequence, growing

    def _lead(self, talk: PartIds) -> int:
        """Count the system messages at the start; a raw prompt of one stretch is all conversation."""
        count = 0
        while count < len(talk.ids) and self.store.role(talk.ids[count]) in SYSTEM_ROLES:
            count += 1
        return 0 if talk.starts and count == len(talk.ids) else count

    def _new(self, request: Request, layout: Layout, tokenizer: Tokenizer, raw: bytes) -> Step:
        """Take a request that continues no strand byte for byte."""
        sequence, growing = self._read(request, layout, tokenizer, raw)
        arrival = self.tracker.arrive(sequence)
        self._place = None
        strand, before, fork = self._judge(sequence, arrival)
        previous = strand.last if strand else None
        if arrival.relation == "same" and strand is not None and strand.last.talk.ids != sequence.talk.ids:
            return Step(sequence, arrival, strand, None, None, strand.last)
        kept = self.tracker.keep(
            sequence,
            strand=strand,
            growing=growing,
            request=request,
            relation=arrival.relation,
            forked=fork is not None,
        )
        self.tracker.settle(kept, sequence)
        return Step(sequence, arrival, kept, before, fork, previous, self._place if fork else None)

    def _judge(self, sequence: Sequence, arrival: Arrival) -> tuple[Strand | None, Sequence | None, Fork | None]:
        """Decide which strand a request belongs to and whether it has forked from it."""
        if arrival.relation in ("same", "append"):
            return arrival.strand, None, None
        if arrival.relation == "branch":
            back = arrival.strand is not None and arrival.strand.forked
            return (arrival.strand if back else None), None, None
        for strand in arrival.candidates:
            found = self._retold(strand, sequence) or self._continuation(strand, sequence)
            if found:
                return found
        for strand in self.tracker.relatives(sequence):
            fork = self._template(strand.last, sequence)
            if fork:
                return None, strand.last, fork
        return None, None, None

    def _continuation(self, strand: Strand, sequence: Sequence) -> tuple[Strand, Sequence | None, Fork | None] | None:
        """Say how a request continues a strand, None if it does not."""
        before = strand.last
        place = part_at(before, sequence)
        if place is None:
            return strand, None, None
        grade = bond(self.store, before, sequence, place)
        if grade is Bond.NONE:
            return None
        if self._is_free(before, sequence, place):
            return strand, None, None
        clash = Clash(self.store, before, sequence, place, grown=grade is Bond.CERTAIN)
        cause = explain(clash)
        if grade is Bond.LIKELY and not cause.sure:
            return None
        return strand, before, self._fork(clash, cause, measure(clash, cause))

    def _retold(self, strand: Strand, sequence: Sequence) -> tuple[Strand, Sequence | None, Fork | None] | None:
        """Say how a raw prompt continues a strand together with the text that was generated for it."""
        if sequence.layout.PARTS[-1].items != "text" or strand.last.layout is not sequence.layout:
            return None
        before = self._with_completion(strand.last)
        place = part_at(before, sequence)
        if place is None or text_continues(self.store, before, sequence):
            return strand, None, None
        roles = [self.store.role(i) for i in sequence.talk.ids]
        if roles[-1] in ASSISTANT_ROLES and place.index >= last_turn(roles) > 0:
            return None  # fresh input, however alike
        clash = Clash(self.store, before, sequence, place, grown=True)
        cause = explain(clash)
        loss = measure(clash, cause)
        grade = text_bond(self.store, strand.last, before, sequence, place, loss)
        if grade is Bond.NONE or (grade is Bond.LIKELY and not cause.sure):
            return None
        return strand, before, self._fork(clash, cause, loss)

    def _with_completion(self, sequence: Sequence) -> Sequence:
        """Return a raw prompt as the server holds it: followed by what was generated."""
        if not sequence.completion:
            return sequence
        part, pointer = sequence.layout.PARTS[-1], sequence.talk.pointer
        text = whole_text(self.store, sequence) + sequence.completion
        return replace(sequence, talk=self._reader.text(sequence.layout, part, pointer, text), completion="")

    def _template(self, before: Sequence, sequence: Sequence) -> Fork | None:
        """Report a front that is another session's but for a value or a form: nobody can share what follows it."""
        place = part_at(before, sequence)
        if place is None or (_is_talk(place, before, sequence) and not _is_whole(place)):
            return None
        if self._is_free(before, sequence, place):
            return None
        fetched = is_fetched(self.store, place)
        if not fetched and front_similarity(self.store, before, sequence) < 0.5:
            return None
        clash = Clash(self.store, before, sequence, place, grown=False)
        cause = explain(clash)
        loss = measure(clash, cause)
        if fetched and clash.part == "system" and cause.rule == "retrieved-context":
            return self._fork(clash, cause, loss)
        if not self._is_template(sequence, cause, loss):
            return None
        fork = self._fork(clash, cause, loss)
        if cause.sure:
            return fork
        return self._variants.add(fork, cause)

    def _is_template(self, sequence: Sequence, cause: Cause, loss: Loss) -> bool:
        """Say whether most of the front behind the fork is the same text in both."""
        lead = sequence.lead or (1 if sequence.talk.starts else 0)
        front = [i for p in sequence.front for i in p.ids] + list(sequence.talk.ids[:lead])
        total = sum(self.store.tokens(i, sequence.tokenizer) for i in front)
        behind = total - loss.shared_tokens
        gained = loss.recoverable_tokens if cause.sure else loss.lost_tokens
        return gained > SMALL_LOSS and gained >= 0.5 * behind

    def _fork(self, clash: Clash, cause: Cause, loss: Loss, *, wanted: bool = False) -> Fork:
        self._place = clash.place
        cause = self._traced(cause)
        return Fork(
            before=clash.before.span,
            after=clash.after.span,
            pointer=cause.pointer,
            char_offset=cause.char_offset,
            kind=cause.kind,
            token=loss.shared_tokens,
            cause=cause.rule,
            wanted=wanted,
            fix=self._trust(cause.rule),
            left=cause.left,
            right=cause.right,
            shared_tokens=loss.shared_tokens,
            lost_tokens=loss.lost_tokens,
            recoverable_tokens=loss.recoverable_tokens,
            also=loss.also,
            session=clash.after.session,
            context=cause.context,
        )

    def _traced(self, cause: Cause) -> Cause:
        """Lead the place of a fork in the text of a chat template back to the body; what it added stands nowhere."""
        places = self._request.places if self._request else ()
        if not places or cause.char_offset is None or cause.pointer:
            return cause
        pointer, offset = place_of(places, cause.char_offset)
        if not pointer and cause.char_offset:  # a string may be longer on the other side
            pointer, offset = place_of(places, cause.char_offset - 1)
            offset = None if offset is None else offset + 1
        if pointer:
            return replace(cause, pointer=pointer, char_offset=offset)
        is_own = not cause.sure or cause.rule in ("date", "timestamp")
        return replace(cause, rule="template-injected", also=(cause.rule,)) if is_own else cause

    def _is_free(self, before: Sequence, after: Sequence, place: Place) -> bool:
        """Say whether nothing behind a fork is cached anyway; a marker on the whole body moves with its end."""
        whole = self._request is not None and "cache_control" in self._request.members
        return not whole and is_behind_markers(before, after, place)

    def _count(self, step: Step) -> None:
        totals, sequence = self.totals, step.sequence
        totals.requests += 1
        totals.prompt_tokens += sequence.tokens
        shared = step.arrival.shared_tokens
        if step.fork:
            shared = max(shared, step.fork.shared_tokens)
            totals.recoverable_tokens += max(0, step.fork.shared_tokens + step.fork.recoverable_tokens - shared)
            totals.forks.append(step.fork)
            totals.models.append(sequence.model)
        totals.shared_tokens += shared
        if totals.requests == 1:
            self._first = sequence
        elif totals.requests == 2 and self._first is not None:
            apart = self._first.span.path != sequence.span.path
            compare = self._pair if apart else self._near
            self.pair_fork = step.fork or compare(self._first, sequence)

    def _pair(self, before: Sequence, after: Sequence) -> Fork | None:
        """Compare two requests whatever they have in common, for a log that holds no more."""
        if before.layout is not after.layout:
            return None
        place = part_at(before, after)
        if place is None or text_continues(self.store, before, after):
            return None
        clash = Clash(self.store, before, after, place, grown=True)
        cause = explain(clash)
        wanted = _is_talk(place, before, after) and self._is_fresh(place, before, after)
        wanted = wanted or self._is_free(before, after, place)
        return self._fork(clash, cause, measure(clash, cause), wanted=wanted)

    def _near(self, before: Sequence, after: Sequence) -> Fork | None:
        """Tell a value in the front of a log of two requests even where nothing behind it could be shared."""
        place = part_at(before, after) if before.layout is after.layout else None
        if place is None or place.kind != "element" or _is_talk(place, before, after):
            return None
        if self._is_free(before, after, place) or front_similarity(self.store, before, after) < NEAR:
            return None
        clash = Clash(self.store, before, after, place, grown=False)
        cause = explain(clash)
        return self._fork(clash, cause, measure(clash, cause)) if cause.sure else None

    def _is_fresh(self, place: Place, before: Sequence, after: Sequence) -> bool:
        if after.talk.starts and (not place.index or _is_instruction(self.store, place)):
            return False
        if place.index < last_turn([self.store.role(i) for i in after.talk.ids]):
            return False
        return bond(self.store, before, after, place) is Bond.NONE


def _is_talk(place: Place, before: Sequence, after: Sequence) -> bool:
    return place.part is after.layout.PARTS[-1] and place.index >= max(before.lead, after.lead)


def _is_instruction(store: Store, place: Place) -> bool:
    return place.kind == "element" and store.role(place.pair[1]) in SYSTEM_ROLES


def _is_whole(place: Place) -> bool:
    """Say whether a fork lies in the first stretch of a raw prompt, which may be all of it."""
    return place.index == 0 and place.after is not None and bool(place.after.starts)


def _talk_bytes(layout: Layout, request: Request) -> bytes:
    raw = request.members.get(layout.PARTS[-1].member, b"")
    return b"" if raw == b"null" else raw
